"""Drafts from two rankings of candidates, and points from votes on them."""

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
    """A fusion that ranks by `stage`, the highest first."""
    table = np.tile(np.arange(6, dtype=np.float32), 20)[:, None]
    scores = Scores(table, ("stage",), np.repeat(np.arange(20), 6))
    config = FusionConfig(trees=GBDTConfig("lambdarank", trees=60, leaves=8, learning_rate=0.3, least=1, features=1.0))
    return LearnedFusion.fit(
        scores, (table[:, 0] > 0).astype(int) + (table[:, 0] > 3) + (table[:, 0] > 4), config=config
    )


def candidates(stage: dict[str, float], scores: Sequence[float]) -> list[Candidate]:
    """Candidates in this order, with values of `stage`."""
    return [
        Candidate(Passage(name, f"text of {name}", Clue(), Source(name)), score, Signals(rankers={"stage": value}))
        for (name, value), score in zip(stage.items(), scores, strict=True)
    ]


def challenger(fusion: LearnedFusion, seed: int = 0, share: float = 1.0) -> Challenger:
    return Challenger(fusion, share, "me", np.random.default_rng(seed))


def drafted(fusion: LearnedFusion, stage: dict[str, float], seed: int = 0) -> list[Candidate]:
    ranking = candidates(stage, [0.9, 0.8, 0.7, 0.6][: len(stage)])
    return challenger(fusion, seed).drafted(Question("why"), ranking, ranking, check=lambda: None)


def test_both_rankings_contribute_and_scores_stay_in_order(fusion):
    firsts = set()
    for seed in range(8):
        drafts = drafted(fusion, {"a": 1.0, "b": 0.0, "c": 5.0}, seed)  # the challenger: c, a, b
        names = [candidate.passage.id for candidate in drafts]
        firsts.add(names[0])
        assert sorted(names) == ["a", "b", "c"]
        assert [candidate.score for candidate in drafts] == [0.9, 0.8, 0.7]
        assert [candidate.signals.drafted for candidate in drafts] == [0.9, 0.8, 0.7]
        teams = {candidate.passage.id: candidate.signals.team for candidate in drafts}
        assert (teams["a"], teams["c"]) == (PRESENT, CHALLENGER)
    assert firsts == {"a", "c"}


def test_documents_on_which_both_agree_have_no_team(fusion):
    drafts = drafted(fusion, {"a": 5.0, "b": 4.0, "c": 0.0})
    assert [candidate.passage.id for candidate in drafts] == ["a", "b", "c"]
    assert all(candidate.signals.team is None for candidate in drafts)
    drafts = drafted(fusion, {"a": 5.0, "b": 0.0, "c": 4.0})
    assert drafts[0].passage.id == "a"
    assert drafts[0].signals.team is None
    assert {candidate.signals.team for candidate in drafts[1:]} <= {PRESENT, CHALLENGER}


def test_only_documents_of_both_rankings_are_drafted(fusion):
    """Documents below the ranked ones stay in place, and removed documents do not return."""
    present = candidates({"a": 1.0, "c": 5.0, "below": 0.0}, [0.9, 0.8, 0.1])
    unfused = candidates({"gone": 5.0, "a": 1.0, "c": 5.0}, [3.0, 2.0, 1.0])
    drafts = challenger(fusion).drafted(Question("why"), unfused, present, check=lambda: None)
    assert sorted(candidate.passage.id for candidate in drafts) == ["a", "below", "c"]
    assert drafts[-1].passage.id == "below"
    assert challenger(fusion).drafted(Question("why"), [], [], check=lambda: None) == []


def test_the_challenger_takes_part_in_its_share_of_the_questions(fusion):
    tried = challenger(fusion, share=0.3)
    assert 0.25 < np.mean([tried.takes_part() for _ in range(2000)]) < 0.35
    assert not challenger(fusion, share=0.0).takes_part()


def test_the_name_of_a_challenger_depends_on_its_trees(fusion, tmp_path: Path):
    fusion.save(tmp_path / "one", card="")
    fusion.save(tmp_path / "two", card="other words")
    one, two = (Challenger.open(tmp_path / name, share=0.5) for name in ("one", "two"))
    assert one.name == two.name != ""
    with pytest.raises(RankerError, match=r"Expected the --out of a `qa-bot train fusion`"):
        Challenger.open(tmp_path / "nowhere", share=0.5)


def answer(teams: dict[str, float | None], spans: dict[str, tuple[int, int] | None], by: str = "me") -> dict[str, Any]:
    rows = [{"document": name} | ({} if team is None else {TEAM: team}) for name, team in teams.items()]
    sources = [{"document": name, "span": span} for name, span in spans.items()]
    return {"sources": sources, "trace": {"models": {"challenger": by}, "candidates": rows}}


def test_points_by_hand():
    teams = {"a": CHALLENGER, "b": PRESENT, "c": None}
    assert points(answer(teams, {"a": (0, 10)}), "me", up=True) == 1
    assert points(answer(teams, {"a": (0, 10)}), "me", up=False) == -1
    assert points(answer(teams, {"b": (0, 10), "a": None}), "me", up=True) == -1
    # thirty of forty characters are the challenger's, ten the other's
    assert points(answer(teams, {"a": (0, 30), "b": (30, 40)}), "me", up=True) == 0.5
    assert points(answer(teams, {"a": (0, 30), "c": (30, 40)}), "me", up=True) == 0.75


def test_answers_without_the_challenger_have_no_points():
    spans = {"a": (0, 10)}
    assert points(answer({"a": CHALLENGER}, spans, by="another"), "me", up=True) is None
    assert points(answer({"a": None}, spans), "me", up=True) is None
    assert points(answer({"a": CHALLENGER}, {"a": None}), "me", up=True) is None
    assert points({"sources": []}, "me", up=True) is None
    assert points({"sources": [], "trace": None}, "me", up=True) is None
