"""The fit of the confidence of ranked passages, by hand on rows of two collections."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from qa_lab.fit.fit_passage_confidence import fitted, held_out, reliability_error, report, score, weights
from qa_lab.fit.passage_rows import REPOSITORY, Row, by_collection, collections, every_collection


def row(collection: str, covered: float, grade: str, *, refused: float = 0.0, hidden: bool = False) -> Row:
    return Row(collection, f"{collection} {covered}", {"covered": covered}, grade, refused, hidden=hidden)  # type: ignore[arg-type]


ROWS = [
    row("a", 0.9, "3"),
    row("a", 0.1, "0", refused=1.0),
    row("a", 0.2, "0", hidden=True),
    *(row("b", 0.5 + 0.04 * number, "2" if number > 4 else "1") for number in range(10)),
]


def test_collections_weigh_the_same_and_hidden_questions_a_tenth() -> None:
    shares = weights(ROWS)
    assert shares.sum() == pytest.approx(len(ROWS))
    assert shares[:3].sum() == pytest.approx(len(ROWS) / 2)
    assert shares[2] == pytest.approx(shares[0] / 10)


def test_every_collection_of_the_repository_has_documents(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QA_BOT_DATA", str(tmp_path))
    by_name = {collection.name: collection for collection in collections(every_collection())}
    assert {"company", "18f", *REPOSITORY} < set(by_name)
    assert all(by_name[name].documents.exists() for name in every_collection())
    assert [collection.name for collection in collections()] == ["company", "18f", *REPOSITORY]


def test_a_score_by_hand() -> None:
    # answered: 1 point and 2/3; refused: a question without answer 1 point, one with an answer 0
    rows = [ROWS[0], ROWS[-1], ROWS[1], ROWS[3]]
    assert score(rows, np.array([True, True, False, False])) == pytest.approx((1 + 2 / 3 + 1 + 0) / 4)


def test_reliability_by_hand() -> None:
    # tenth 0: .05 and .05, one of two right: off by .9 in all; tenth 9: .95, right: off by .05
    error = reliability_error(np.array([0.05, 0.05, 0.95]), np.array([True, False, True]))
    assert error == pytest.approx((0.9 + 0.05) / 3)


def test_each_collection_is_judged_by_the_others() -> None:
    confidences = held_out(ROWS, ["covered"])
    assert [*by_collection(ROWS)] == ["a", "b"]
    assert confidences[0] > confidences[1]
    assert (np.diff(confidences[3:]) > 0).all()
    assert fitted(ROWS, ["covered"]).thresholds[0] == 0.0
    third = [row("c", 0.3 * number, "3" if number > 1 else "0") for number in range(12)]
    assert "\nb: AUC 1.000" in report([*ROWS, *third], ["covered"])
