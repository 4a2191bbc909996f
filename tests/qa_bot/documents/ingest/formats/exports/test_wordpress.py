"""Exports of WordPress."""

import pytest

from qa_bot.documents.ingest.formats.exports.wordpress import as_html

NAMESPACES = (
    'xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/" xmlns:content="http://purl.org/rss/1.0/modules/content/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:wp="http://wordpress.org/export/1.2/"'
)


def item(title, content, *, number=7, kind="post", status="publish"):
    return (
        f"<item><title><![CDATA[{title}]]></title><link>https://club.example/{number}/</link>"
        "<excerpt:encoded><![CDATA[Read more]]></excerpt:encoded>"
        f"<content:encoded><![CDATA[{content}]]></content:encoded>"
        f"<wp:post_id>{number}</wp:post_id><wp:post_date>2025-03-04 10:00:00</wp:post_date>"
        "<wp:post_modified>0000-00-00 00:00:00</wp:post_modified>"
        f"<wp:status>{status}</wp:status><wp:post_type>{kind}</wp:post_type>"
        '<category domain="category" nicename="pool"><![CDATA[Pool]]></category>'
        "<wp:comment><wp:comment_content>Nice!</wp:comment_content></wp:comment></item>\n"
    )


def export(*items):
    return (
        f'<?xml version="1.0" encoding="UTF-8" ?>\n<!-- by WordPress -->\n<rss version="2.0" {NAMESPACES}>\n'
        f"<channel><title>Club</title><wp:wxr_version>1.2</wp:wxr_version>\n{''.join(items)}</channel></rss>"
    )


def test_posts_and_pages(reads, tmp_path):
    post = item("Opening &amp; prices", "The pool opens at 9.\nBring a towel.\n\n<h2>Prices</h2>\n\nAdults pay 5 €.")
    page = item("Board", "<!-- wp:list --><ul><li>Ann</li><li>Bo</li></ul><!-- /wp:list -->", number=8, kind="page")
    (first, second), rejects, _ = reads("club.xml", export(post, page))
    assert rejects == []
    assert (first.id, first.title) == ("club.xml#7", "Opening & prices")
    assert first.text.split("\n\n")[-2:] == ["## Prices", "Adults pay 5 €."]
    assert "The pool opens at 9." in first.text
    assert "Read more" not in first.text
    assert "Nice!" not in first.text
    assert (first.url, first.date[:10], first.tags) == ("https://club.example/7/", "2025-03-04", ("Pool",))
    assert (first.draft, first.markdown, first.where) == (False, True, f"{tmp_path}/club.xml:5")
    assert (second.title, second.text) == ("Board", "- Ann\n- Bo")


def test_drafts_are_marked_and_what_is_no_text_is_left_out(reads):
    (draft,), rejects, _ = reads(
        "club.xml",
        export(
            item("Plan", "We plan a sauna.", status="draft"),
            item("Old", "Gone.", status="trash"),
            item("logo.png", "A logo.", kind="attachment", status="inherit"),
            item("Menu", "Home", kind="nav_menu_item"),
            item("Empty", ""),
        ),
    )
    assert rejects == []
    assert (draft.title, draft.draft) == ("Plan", True)


def test_posts_before_an_error_are_kept(reads):
    (record,), (reject,), _ = reads("club.xml", export(item("A", "a"))[:-16] + "<item></wrong>")
    assert record.title == "A"
    assert "are kept" in reject.reason


def test_another_feed_is_still_rejected(reads):
    records, (reject,), _ = reads(
        "feed.xml", '<rss version="2.0"><channel><item><title>A</title></item></channel></rss>'
    )
    assert records == []
    assert "feed of a website" in reject.reason


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("One.\n\nTwo\nlines.", "<p>One.</p>\n<p>Two<br>lines.</p>"),
        ('[caption id="a" width="3"]<img src="a.png" /> A boat[/caption]', '<p><img src="a.png" /> A boat</p>'),
        ('See [gallery ids="1,2"] and [1] or [x](y).', "<p>See  and [1] or [x](y).</p>"),
        ('[code lang="js"]\nlet a = b[0];\n[/code]', "<pre><code>let a = b[0];</code></pre>"),
        ("<!-- wp:paragraph --><p>a</p><!-- /wp:paragraph -->", "<!-- wp:paragraph --><p>a</p><!-- /wp:paragraph -->"),
        (
            '[accordion][accordion-item title="When?"]On Mondays.[/accordion-item][/accordion]',
            "<p><b>When?</b></p>\n<p>On Mondays.</p>",
        ),
        ("[toggle title='When?']On [hl]Mondays[/hl].[/toggle]", "<p><b>When?</b></p>\n<p>On Mondays.</p>"),
        ("[vc_row][vc_text]a\n[/vc_text][vc_text]b[/vc_text][/vc_row]", "<p>a</p>\n<p>b</p>"),
        ("[sic] and [row 3]", "<p>[sic] and [row 3]</p>"),
    ],
)
def test_content_as_it_is_shown(content, expected):
    assert as_html(content) == expected


def test_hostile_shortcodes_take_no_time():
    text = '[row a="b"' + ' a="b"' * 1000 + "!"
    assert as_html(text) == f"<p>{text}</p>"
    assert as_html('[vc_row title="' * 10**4).startswith("<p>[vc_row")
