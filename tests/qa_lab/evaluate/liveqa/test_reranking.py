"""`eval liveqa --model`: the same candidates in several orders."""

from __future__ import annotations

import numpy as np
import pytest

from qa_lab.data.fusion_data import FusionTrainingData
from qa_lab.evaluate.datasets import read_dataset
from qa_lab.evaluate.liveqa import reranking
from qa_lab.evaluate.liveqa.reranking import COMPARED_BY, evaluate_reranking, measured
from rankers.fusion import Scores
from rankers.neural import NeuralRanker


def test_hand_worked_figures():
    """Two questions of three candidates; the first document of the second is unjudged."""
    table = np.array([[3], [2], [1], [9], [5], [np.nan]], dtype=np.float32)
    grades = np.array([1, 3, 0, 0, 2, 0], dtype=np.float64)
    qrels = {"0": {"a": 1, "b": 3, "c": 0}, "1": {"e": 2, "f": 0}}
    lessons = FusionTrainingData(Scores(table, ("one",), np.array([0, 0, 0, 1, 1, 1])), grades, tuple("abcdef"), qrels)
    results = {name: score.mean for name, score in measured(lessons, table[:, 0]).items()}
    assert results["RR@2+"] == (1 + 1 / 2) / 2
    assert results["RR@3+"] == (1 / 2 + 1 / 2) / 2
    assert results["AP@2+"] == (1 + 1 / 2) / 2
    assert results["AP@4+"] == (1 / 2 + 0) / 2
    assert results["avg_score"] == (1 + 0) / 2
    assert results["avg_score_condensed"] == (1 + 2) / 2
    best = measured(lessons, grades.astype(np.float32))
    assert best["nDCG@10"].mean == best["RR@2+"].mean == 1


class Length:
    def score(self, pairs):
        return np.array([len(answer) for _, answer in pairs], dtype=np.float32)


def test_rankers_and_their_fusion_over_a_tiny_collection(ours, monkeypatch):
    monkeypatch.setattr(reranking, "open_rankers", lambda _: (NeuralRanker("length", Length()),))
    monkeypatch.setattr(reranking, "FOLDS", 2)
    monkeypatch.setattr(reranking, "cross_validated", lambda scores, grades, **_: np.zeros(len(grades), np.float32))
    rows = evaluate_reranking(read_dataset(ours), models=["length"])
    names = [row.engine for row in rows]
    assert names == ["pipeline", *reranking.STAGES, "length", "fusion", "upper bound", "lower bound"]
    by_name = {row.engine: row.scores[COMPARED_BY].mean for row in rows}
    assert by_name["lower bound"] <= by_name["pipeline"] <= by_name["upper bound"]
    assert rows[1].measure == COMPARED_BY
    assert rows[0].encoder == "starter"


def test_a_candidate_that_a_stage_did_not_score_is_last():
    table = np.array([[np.nan], [-5.0]], dtype=np.float32)
    lessons = FusionTrainingData(
        Scores(table, ("one",), np.zeros(2, np.int64)), np.zeros(2), ("a", "b"), {"0": {"b": 1}}
    )
    run = lessons.run(table[:, 0])["0"]
    assert run["a"] < run["b"] == pytest.approx(-5)
