"""References of Typst to labels."""

import pytest

from qa_bot.documents.ingest.formats.markup.typst.document import typst


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("See @prices.", "See prices."),
        ("See @fig:opening-hours, @tab[Table].", "See opening hours, Table tab."),
        ("== The _new_ prices <prices>\nSee @prices.", "## The new prices\n\nSee The new prices."),
        ("== #upper[a] <prices>\nSee @prices.", "## a\n\nSee prices."),
        ("Mail a@b.com, \\@home.", "Mail a@b.com, @home."),
    ],
)
def test_a_reference_is_a_title_or_a_name(source, expected):
    assert typst(source)[2] == expected
