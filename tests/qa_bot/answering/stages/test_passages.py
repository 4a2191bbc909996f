"""The row of a sheet that an answer cites."""

import numpy as np
import pytest

from qa_bot.answering.stages.passages import at_best_row
from qa_core.types import Clue, Passage, Place, Source, Span

TABLE = "Prices:\n\n| Item | Price |\n| --- | --- |\n| Lamp | 4 |\n| Chair | 9 |\n| Desk | 30 |"


def passage(row: int | None) -> Passage:
    return Passage("p", TABLE, Clue(), Source("d"), Place(row=row))


def units() -> list[Span]:
    words = ("Prices:", "| Lamp | 4 |", "| Chair | 9 |", "| Desk | 30 |")
    return [(TABLE.index(word), TABLE.index(word) + len(word)) for word in words]


@pytest.mark.parametrize(("best", "row"), [(0, 12), (1, 12), (2, 13), (3, 14)])
def test_the_row_is_that_of_the_best_unit(best: int, row: int) -> None:
    assert at_best_row(passage(12), units(), np.eye(4, dtype=np.float32)[best]).place.row == row


def test_a_passage_without_rows_or_units_stays() -> None:
    assert at_best_row(passage(None), units(), np.ones(4, np.float32)) == passage(None)
    assert at_best_row(passage(5), [], np.zeros(0, np.float32)) == passage(5)
