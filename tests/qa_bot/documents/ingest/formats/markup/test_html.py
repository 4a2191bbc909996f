"""HTML pages as Markdown, fragments as plain text."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment, page, plain, read_page

PAGE = """<!doctype html><html><head><title> Boiling
 eggs </title><style>p {}</style></head><body>
<header><a href="/">Home</a></header>
<nav><ul><li><a href="/a">Menu A</a><li><a href="/b">Menu B</a></ul></nav>
<main><h1>Boiling eggs</h1>
<p>Put the eggs in <b>cold</b>
water &amp; heat it.<br>Wait.</p><script>track()</script>
<ul><li>soft: 6 min<li>hard: 10 min</ul>
<pre>a
  b</pre>
<ul><li><a href="/x">Related one</a><li><a href="/y">Related two</a><li><a href="/z">Related three</a></ul>
</main><aside>Advertisement</aside><footer>Imprint</footer></body></html>"""


def test_title_and_main_text():
    assert page(PAGE) == (
        "Boiling eggs",
        "Put the eggs in **cold** water & heat it.\nWait.\n\n- soft: 6 min\n- hard: 10 min\n\n```\na\n  b\n```",
    )


def test_a_small_article_does_not_stand_for_the_page():
    text = "The whole text of the page is here. " * 5
    assert page(f"<article>Teaser</article><div>{text}</div>")[1].endswith(text.strip())
    assert page(f"<div>Other words</div><article>{text}</article>")[1] == text.strip()


def test_record(reads, tmp_path):
    (record,), _, _ = reads("eggs.html", PAGE.replace("<html>", "<html lang='de-AT'>"))
    assert (record.id, record.title, record.where) == ("eggs.html", "Boiling eggs", f"{tmp_path}/eggs.html:1")
    assert (record.markdown, record.language) == (True, "de")
    (record,), _, _ = reads("plain.htm", "<p>No title.")
    assert (record.title, record.text) == ("plain", "No title.")


def test_declared_encoding(reads):
    data = '<meta charset="iso-8859-1"><p>Grüße'.encode("latin-1")
    (record,), _, notices = reads("a.html", data)
    assert record.text == "Grüße"
    assert notices == []


@pytest.mark.parametrize("declared", ["no-such", "rot13", "utf-16"])
def test_impossible_declared_encodings_are_read_as_utf8(reads, declared):
    (record,), _, _ = reads("a.html", f'<meta charset="{declared}"><p>Grüße')
    assert record.text == "Grüße"


def test_page_without_text(reads):
    _, (reject,), _ = reads("app.html", "<html><body><script>render()</script></body></html>")
    assert "a page made by scripts?" in reject.reason


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("no markup  here", "no markup  here"),
        ("a &lt; b", "a < b"),
        ("<p>one</p>\n<p>two</p>", "one\n\ntwo"),
        ("<p>one<br/>two</p>tail", "one\ntwo\n\ntail"),
        ("<pre><code>x = 1\n\n\ty</code></pre>", "x = 1\n\n    y"),
        ("<div>a</div><div><div>b</div></div>", "a\nb"),
        ("", ""),
    ],
)
def test_fragments_as_plain_text(html, expected):
    assert plain(html) == expected


HOSTILE = [
    "<div>",
    "<b>",
    "<table>",
    "<a><b>",
    "<ul><li>",
    "<blockquote>",
    "<table><tr><td>",
    "<",
    "<a ",
    "<h1>",
    "<dl><dd>",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_nesting_ends_in_time_and_keeps_the_text(piece):
    html = piece * 20_000 + " x"
    for text in (plain(html), fragment(html).text, read_page(html).markdown):
        assert "x" in text or piece == "<a "  # one unclosed tag
