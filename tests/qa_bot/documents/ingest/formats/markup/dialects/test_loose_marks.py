"""Headings without a space and lists that are indented like code."""

import pytest

from qa_bot.documents.ingest.formats.markup.dialects.loose_marks import with_marks_mended
from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("##Logging\nText.", "## Logging\nText."),
        ("###1. **Start**", "### 1. **Start**"),
        ("#Insert the card\n\nText.", "# Insert the card\n\nText."),
        ("Text.\n\n#Insert the card\n", "Text.\n\n# Insert the card\n"),
        ("#Meeting #Board", "#Meeting #Board"),
        ("#todo buy milk\n\nText.", "#todo buy milk\n\nText."),
        ("#Insert the card\nand go on.", "#Insert the card\nand go on."),
        ("Text\n#Board met today\n\nMore.", "Text\n#Board met today\n\nMore."),
        ("    ##Code", "    ## Code"),
        ("####### x", "####### x"),
    ],
)
def test_headings_without_a_space(text, expected):
    assert with_marks_mended(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Steps:\n\n    1. Go\n       on\n    2. Stop\n\nEnd.", "Steps:\n\n1. Go\n   on\n2. Stop\n\nEnd."),
        ("Steps:\n\n\t* Go\n\n\t\t* Twice\n\n\t* Stop", "Steps:\n\n* Go\n\n    * Twice\n\n* Stop"),
        ("## Steps\n\n    * Go", "## Steps\n\n* Go"),
        ("- a\n\n    * b", "- a\n\n    * b"),
        ("- a\n\n  more\n\n    * b", "- a\n\n  more\n\n    * b"),
        ("Code:\n\n    1. go\n    stop()", "Code:\n\n    1. go\n    stop()"),
        ("Code:\n\n    - name: x", "Code:\n\n    - name: x"),
        ("Text\n    * goes on", "Text\n    * goes on"),
        ("    * at the begin", "    * at the begin"),
    ],
)
def test_indented_lists(text, expected):
    assert with_marks_mended(text) == expected


def test_bodies_that_are_indented_by_tabs():
    source = '??? note "The "lamp" blinks"\n\n\tHold it.\n\n\t* Go\n\n\t\tFar.\n\nAfter.\n\n\tcode'
    text = markdown_blocks(source).text
    assert '**The "lamp" blinks:** Hold it.' in text
    assert "- Go\n\n    Far." in text
    assert text.endswith("After.\n\n```\ncode\n```")


def test_a_heading_below_a_tag_is_no_html():
    assert markdown_blocks("Text.\n\n<br>\n#### Next\n\nMore.").text == "Text.\n\n#### Next\n\nMore."
    assert "# one" in markdown_blocks("<pre>\n<b>x</b>\n# one\n</pre>").text
