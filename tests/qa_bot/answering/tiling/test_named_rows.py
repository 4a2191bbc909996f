"""Rows of tables that questions name."""

from __future__ import annotations

import pytest

from qa_bot.answering.tiling.named_rows import LONG_TABLE, with_named_rows
from qa_core.types import Candidate, Clue, Passage, Place, Signals, Source

HEADER = "| Permit | Who may apply | Fee for a year |\n| --- | --- | --- |\n"
ROWS = {
    "Resident": "people with a registered address in the zone | 120 euros",
    "Trade": "firms that repair or deliver in the zone | 260 euros",
    "Carer": "people who care for a resident | 40 euros",
    "Car": "owners of a car in the zone | 90 euros",
    "Car club": "cars of recognised clubs | 95 euros",
    "Electric": "owners of an electric car | 50 euros",
    "7 – 9": "seats of a bus | 20 euros",
}
TABLE = HEADER + "\n".join(f"| {name} | {rest} |" for name, rest in ROWS.items())
TEXT = f"The desk issues permits.\n\n{TABLE}\n\nApply at the desk."


def shown(question: str, *leads: str, text: str = TEXT) -> list[str]:
    """The first cells of the rows that are left, with a lead from the first to the last of these rows."""
    lead = (text.index(f"| {leads[0]} |"), text.index("\n", text.index(f"| {leads[-1]} |")))
    passage = Passage("permits#0", text, Clue(), Source("permits"), Place(kind="table"))
    shorter = with_named_rows(Candidate(passage, 3.0, Signals(lead=lead)), question)
    left = shorter.passage.text.split("\n")
    rows = [line for line in left if line.startswith("|")][2:]
    if shorter.signals.lead != lead:
        assert shorter.signals.lead is not None
        assert shorter.passage.text[slice(*shorter.signals.lead)] == "\n".join(rows)
        assert (left[0], left[-1]) == (text.split("\n")[0], text.split("\n")[-1])
    return [row.removeprefix("| ").partition(" |")[0] for row in rows]


@pytest.mark.parametrize(
    ("question", "leads", "expected"),
    [
        ("What does a carer permit cost?", ("Carer", "Car club"), ["Carer"]),
        ("How much are the resident and the electric permit?", ("Electric",), ["Resident", "Electric"]),
        ("What does a permit for an electric car cost?", ("Electric",), ["Car", "Electric"]),
        ("What does the car club permit cost?", ("Car", "Car club"), ["Car club"]),
        ("Is a permit for a car cheaper than for a car club?", ("Car", "Car club"), ["Car", "Car club"]),
        ("What does permit 8 cost?", ("7 – 9",), ["7 – 9"]),
    ],
)
def test_the_named_rows_are_shown_in_order(question: str, leads: tuple[str, ...], expected: list[str]) -> None:
    assert shown(question, *leads) == expected


def test_the_table_stays_if_the_question_names_no_row_of_the_lead() -> None:
    assert shown("Which permit is the cheapest?", "Car") == [*ROWS]
    assert shown("What do firms need instead of a carer permit?", "Trade") == [*ROWS]


SHORT = (
    f"A\n\n{HEADER}| Trade van | firms | 260 euros |\n| Trade car | firms | 90 euros |\n| Carer | carers | 40 euros |\n"
)


@pytest.mark.parametrize(
    ("question", "row", "expected"),
    [
        ("What does the carer permit cost?", "Carer", ["Carer"]),
        ("What does the trade permit for a van cost?", "Trade van", ["Trade van"]),
        ("What does the trade permit cost?", "Trade van", ["Trade van", "Trade car", "Carer"]),
        ("What does the carer permit cost and who may apply?", "Carer", ["Trade van", "Trade car", "Carer"]),
    ],
)
def test_a_short_table_shows_the_row_of_a_whole_name(question: str, row: str, expected: list[str]) -> None:
    assert len(SHORT) < LONG_TABLE
    assert shown(question, row, text=f"{SHORT}") == expected


def test_rows_without_a_first_cell_belong_to_the_row_above() -> None:
    rows = "\n".join(
        f"| {name} | weekday tickets for adults and their children | {n} |\n| | weekend tickets | {n + 1} |"
        for n, name in enumerate(("Zoo", "Pool", "Museum", "Tower"))
    )
    text = f"The desk issues permits.\n\n| Place | Ticket | Price |\n| --- | --- | --- |\n{rows}\n\nApply at the desk."
    assert shown("What is a ticket for the pool?", "Pool", text=text) == ["Pool", "| weekend tickets"]


def test_rows_name_none_if_another_row_has_more_of_the_question() -> None:
    rows = [
        "Distance mode | ",
        *(f"G{n} | code {n} of the lathe's axis" for n in range(90, 95)),
        "Rate mode | ",
        "G8 | lathe radius mode",
    ]
    table = "\n".join(f"| {row} |" for row in rows)
    text = f"The desk issues permits.\n\n| Code | Meaning |\n| --- | --- |\n{table}\n\nApply at the desk."
    assert len(shown("Which code is the radius mode of a lathe?", "Distance mode", "G8", text=text)) == len(rows)


def test_names_that_most_rows_share_name_none() -> None:
    rows = "\n".join(f"| Parking permit {name} | for people in the {name} zone of the town |" for name in "ABCDEF")
    text = f"The desk issues permits.\n\n| Permit | Who may apply |\n| --- | --- |\n{rows}\n\nApply at the desk."
    assert len(shown("Who gets a parking permit?", "Parking permit B", text=text)) == 6


def test_the_row_of_a_sheet_that_is_shown_is_cited() -> None:
    start = TEXT.index("| Resident |")
    lead = start, TEXT.index("\n", TEXT.index("| Car club |"))
    place = Place(row=3, kind="table", later=((start, 2),))  # the row that scored best, and the first one
    candidate = Candidate(Passage("permits#0", TEXT, Clue(), Source("permits"), place), 3.0, Signals(lead=lead))
    assert with_named_rows(candidate, "What does a carer permit cost?").passage.place.row == 4


def test_a_role_names_the_row_of_its_holder() -> None:
    header, row = "| Name | Role |\n| --- | --- |\n", "| Petra Lang | Head of quality |"
    text = f"{header}{row}\n| Jan Novák | Quality technician |\n| Miriam Weiss | Head of sales |"
    passage = Passage("people#0", text, Clue(), Source("people"), Place(kind="table"))
    candidate = Candidate(passage, 3.0, Signals(lead=(len(header), len(text))))
    assert with_named_rows(candidate, "Who is our head of quality?").passage.text == header + row
    assert with_named_rows(candidate, "Who is the cook?") == candidate
