"""Titles of blocks, among their options."""

import pytest

from qa_bot.documents.ingest.formats.markup.latex.document import latex


@pytest.mark.parametrize(
    ("options", "title"),
    [
        ("title=Emergency number", "**Emergency number:** "),
        (r"colback=red,title={Care, \emph{please}},sharp corners", "**Care, please:** "),
        ("Pythagoras", "**Pythagoras:** "),
        ("colback=red", ""),
        ("htbp", ""),
        ("H", ""),
        ("fragile", ""),
    ],
)
def test_a_title_is_before_the_text(options, title):
    assert latex(rf"\begin{{theo}}[{options}]Call 112.\end{{theo}}")[2] == f"{title}Call 112."
