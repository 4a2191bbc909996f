"""The title of a note is a label before its text, and what follows the note stays in its section."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment, page

DOCBOOK = """<div class="note"><table border="0" summary="Note"><tr>
<td rowspan="2" width="25"><img alt="[Note]" src="note.png"></td><th align="left">Note</th></tr>
<tr><td valign="top"><p>{}</p></td></tr></table></div>"""
ASCIIDOCTOR = """<div class="admonitionblock note"><table><tr><td class="icon"><div class="title">Note</div></td>
<td class="content">{}</td></tr></table></div>"""
DOCUSAURUS = """<div class="theme-admonition alert alert--info"><div class="admonitionHeading_a1">
<span class="admonitionIcon_b2"><svg></svg></span>Note</div><div class="admonitionContent_c3"><p>{}</p></div></div>"""


@pytest.mark.parametrize(
    "box",
    [
        DOCBOOK,
        ASCIIDOCTOR,
        DOCUSAURUS,
        "<div class=note><h3 class=title>Note</h3><p>{}</p></div>",
        "<div class=markdown-alert><p class=markdown-alert-title><svg></svg>Note</p><p>{}</p></div>",
        "<div class=warning><h3>Note:</h3> <p>{}</p></div>",
        "<div class='admonition tip'><p class=admonition-title>Note ¶</p><p>{}</p></div>",
        "<section class=note><h4>Note</h4>{}</section>",
    ],
)
def test_a_title_becomes_a_label(box):
    html = f"<h2>Parking</h2>{box.format('<a href=#x>Spaces</a> are few.')}<p>Bring a card."
    expected = "## Parking\n\n**Note:** Spaces are few.\n\nBring a card."
    assert page(f"<title>Rules</title>{html}")[1] == expected
    assert fragment(html).text == expected


def test_a_question_keeps_its_sign():
    assert fragment("<div class=tip><h3>Late?</h3><p>Call us.</div>").text == "**Late?** Call us."


def test_a_note_that_begins_with_a_list_has_its_label_above():
    html = "<div class=note><h3 class=title>Note</h3><ul><li>one<li>two</ul></div>"
    assert fragment(html).text == "**Note:**\n\n- one\n- two"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div class=note><p>Spaces are few.</p></div>", "Spaces are few."),
        ("<div class=note><p>First.</p><h3>Fees</h3><p>None.</div>", "First.\n\n### Fees\n\nNone."),
        (f"<div class=note><h3>{'long ' * 20}</h3><p>x</div>", f"### {'long ' * 20}".strip() + "\n\nx"),
        ("<div class=footnote><h3>Fees</h3><p>None.</div>", "### Fees\n\nNone."),
        ("<div class=note><h3>Note</h3></div>", ""),
    ],
)
def test_other_titles_stay(html, expected):
    assert fragment(html).text == expected
