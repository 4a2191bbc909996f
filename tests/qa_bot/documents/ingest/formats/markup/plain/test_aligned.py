"""Tables whose columns only blanks align."""

import pytest

from qa_bot.documents.ingest.formats.markup.plain.aligned import aligned_rows


@pytest.mark.parametrize(
    "table",
    [
        "Name        Room   Phone\n------------------------\nAbel, Ruth  1.07     114\nBob         B 12      9",
        "  Name        Room   Phone\n----------    ----  ------\n"
        "Abel, Ruth    1.07     114\nBob           B 12       9\n",
        " Name | Room | Phone\n------+------+------\n Abel, Ruth | 1.07 | 114\n Bob | B 12 | 9",
        "========================\nName        Room   Phone\n========================\n"
        "Abel, Ruth  1.07   114\nBob         B 12   9\n------------------------",
    ],
)
def test_rows(table):
    assert aligned_rows(table.rstrip().split("\n")) == [
        ["Name", "Room", "Phone"],
        ["Abel, Ruth", "1.07", "114"],
        ["Bob", "B 12", "9"],
    ]


def test_empty_cells():
    table = "Day   Open   Note\n-----------------\nMon   8-12\nTue          closed\n"
    assert aligned_rows(table.rstrip().split("\n")) == [
        ["Day", "Open", "Note"],
        ["Mon", "8-12", ""],
        ["Tue", "", "closed"],
    ]


def test_cells_of_two_lines():
    table = (
        "Room   Use              Contact\n----   --------------   -------\n1.07   Meetings of up   Ann\n"
        "       to eight\n1.08   Storage          Bob"
    )
    assert aligned_rows(table.split("\n")) == [
        ["Room", "Use", "Contact"],
        ["1.07", "Meetings of up to eight", "Ann"],
        ["1.08", "Storage", "Bob"],
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Our  plans\n----------\nWe have three plans.",  # words go over the gap
        "Heading\n-------\nText of the\nparagraph",
        "Name   Room\nAbel   1.07\nBob    2.04",  # without dashes
        "Name   Room\n-----------",
        "Key      Meaning\n-----------------\n<Nul>    zero   0\n<BS>     back   8",
        "1   MINUTES\n-----------\n    They were approved.\n    Thanks to Petra.",
        "       Room\n-----------\nAbel   1.07",  # a column without a name
        "Mon   8-12\n----------\nTue   8-12\n----------\nWed   closed",
    ],
)
def test_other_lines_are_no_table(text):
    assert aligned_rows(text.split("\n")) == []
