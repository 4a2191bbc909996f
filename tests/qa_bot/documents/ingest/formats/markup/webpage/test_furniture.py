"""What is not the text of a page is left out, and what looks like it stays."""

from time import process_time

import pytest

from qa_bot.documents.ingest.formats.markup.html import page, read_page
from qa_bot.documents.ingest.formats.markup.webpage.furniture import DEEPEST, bounded

TEXT = "The garage has fourteen spaces for people who work here. " * 6


@pytest.mark.parametrize(
    "furniture",
    [
        "<div class='cookie-banner'>We use cookies.</div>",
        "<div id='onetrust-consent-sdk'>Accept</div>",
        "<ol class='breadcrumb'><li>Home<li>Parking</ol>",
        "<div class='share-buttons'>Tweet</div>",
        "<a href='#main'>Skip to content</a>",
        "<form><input name=q>Search</form>",
        "<button>Print</button>",
        "<p hidden>secret</p>",
        "<p style='display: none'>secret</p>",
        "<div role=dialog>Subscribe</div>",
        "<section class='related-posts'>More</section>",
        "<aside>About us</aside>",
        "<article><aside class=sidebar>About us</aside></article>",
        "<article><aside><a href=/a>More on parking</a></aside></article>",
        "<div class=navheader><table><tr><th>Parking<tr><td><a accesskey=n>Next</a></table></div>",
        "<table summary='Navigation footer'><tr><td><a accesskey=p>Prev</a><td>Up</table>",
        "<ul class=docnav><li class=previous><a accesskey=p href=a.html>Back</a></ul>",
        "<div class=header><p>Next: <a accesskey=n href=b.html rel=next>Fees</a></p></div>",
        "<div id=footer><div id=footer-text>Last updated 2023-01-26 05:35:43 UTC</div></div>",
        "<div id=siteNotice>Closed on Sunday</div>",
        "<table class=navbox><tr><td><a href=/a>Fees</a> · <a href=/b>Bus</a></table>",
        "<div class=printfooter>Retrieved from <a href=/a>a</a></div>",
        "<div><span class=mw-editsection>[<a href=/e>edit</a>]</span></div>",
        "<div id=catlinks>Categories: <ul><li>Cars</ul></div>",
        "<a class=mw-jump-link>Jump to search</a>",
        "<div class=gem-c-feedback><h2>Is this page useful?</h2></div>",
        "<span class='theme-doc-version-badge badge'>Version: 3.x</span>",
        "<h1 class=menu-title>The book</h1>",
        "<p><a href=/edit>Suggest Changes</a></p>",
        "<div class=footer>Powered by Sphinx | <a href=_sources/a.rst.txt>Page source</a></div>",
        "<div><p>Was this article helpful?</p><div><span>Yes</span> <span>No</span></div></div>",
        "<p>War diese Seite hilfreich? <span>Ja</span><span>Nein</span></p>",
        "<p class=article-vote>Did you find it helpful?<span>Yes</span><span>No</span></p>",
        "<div class=article-author>Maya<ul class=meta-group><li>Updated</li></ul></div>",
        "<div class=nav>« <a href=a.html>previous</a> | <a href=b.html>next</a> »</div>",
        "<div class=shareButtons>Tweet</div>",
        "<h3>Read on</h3><ul><li><a href=/a>Fees</a><li><a href=/b>Bus</a><li><a href=/c>Bikes</a></ul>",
    ],
)
def test_furniture_is_left_out(furniture):
    assert page(f"<body>{furniture}<h2>Cars</h2><p>{TEXT}</p>{furniture}</body>")[1] == f"## Cars\n\n{TEXT.strip()}"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>{} Was it helpful? Ask the desk.", "{} Was it helpful? Ask the desk."),
        ("<form id=aspnet>{}</form>", "{}"),
        ("<div class='social'>{}</div>", "{}"),
        (
            "<main><p>{}<aside class=note>Bring a <a href=/c>card</a> with you.</aside></main>",
            "{}\n\nBring a card with you.",
        ),
        ("<nav><a href=/x>never closed</nav><p>{}<ol><li>one<li>two<li>three</ol>", "{}\n\n1. one\n2. two\n3. three"),
        (
            "<h2><button aria-expanded=false>Fees</button></h2><div class=accordion-content hidden>{}</div>",
            "## Fees\n\n{}",
        ),
        (
            "<p>{}<div class=sidebar><div class=titlepage><p class=title><b>History</b></div><p>Since 1998.</div>",
            "{}\n\n**History**\n\nSince 1998.",
        ),
        (
            "<p>{}<section id=managing-cookies><h2>Managing cookies<a href=#x>¶</a></h2><p>30 days.</section>",
            "{}\n\n## Managing cookies\n\n30 days.",
        ),
        ("<div role=note class='hatnote navigation-not-searchable'>On cars.</div><p>{}", "On cars.\n\n{}"),
        ("<div class=tabs>Home</div><main role=main>{}</main>", "{}"),
        ("<p>See “<a href=/a>Edit this page in Word</a>”.<p>{}", "See “Edit this page in Word”.\n\n{}"),
        ("<p>{}<div class=section id=sharing><h2>2.1. Sharing</h2><p>Two.</div>", "{}\n\n## 2.1. Sharing\n\nTwo."),
        (
            "<h2>Fees</h2><ul><li><a href=#a>A</a><li><a href=#b>B</a><li><a href=#c>C</a></ul><p>{}",
            "## Fees\n\n{}",
        ),
        ("<p>{}<div class=author>Ann Lee, head of the garage.</div>", "{}\n\nAnn Lee, head of the garage."),
        (
            "<p>{}<ul><li><a href=/a>Map</a>: how to find us<li><a href=/b>Bus</a>: line 4<li>Foot</ul>",
            "{}\n\n- Map: how to find us\n- Bus: line 4\n- Foot",
        ),
    ],
)
def test_text_that_looks_like_furniture_stays(html, expected):
    assert page(html.replace("{}", TEXT))[1] == expected.replace("{}", TEXT.strip())


def test_the_text_of_a_repository_is_its_readme() -> None:
    files = f"<table><tr><th>Name<th>Change<tr><td>src<td>{TEXT}</table>"
    html = f"<main><h2>Folders</h2>{files}<article class='markdown-body x'><h1>Turnip</h1>A queue.</article></main>"
    assert page(html)[1] == "A queue."


@pytest.mark.parametrize(
    "html",
    [
        "<h1 id=index>Index</h1><div class=genindex-jumpbox><a href=#B>B</a></div><ul><li>built-in function</ul>",
        "<head><script src='../_static/searchtools.js?v=1'></script></head><p>Searching for multiple words.",
    ],
)
def test_indexes_that_sphinx_makes_have_no_text(html: str) -> None:
    assert page(html)[1] == ""


def test_tags_beyond_the_deepest_level_are_removed():
    html = "<div>" * 1000 + "x" + "</div>" * 1000 + "<p>y</p>"
    assert bounded(html).count("<div>") == DEEPEST
    assert bounded(html).endswith("<p>y</p>")
    flat = "<p>x<br><li>y<img src=a>" * 1000
    assert bounded(flat) == flat


HOSTILE = {
    "attributes": "<p>a</p><p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">b</p>",
    "attributes that are not ended": "<p>a</p>b<p " + " ".join(f"a{n}" for n in range(100_000)),
    "attributes behind brackets in quotes": "<p>a</p><p x='<>' y=\"<>\" "
    + " ".join(f"a{n}" for n in range(100_000))
    + ">b",
    "quotes": "<p>a</p>b" + "<p a='" * 100_000,
    "options": "a<select>" + "<option>x</option>" * 100_000 + "</select>b",
    "options with brackets": "a<select>" + "<OPTION a='<'>x</OPTION>" * 100_000 + "</select>b",
    "groups": "ab" + "<optgroup>" * 100_000,
    "ruby": "ab" + "<rp>" * 100_000,
}


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE)
def test_what_takes_quadratic_time_is_bounded(html: str) -> None:
    """Each of them took 6 to 100 s."""
    began = process_time()
    text = read_page(html).markdown
    assert process_time() - began < 2
    assert "".join(text.split()) == "ab"


@pytest.mark.parametrize(
    "html",
    ["<a" * 200_000, "<p>a</p><a b" + "<a" * 200_000, "<b>" * 600 + "<" + "a" * 400_000, "<a/" * 100_000],
    ids=["names", "name of an attribute", "name of a tag without an end", "slashes"],
)
def test_a_tag_without_an_end_is_read_once(html: str) -> None:
    """32 KB of `<a` took 14 s. Quadratic code would run into the suite's timeout."""
    assert len(bounded(html)) <= len(html)


def test_usual_attributes_and_options_stay() -> None:
    html = "<p " + " ".join(f"a{n}='>'" for n in range(1000)) + ">b</p><select>" + "<option>x" * 2000 + "</select>"
    assert bounded(html) == html


def test_posts_of_forums():
    text = "F4 means no flame. Check the gas valve first, then press the button of the boiler for five seconds. "
    phpbb = f"""<title>No heat - Boilers</title><body id=phpbb>
    <div role=banner><h1>Boilers</h1></div><h2 class=topic-title>No heat</h2>
    <div class=action-bar><a href=/r><span>Post Reply</span></a></div><dl class=postprofile><dt>ann<dd>Posts: 3</dl>
    <p class=author><a href=/p><span class=sr-only>Post</span></a>by <b>ann</b> » Fri Jan 10, 2025</p>
    <div class=content>{text * 3}</div><div class=signature>Stay warm</div>"""
    assert page(phpbb) == ("No heat", f"## No heat\n\nby **ann** » Fri Jan 10, 2025\n\n{(text * 3).strip()}")
    discourse = f"""<title>No heat - Boilers</title><body class=crawler><h1>No heat</h1>
    <div class=topic-category><span>Help</span></div><div class=crawler-post-meta><span class=creator>ann</span><link
    itemprop=mainEntityOfPage><span class=crawler-post-infos><time>May 1, 2025</time><span itemprop=position>1</span>
    </span></div><p>{text * 3}</p><div><span class=post-likes>2 Likes</span></div>
    <div class=more-topics__list><h3>Related topics</h3><table><tr><td>Noise<td>3</table></div>"""
    assert page(discourse) == ("No heat", f"ann, May 1, 2025\n\n{(text * 3).strip()}")
