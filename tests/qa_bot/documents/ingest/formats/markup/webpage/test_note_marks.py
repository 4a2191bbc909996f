"""Marks of footnotes and links back to them."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment

DOCUTILS = """<p>Boil it <a class="footnote-reference brackets" href="#f" id="r" role="doc-noteref"><span
class="fn-bracket">[</span>1<span class="fn-bracket">]</span></a>.</p><aside class="footnote brackets" id="f"
role="doc-footnote"><span class="label"><span class="fn-bracket">[</span><a role="doc-backlink" href="#r">1</a><span
class="fn-bracket">]</span></span><span class="backrefs">(<a role="doc-backlink" href="#r">1</a>)</span>
<p>For a minute.</p></aside>"""


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("Water<a epub:type='noteref' href='#n'>1</a> is<a role=doc-noteref href='n.xhtml#m'>2</a>.", "[1] is [2]."),
        ("Water<a href='#f'><sup>[12]</sup></a> is<sup><a href='#g'>1</a></sup>.", "[12] is [1]."),
        (
            "Water<sup>[<a href='#f'>3</a>]</sup> is<sup><a href='#g'>*</a>, <a href='#h'>b</a></sup>.",
            "[3] is [*], [b].",
        ),
        ("Water<sup id=r1><a href='#f1'>1</a></sup> is<p><sup><a href='#r1'>1</a></sup>Wet.", "[1] is\n\n[1] Wet."),
        ("Water<sup id=r1><a href='#f1'>1</a></sup><p><sup><a href='#r1'>a</a></sup> Wet.", "[1]\n\nWet."),
        ("Water<sup><a id=r1 href='#f1'>1</a></sup><ol><li>Wet. <a href='#r1'>↩</a></ol>", "[1]\n\n1. Wet."),
        (
            "Water is<p>Wet. <a href='a.xhtml#r1'>↩\ufe0e</a><a href='#r1'>^</a><a href='#r2'>↩<sup>2</sup></a>",
            "is\n\nWet.",
        ),
        ("Water: <a href='#b'>7</a> or <a href='b.html'>↩</a>", ": 7 or ↩"),
        ("Water<blockquote>Wet<sup><a href='#f'>1</a></sup></blockquote>", "\n\n> Wet [1]"),
    ],
)
def test_marks(html, expected):
    assert fragment(html).text == (f"Water{expected}" if expected[0] in ":\n" else f"Water {expected}")


def test_headings_have_no_marks():
    assert fragment("<h2>Water<sup><a href='#f'>1</a></sup></h2>Wet").text == "## Water\n\nWet"


def test_labels_are_before_their_notes():
    assert fragment(DOCUTILS).text == "Boil it [1].\n\n[1] For a minute."


def test_marks_in_cells_are_those_of_the_page():
    cell = "<table><tr><th>Tea<th>Time<tr><td>Mint<td>5<sup id=r><a href='#f'>1</a></sup></table>"
    note = "<p><sup><a href='#r'>a</a></sup> Minutes."
    assert fragment(cell + note).text == "| Tea | Time |\n| --- | --- |\n| Mint | 5 [1] |\n\nMinutes."


def test_notes_of_libreoffice_and_dokuwiki():
    html = (
        '<p>Pay 80.<a class="sdfootnoteanc" name="n1anc" href="#n1sym"><sup>1</sup></a></p>'
        '<div><p><a name="n1sym" href="#n1anc">1</a>Not the deposit.</p></div>'
    )
    assert fragment(html).text == "Pay 80. [1]\n\n[1] Not the deposit."
    html = (
        '<p>Port 1194<sup><a href="#fn__1" id="fnt__1" class="fn_top">1)</a></sup></p><div class="footnotes">'
        '<div class="fn"><sup><a href="#fnt__1" id="fn__1">1)</a></sup> <div class="content">Only IPv4</div></div>'
    )
    assert fragment(html).text == "Port 1194 [1]\n\n[1] Only IPv4"
