"""Blocks of HTML as Markdown."""

import pytest

from qa_bot.documents.cutting.markdown_passages import cut_markdown
from qa_bot.documents.ingest.formats.markup.html import fragment


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>Rooms <a class=headerlink href='#r'>¶</a></h2><p>Two.", "## Rooms\n\nTwo."),
        ("<h2><a href=#c>link</a></h2><h2><a href=#d>edit</a><a href=#e>#</a></h2><p>x", "## link\n\n## edit\n\nx"),
        ("one<div>two<span> three</span></div>four", "one\n\ntwo three\n\nfour"),
        ("<p>a &nbsp; b\n c</p>", "a b c"),
        ("<p>1. no list</p><p># no heading</p>", "1\\. no list\n\n\\# no heading"),
        ("<img src=a.png alt='A red lamp'><img alt='photo.jpg'>", "A red lamp"),
        ("<pre class='language-sh'>ls\n  -l</pre>", "```sh\nls\n  -l\n```"),
        ("<pre><code class='lang-py'>x<br>y</code></pre>", "```py\nx\ny\n```"),
        ("<select><option>AF</select><textarea>x</textarea><p>text", "text"),
        ("<h2>Use<span class=mw-editsection>[<a href='/e'>edit</a>]</span></h2>", "## Use"),
        ("<q>Yes</q>, she said", "“Yes”, she said"),
        ("10<sup>6</sup> m<sup>2</sup> and more<sup>1</sup>, 1<sup>st</sup>", "10⁶ m² and more [1], 1st"),
        ("<label for=a>Tea</label><label for=b>Milk</label>", "Tea Milk"),
        ("<input type=checkbox id=menu><input type=checkbox><div>Tea</div>", "Tea"),
        ("<input type=checkbox> <label> Tea</label>", "[ ] Tea"),
        ("<!-- hidden -->seen<svg><text>no</text></svg>", "seen"),
    ],
)
def test_paragraphs_headings_and_code(html, expected):
    assert fragment(html).text == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a<ul><li>b<li>c</ul><li>d</ul>", "- a\n    - b\n    - c\n- d"),
        ("<ol start=3><li>x<li>y<li value=9>z</ol>", "3. x\n4. y\n9. z"),
        (
            "<ol><li><p>one</p><p>more</p><pre>cmd</pre><li>two</ol>",
            "1. one\n\n    more\n\n    ```\n    cmd\n    ```\n2. two",
        ),
        ("<ul><li><ul><li>only inner</ul></ul>", "- only inner"),
        ("<ul><li><input type=checkbox checked>done<li><input type=checkbox>open</ul>", "- [x] done\n- [ ] open"),
        ("<li>stray", "- stray"),
        ("<dl><dt><span class=term>Bill</span><span class=term>Note</span><dd>x</dl>", "- **Bill, Note**: x"),
        ("<dl><dt><span class=term>Bill, </span><span class=term>Note</span><dd>x</dl>", "- **Bill, Note**: x"),
        ("<ul><li><h3>Title</h3><p>Text.</p></ul>", "- **Title**\n\n    Text."),
        ("<ul>loose<li>a</ul>tail", "loose\n\n- a\n\ntail"),
        ("<dl><dd>a<dd>b</dl>", "- a\n- b"),
        ("<ol><li>cut<li>sew</ol><dl><dt>S<dd>51 cm</dl>", "1. cut\n2. sew\n\n- **S**: 51 cm"),
        ("<dl><dt>S<dd>51 cm</dl><ul><li>a</ul><ol><li>b</ol>", "- **S**: 51 cm\n\n- a\n1. b"),
        ("<ul><li>a<ol><li>b</ol><li>c</ul><ul><li>d</ul>", "- a\n    1. b\n- c\n- d"),
        (
            "<ul><li>a<table><tr><th>k<th>v<tr><td>1<td>2</table><li>b</ul>",
            "- a\n\n    | k | v |\n    | --- | --- |\n    | 1 | 2 |\n- b",
        ),
    ],
)
def test_lists(html, expected):
    assert fragment(html).text == expected


def test_definitions_have_their_terms_in_front():
    html = "<dl><dt>RTO:<dd>Recovery time.<dt>A<dt>B<dd>Both.<dd>Again.<div><dt>C<dd><p>One.<p>Two.</div><dt>Last</dl>"
    assert fragment(html).text == (
        "- **RTO**: Recovery time.\n- **A, B**: Both.\n\n    Again.\n- **C**: One.\n\n    Two.\n- Last"
    )


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("<pre>cut 2</pre>", "```\n    cut 2\n    ```"),
        ("<ul><li>a<li>b</ul>", "- a\n    - b"),
        ("<dl><dt>S<dd>12 cm</dl>", "- **S**: 12 cm"),
        ("<blockquote>Said.</blockquote>", "> Said."),
        ("<table><tr><th>k<th>v<tr><td>1<td>2</table>", "| k | v |\n    | --- | --- |\n    | 1 | 2 |"),
    ],
)
def test_a_term_stands_above_a_description_that_begins_with_a_block(description, expected):
    text = fragment(f"<dl><dt>Sizes<dd>{description}</dl>").text
    assert text.split(maxsplit=2)[:2] == ["-", "**Sizes**:"]
    assert text.split(":", 1)[1].strip() == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><b>Parking:</b></p><p>Free.", "**Parking:**\n\nFree."),
        ("<p><b>Closed on Friday</b></p>", "**Closed on Friday**"),
        ("<p><b>Is it free?<br></b>Yes.<br><b>Is it open?</b><br>No.", "**Is it free?**\nYes.\n\n**Is it open?**\nNo."),
        ("<p><b>Closed</b></p><h2>Next</h2>", "**Closed**\n\n## Next"),
        ("<p><b>One</b></p><p><b>Two</b></p><p>x", "**One**\n\n**Two**\n\nx"),
        ("<p><b>It is a sentence.</b></p><p>x", "**It is a sentence.**\n\nx"),
        ("<p><b><a href='http://a.org'>Tools</a></b></p><p>x", "**[Tools](http://a.org)**\n\nx"),
        ("<details><summary>Why?</summary>Because.</details>", "**Why?**\n\nBecause."),
        ("<details><summary>How?</summary> </details><details><summary>Why?</summary>So.</details>", "**Why?**\n\nSo."),
        ("<details><summary>Why?</summary></details><p>Because.</p>", "**Why?**\n\nBecause."),
        ("Text<details><summary>Why?</summary></details>", "Text"),
        ("<h3><button aria-expanded=false>Fees</button></h3><div>None.</div>", "### Fees\n\nNone."),
        ("<button aria-controls=a>Fees</button><div id=a>None.</div>", "**Fees**\n\nNone."),
    ],
)
def test_lines_that_head_a_block_are_bold(html, expected):
    assert fragment(html).text == expected


@pytest.mark.parametrize(
    ("html", "paths"),
    [
        (
            "<h1>T</h1><h2>Join</h2><p>a</p><details><summary>Dogs?</summary><p>b</p></details><p>c</p>",
            [("T", "Join"), ("T", "Join", "Dogs?"), ("T", "Join")],
        ),
        ("<details><summary>A?</summary>b</details>c", [("A?",), ()]),
        ("<h2>J</h2><aside><h3>Tip</h3>b</aside><table><tr><td>c<td>d</table>", [("J", "Tip"), ("J",)]),
        ("<h2>J</h2>a<aside><h2>Tip</h2>b</aside>c", [("J",), ("Tip",), ("J",)]),
        ("<h6>J</h6><aside><p><b>Tip</b></p>b</aside>c", [("J", "Tip"), ("J",)]),
        ("<aside><h4>Tip</h4>b</aside><h5>J</h5>c", [("Tip",), ("J",)]),
        (
            "<details><summary>A?</summary>b</details><details><summary>B?</summary>c</details><h2>J</h2>d",
            [("A?",), ("B?",), ("J",)],
        ),
        ("<p><b>Fees</b></p><aside>b</aside>c", [("Fees",)]),
        (
            "<h2>J</h2>a<div><div class='item x'><h3>K</h3>b</div> <div class='y item'><h3>L</h3>c</div>"
            "<div class=z></div></div>d",
            [("J",), ("J", "K"), ("J", "L"), ("J",)],
        ),
        (
            "<div><h2>J</h2>a<section><h3>K</h3>b</section><section><h3>L</h3>c</section></div>d<h2>M</h2>e",
            [("J",), ("J", "K"), ("J", "L"), ("J",), ("M",)],
        ),
        ("<h2>J</h2><div role=tabpanel><p><b>npm</b></p><pre>a</pre></div>b", [("J", "npm"), ("J",)]),
        ("<ul><li>a<details><summary>A?</summary>b</details><li>c</ul>", [()]),
        ("<blockquote><details><summary>A?</summary>b</details>c</blockquote>", [()]),
    ],
)
def test_headings_inside_an_element_beside_the_text_do_not_head_what_follows(html, paths):
    text = fragment(html).text
    assert [passage.place.heading for passage in cut_markdown(text, "x").passages] == paths


@pytest.mark.parametrize(
    "html",
    [
        "<div><h2>J</h2>a</div><div><h2>K</h2>b</div><p>c",
        "<div><div><h2>J</h2>a</div><div><h2>K</h2>b</div>c</div>",
        "<div><div class=h><h2>J</h2></div>a<div class=h><h2>K</h2></div></div>b<p>c",
        "<div><div class=x><h2>J</h2>a</div><div class=y><h2>K</h2>b</div></div>c",
        "<div><div>J</div><div><h2>K</h2>b</div></div>c",
        "<div><section><h2>K</h2>b</section></div>c",
    ],
)
def test_other_headings_head_what_follows_their_element(html: str) -> None:
    assert cut_markdown(fragment(html).text, "x").passages[-1].place.heading == ("K",)


def test_quotes_keep_their_blocks():
    assert fragment("<blockquote><p>a<p>b<ul><li>c</ul></blockquote>d").text == "> a\n>\n> b\n>\n> - c\n\nd"


def test_elements_nested_too_deep_become_running_text():
    assert fragment("<div>" * 300 + "<p>a</p>b").text == "ab"
    assert fragment("<blockquote>" * 9 + "a").text == "> > > > a"


@pytest.mark.parametrize(
    ("alternative", "expected"), [("Clone  dialog", "Clone Dialog"), ("Three fields", "Three fields\n\nClone Dialog")]
)
def test_an_alternative_text_that_repeats_the_caption_is_left_out(alternative, expected):
    image = f"<a href=x.png><img src=x.png alt='{alternative}'></a>"
    assert fragment(f"<figure>{image}<figcaption><p>Clone Dialog</figcaption></figure>").text == expected


@pytest.mark.parametrize(
    ("alternative", "expected"),
    [
        ("Drawing the line", "**Figure 3.5. Drawing the line**"),
        ("It has two points.", "**Figure 3.5. Drawing the line**\n\nIt has two points."),
    ],
)
def test_an_alternative_text_that_repeats_a_caption_of_docbook_is_left_out(alternative, expected):
    title = '<p class="title"><b>Figure 3.5. Drawing the line</b></p>'
    image = f'<div class="figure-contents"><div class="mediaobject"><img src="x.png" alt="{alternative}"></div></div>'
    assert fragment(f'<div class="figure">{title}{image}</div>').text == expected


def test_paragraphs_of_invisible_signs_are_left_out():
    assert (
        fragment("<p>One</p><p>\u200b</p><ul><li>\ufeff</li></ul><p>two\u200bwords</p>").text == "One\n\ntwo\u200bwords"
    )


def test_invisible_signs_around_words_are_left_out():
    html = "<h2>\u200bTravel</h2><div>\u200b<strong>By\u200b train\u200b</strong><br>\u200b</div><p>\ufeffSoon."
    assert fragment(html).text == "## Travel\n\n**By\u200b train**\n\nSoon."


def test_a_summary_of_blocks_is_one_line():
    html = "<details><summary><div>Can I <b>buy</b></div><p>more?</p></summary><p>Yes.</p></details>"
    assert fragment(html).text == "**Can I buy more?**\n\nYes."
