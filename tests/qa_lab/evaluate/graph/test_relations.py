from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kg_index.relations.pools import PoolQuestion
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.graph.relations import Chance, evaluate_relations, measured

NAMES = ("/people/person/place_of_birth", "/people/person/profession", "/film/film/directed_by", "/music/album/genre")
LINES = (
    "1\t2 1\twhere is the place of birth of #head_entity#",
    "3\t4 3 2\twho directed #head_entity#",
    "2\t1 2\twhat does #head_entity# do",
)


@pytest.fixture
def files(write_lines: Callable[..., Path]) -> tuple[Path, Path]:
    return write_lines("pools.tsv", *LINES), write_lines("names.txt", *NAMES)


class Fixed:
    def score(self, _templates, pools):
        return [np.arange(len(pool), dtype=np.float32) // 2 for pool in pools]


def test_ties_are_shared_or_wrong():
    """Scores 0 0 1 and 0 0: the first is right alone, the second is one of two."""
    questions = [PoolQuestion("<m>", ("a", "b", "c"), "c"), PoolQuestion("<m>", ("a", "b"), "b")]
    scores = measured(Fixed(), questions)
    assert scores["accuracy"].mean == (1 + 1 / 2) / 2
    assert scores["accuracy_strict"].mean == 1 / 2
    assert measured(Chance(), questions)["accuracy"].mean == pytest.approx((1 / 3 + 1 / 2) / 2)


def test_ways_to_score_pools(files: tuple[Path, Path]):
    rows = evaluate_relations(files[0], relations=files[1])
    by_name = {row.engine: row for row in rows}
    assert [*by_name] == ["chance", "shared words", "keywords", "cosine", "together"]
    assert by_name["chance"].scores["accuracy"].mean == pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 3)
    assert by_name["keywords"].scores["accuracy"].mean == pytest.approx((1 + 1 + 1 / 2) / 3)
    assert by_name["keywords"].scores["accuracy_strict"].mean == pytest.approx(2 / 3)
    assert by_name["together"].scores["accuracy"].mean >= 2 / 3
    assert by_name["cosine"].encoder == "starter"
    assert by_name["cosine"].versus is not None
    assert {row.queries for row in rows} == {3}
    assert evaluate_relations(files[0], relations=files[1], limit=1)[0].queries == 1


def test_what_is_malformed_is_told_with_its_line(files: tuple[Path, Path], write_lines: Callable[..., Path]):
    with pytest.raises(TrainingDataError, match="--relations"):
        evaluate_relations(files[0], relations=None)
    with pytest.raises(TrainingDataError, match=r"bad.tsv, line 2: .*from 1 to 4, but got '9'"):
        evaluate_relations(write_lines("bad.tsv", LINES[0], "9\t9\twho is #head_entity#"), relations=files[1])
    with pytest.raises(TrainingDataError, match="but got none"):
        evaluate_relations(write_lines("empty.tsv"), relations=files[1])


def test_the_command_line(qa_bot, files: tuple[Path, Path]):
    payload = qa_bot("eval", "relations", "--data", files[0], "--relations", files[1], "--json")
    assert payload.code == 0
    assert [row["engine"] for row in payload.json["models"]][:2] == ["chance", "shared words"]
    assert qa_bot("eval", "relations", "--data", files[0]).code == 1


def test_what_was_trained_is_measured(qa_bot, files: tuple[Path, Path], write_lines, tmp_path: Path):
    more = [f"2\t1 2\twhat does #head_entity# do {word}" for word in ("now", "then", "here", "there", "all day")]
    data = ("--data", write_lines("more.tsv", *LINES, *more), "--relations", files[1])
    trained = qa_bot("train", "relations", *data, "--out", tmp_path / "out", "--dev", "0.5", "--json")
    assert trained.code == 0, trained.err
    assert trained.json["questions"] + trained.json["held_out"] == 8
    payload = qa_bot("eval", "relations", *data, "--model", tmp_path / "out", "--json").json
    assert payload["models"][0]["engine"] == "out"
