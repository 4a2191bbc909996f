"""Rows of tables that a question names by their first cell."""

from __future__ import annotations

import pytest

from qa_bot.answering.evidence.row_labels import POWER, ROW, row_bonus
from qa_core.text.analysis import terms
from qa_core.types import Clue, Passage, Place, Source

TABLE = (
    "| | Duo | Solo |\n| --- | --- | --- |\n| Steam boiler, volume | 11.5 l | 1.8 l |\n| Weight | 68 kg | 21 kg |\n\n"
    "All weights are without packing.\n\n| Code | Meaning |\n| --- | --- |\n| **E18** | Motor too hot |"
)
RARITY = {"duo": 2.0, "weight": 1.0, "rpm": 3.0}


def bonus(question: str, text: str = TABLE, *, heading: tuple[str, ...] = ()) -> float:
    passage = Passage("manual#1", text, Clue(), Source("manual", "Manual"), Place(heading))
    content = frozenset(terms(question, "en"))
    return float(row_bonus(lambda _: content, lambda term: RARITY.get(term, 1.0), [passage])[0])


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("weight duo", 1.0),
        ("e18", 1.0),
        ("steam boiler duo", 2 / 3),  # of the row's name
        ("weight rpm", (1 / 4) ** POWER),  # rarity of what the row has
        ("motor hot", 2 / 3),  # after a code
        ("meaning", 0.0),
        ("code", 0.0),  # a header
        ("packing", 0.0),
        ("", 0.0),
    ],
)
def test_a_row_needs_its_name_and_the_rest_of_the_question(question: str, share: float) -> None:
    assert bonus(question) == pytest.approx(ROW * share)


def test_headings_and_title_count_for_the_rest_of_the_question() -> None:
    assert bonus("weight trio") == pytest.approx(ROW * 0.5**POWER)
    assert bonus("weight trio", heading=("Machines of the Trio series",)) == pytest.approx(ROW)
    assert bonus("weight manual") == pytest.approx(ROW)


def test_other_lines_are_no_rows() -> None:
    assert bonus("weight", "Weight: 68 kg") == 0.0
    assert bonus("weight", "| Weight | 68 kg |") == 0.0
