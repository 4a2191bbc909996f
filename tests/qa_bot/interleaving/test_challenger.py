"""Drafts from two rankings of candidates, and what votes on them say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qa_bot.answering.models.ranker_loading import RankerError
from qa_bot.interleaving.challenger import TEAM, Challenger, points
from qa_core.types import Candidate, Clue, Passage, Question, Signals, Source
from rankers.fusion import FusionConfig, LearnedFusion, Scores
from rankers.gbdt import GBDTConfig

PRESENT, CHALLENGER = 0.0, 1.0


@pytest.fixture(scope="module")
def fusion() -> LearnedFusion:
    """Learnt that more of `stage` is better."""
    table = np.tile(np.arange(6, dtype=np.float32), 20)[:, None]
    scores = Scores(table, ("stage",), np.repeat(np.arange(20), 6))
    config = FusionConfig(trees=GBDTConfig("lambdarank", trees=60, leaves=8, learning_rate=0.3, least=1, features=1.0))
    return LearnedFusion.fit(
        scores, (table[:, 0] > 0).astype(int) + (table[:, 0] > 3) + (table[:, 0] > 4), config=config
    )


def candidates(stage: dict[str, float], scores: Sequence[float]) -> list[Candidate]:
    """In this order."""
    return [
        Candidate(Passage(name, f"text of {name}", Clue(), Source(name)), score, Signals(rankers={"stage": value}))
        for (name, value), score in zip(stage.items(), scores, strict=True)
    ]


def challenger(fusion: LearnedFusion, seed: int = 0, share: float = 1.0) -> Challenger:
    return Challenger(fusion, share, "me", np.random.default_rng(seed))


def drafted(fusion: LearnedFusion, stage: dict[str, float], seed: int = 0) -> list[Candidate]:
    given = candidates(stage, [0.9, 0.8, 0.7, 0.6][: len(stage)])
    return challenger(fusion, seed).drafted(Question("why"), given, given, check=lambda: None)


def test_both_bring_their_best_and_scores_stay_in_order(fusion):
    firsts = set()
    for seed in range(8):
        found = drafted(fusion, {"a": 1.0, "b": 0.0, "c": 5.0}, seed)  # the challenger: c, a, b
        names = [each.passage.id for each in found]
        firsts.add(names[0])
        assert sorted(names) == ["a", "b", "c"]
        assert [each.score for each in found] == [0.9, 0.8, 0.7]
        assert [each.signals.drafted for each in found] == [0.9, 0.8, 0.7]
        teams = {each.passage.id: each.signals.team for each in found}
        assert (teams["a"], teams["c"]) == (PRESENT, CHALLENGER)
    assert firsts == {"a", "c"}


def test_where_both_agree_nobody_brought_anything(fusion):
    found = drafted(fusion, {"a": 5.0, "b": 4.0, "c": 0.0})
    assert [each.passage.id for each in found] == ["a", "b", "c"]
    assert all(each.signals.team is None for each in found)
    found = drafted(fusion, {"a": 5.0, "b": 0.0, "c": 4.0})
    assert found[0].passage.id == "a"
    assert found[0].signals.team is None
    assert {each.signals.team for each in found[1:]} <= {PRESENT, CHALLENGER}


def test_what_only_one_ranking_has_stays(fusion):
    """Documents below those that are ranked are none of the challenger's, and what is gone does not come back."""
    present = candidates({"a": 1.0, "c": 5.0, "below": 0.0}, [0.9, 0.8, 0.1])
    unfused = candidates({"gone": 5.0, "a": 1.0, "c": 5.0}, [3.0, 2.0, 1.0])
    found = challenger(fusion).drafted(Question("why"), unfused, present, check=lambda: None)
    assert sorted(each.passage.id for each in found) == ["a", "below", "c"]
    assert found[-1].passage.id == "below"
    assert challenger(fusion).drafted(Question("why"), [], [], check=lambda: None) == []


def test_it_takes_part_in_its_share_of_the_questions(fusion):
    tried = challenger(fusion, share=0.3)
    assert 0.25 < np.mean([tried.takes_part() for _ in range(2000)]) < 0.35
    assert not challenger(fusion, share=0.0).takes_part()


def test_a_folder_is_known_by_its_trees(fusion, tmp_path: Path):
    fusion.save(tmp_path / "one", card="")
    fusion.save(tmp_path / "two", card="other words")
    one, two = (Challenger.open(tmp_path / name, share=0.5) for name in ("one", "two"))
    assert one.name == two.name != ""
    with pytest.raises(RankerError, match=r"Expected the --out of a `qa-bot train fusion`"):
        Challenger.open(tmp_path / "nowhere", share=0.5)


def answer(teams: dict[str, float | None], spans: dict[str, tuple[int, int] | None], by: str = "me") -> dict[str, Any]:
    told = [{"document": name} | ({} if team is None else {TEAM: team}) for name, team in teams.items()]
    sources = [{"document": name, "span": span} for name, span in spans.items()]
    return {"sources": sources, "trace": {"models": {"challenger": by}, "candidates": told}}


def test_points_by_hand():
    teams = {"a": CHALLENGER, "b": PRESENT, "c": None}
    assert points(answer(teams, {"a": (0, 10)}), "me", up=True) == 1
    assert points(answer(teams, {"a": (0, 10)}), "me", up=False) == -1
    assert points(answer(teams, {"b": (0, 10), "a": None}), "me", up=True) == -1
    # thirty of forty letters for it, ten against it
    assert points(answer(teams, {"a": (0, 30), "b": (30, 40)}), "me", up=True) == 0.5
    assert points(answer(teams, {"a": (0, 30), "c": (30, 40)}), "me", up=True) == 0.75


def test_answers_that_it_had_no_part_in_are_no_points():
    spans = {"a": (0, 10)}
    assert points(answer({"a": CHALLENGER}, spans, by="another"), "me", up=True) is None
    assert points(answer({"a": None}, spans), "me", up=True) is None
    assert points(answer({"a": CHALLENGER}, {"a": None}), "me", up=True) is None
    assert points({"sources": []}, "me", up=True) is None
    assert points({"sources": [], "trace": None}, "me", up=True) is None
