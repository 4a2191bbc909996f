"""The fit of the confidence of ranked passages, by hand on rows of two collections."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qa_bot.answering.confidence.calibration import SCORED, VERIFIED
from qa_lab.fit import fit_passage_confidence
from qa_lab.fit.fit_passage_confidence import (
    WAYS,
    fitted,
    held_out,
    main,
    reliability_error,
    report,
    score,
    scored_ways,
    weights,
)
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


def test_passages_are_scored_where_the_features_say_so(tmp_path: Path) -> None:
    of_network = {way.key: way for way in WAYS}
    for key in ("hybrid scored", "keyword scored"):
        assert of_network[key].features == SCORED
        assert of_network[key].every
        assert not {"ranking.relevance", "ranking.effort"} & of_network[key].flags.keys()
    for key in ("hybrid verified", "keyword verified"):
        assert of_network[key].features == VERIFIED
        assert of_network[key].flags["ranking.relevance"] is False
    assert [way.key for way in scored_ways(tmp_path)] == ["hybrid", "keyword"]
    assert all(way.flags["ranking.cross_encoder"] == str(tmp_path) and way.every for way in scored_ways(tmp_path))


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of calibrations, with a former one of each way; each collection has a question of each grade."""

    def rows_of(collection: str, _choice: object, flags: Any, *, improved: bool) -> Iterator[Row]:
        shift = 0.1 * len(flags) + 0.01 * improved
        for number in range(12):
            features = dict.fromkeys((*SCORED, "title_similarity"), shift + number / 12)
            yield Row(collection, f"{collection} {number}", features, "3" if number > 5 else "0", 0.0)

    monkeypatch.setenv("QA_BOT_DATA", str(tmp_path))
    monkeypatch.setattr(fit_passage_confidence, "collections", lambda names: ["a", "b", f"{len(names)}"])
    monkeypatch.setattr(fit_passage_confidence, "rows_of", rows_of)
    path = tmp_path / "passage_confidence.json"
    path.write_text(json.dumps({way.key: "former" for way in WAYS}))
    monkeypatch.setattr(fit_passage_confidence, "PASSAGES", path)
    return path


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["fit_passage_confidence", *arguments])
    main()


def test_all_calibrations_are_fitted(
    shipped: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_main(monkeypatch)
    made = json.loads(shipped.read_text())
    assert {key: tuple(of["features"]) for key, of in made.items()} == {way.key: way.features for way in WAYS}
    printed = capsys.readouterr().out
    assert "hybrid scored\n" in printed
    assert f"\n{len(every_collection())}: AUC" in printed.partition("hybrid scored\n")[2], "every collection is asked"
    assert f"\n{len(every_collection())}: AUC" not in printed.partition("hybrid scored\n")[0]


def test_only_some_are_fitted_and_the_others_stay(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_main(monkeypatch, "--only", "hybrid scored", "keyword")
    made = json.loads(shipped.read_text())
    assert [*made] == [way.key for way in WAYS]
    assert {key for key, of in made.items() if of != "former"} == {"hybrid scored", "keyword"}


def test_those_of_a_cross_encoder_are_written_into_its_folder(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = shipped.read_bytes()
    folder = tmp_path / "model"
    folder.mkdir()
    run_main(monkeypatch, "--cross-encoder", str(folder), "--only", "keyword")
    assert [*json.loads((folder / "passage_confidence.json").read_text())] == ["keyword"]
    run_main(monkeypatch, "--cross-encoder", str(folder), "--only", "hybrid")
    assert {*json.loads((folder / "passage_confidence.json").read_text())} == {"hybrid", "keyword"}
    assert shipped.read_bytes() == former


def test_an_unknown_key_is_refused(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    former = shipped.read_bytes()
    for arguments in (["--only", "scored"], ["--cross-encoder", str(tmp_path), "--only", "hybrid scored"]):
        with pytest.raises(SystemExit):
            run_main(monkeypatch, *arguments)
        assert f"but got {arguments[-1]!r}" in capsys.readouterr().err
    assert shipped.read_bytes() == former
