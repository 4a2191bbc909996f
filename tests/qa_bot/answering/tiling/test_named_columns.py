"""Columns of a series that questions name."""

from __future__ import annotations

import pytest

from qa_bot.answering.tiling.named_columns import with_named_columns
from qa_core.types import Candidate, Clue, Passage, Place, Signals, Source

STOVES = """The stoves.

|  | Ember 6 | Ember 8 | Colour |
| --- | --- | --- | --- |
| Weight | 96 kg | 104 kg | – |
| Noise at level 5 | 44 dB | 46 dB | – |

Both come on a pallet."""
GRADES = """| Country | Grade A | Grade B | Grades C and D |
| --- | --- | --- | --- |
| Georgia | 22 | 27 | 33 |"""
DRYERS = """|  | Lyo 4 | Lyo 6 | Lyo 10 Pro | Lyo covers |
| --- | --- | --- | --- | --- |
| Fuse | T 6.3 A | T 8 A | T 12.5 A | – |"""
TYRES = """| Model | Tyre size | Front min. | Front max. |
| --- | --- | --- | --- |
| Krag | 62-584 | 1.4 bar | 2.6 bar |"""


def header(question: str, text: str, lead: str) -> list[str]:
    """The names of the columns that are left; the lead is still the same row without the others' cells."""
    start = text.index(lead)
    passage = Passage("p#0", text, Clue(), Source("p"), Place(kind="table"))
    shorter = with_named_columns(
        Candidate(passage, 3.0, Signals(lead=(start, text.find("\n", start) % (len(text) + 1)))), question
    )
    assert shorter.signals.lead is not None
    assert shorter.passage.text[slice(*shorter.signals.lead)].startswith(lead)
    assert "\n" not in shorter.passage.text[slice(*shorter.signals.lead)]
    rows = [line for line in shorter.passage.text.split("\n") if line.startswith("|")]
    assert len({row.count("|") for row in rows}) == 1
    return [cell.strip() for cell in rows[0].strip("|").split("|")]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How loud is the Ember 8?", ["", "Ember 8", "Colour"]),
        ("How loud is the Ember 8 compared with the Ember 6?", ["", "Ember 6", "Ember 8", "Colour"]),
        ("Is the Ember 8 louder than the others?", ["", "Ember 6", "Ember 8", "Colour"]),
        ("How loud are the Ember 6 and the Ember 8?", ["", "Ember 6", "Ember 8", "Colour"]),
        ("How loud is it?", ["", "Ember 6", "Ember 8", "Colour"]),
        ("What does the Ember 6 weigh? and the noise of the Ember 8?", ["", "Ember 8", "Colour"]),
    ],
)
def test_the_named_member_of_a_series_is_shown(question: str, expected: list[str]) -> None:
    assert header(question, STOVES, "| Noise at level 5") == expected


def test_letters_are_members_of_a_series() -> None:
    assert header("What is the rate in Georgia for grade B?", GRADES, "| Georgia") == ["Country", "Grade B"]
    assert header("and for grade C there?", GRADES, "| Georgia") == ["Country", "Grades C and D"]
    assert len(header("What does a night in Georgia cost?", GRADES, "| Georgia")) == 4


def test_a_member_of_a_series_may_have_a_further_word() -> None:
    assert header("What fuse has the Lyo 6?", DRYERS, "| Fuse") == ["", "Lyo 6", "Lyo covers"]
    assert header("What fuse has the Lyo 10 Pro?", DRYERS, "| Fuse") == ["", "Lyo 10 Pro", "Lyo covers"]


def test_columns_of_other_things_stay() -> None:
    assert len(header("What is the tyre pressure of the Krag in front?", TYRES, "| Krag")) == 4


def test_text_outside_a_table_and_uneven_tables_stay() -> None:
    for text, lead in ((STOVES, "Both come"), ("| a | E 1 | E 2 |\n| --- | --- | --- |\n| x | 1 |", "| x")):
        passage = Passage("p#0", text, Clue(), Source("p"))
        candidate = Candidate(passage, 1.0, Signals(lead=(text.index(lead), len(text))))
        assert with_named_columns(candidate, "What is it for E 2?") == candidate
