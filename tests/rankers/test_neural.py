from collections.abc import Sequence
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.types import Candidate, Clue, FloatArray, Passage, Question, Signals, Source
from rankers.neural import NeuralRanker, TextPair, full_question


class Lengths:
    """Scores a pair by the length of its passage, and records the batches."""

    def __init__(self) -> None:
        self.batches: list[list[TextPair]] = []

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        self.batches.append(list(pairs))
        return np.array([len(passage) for _, passage in pairs], dtype=np.float32)


def candidate(text: str, score: float = 0.0) -> Candidate:
    return Candidate(Passage(text, text, Clue(), Source(text)), score, Signals(fused=score))


QUESTION = Question("why?", "all day")


def test_candidates_are_sorted_and_keep_their_signals():
    scorer = Lengths()
    ranked = NeuralRanker("length", scorer).rank(
        QUESTION, [candidate("aa", 3), candidate("aaaa", 2), candidate("b", 1)]
    )
    assert [c.passage.text for c in ranked] == ["aaaa", "aa", "b"]
    assert [c.score for c in ranked] == [4, 2, 1]
    assert ranked[0].signals.by_name() == {"fusion": 2, "length": 4}
    assert {question for question, _ in scorer.batches[0]} == {"why? all day"} == {full_question(QUESTION)}


@pytest.mark.parametrize(
    ("asks", "question", "read"),
    [
        ("title", QUESTION, "why?"),
        ("body", QUESTION, "all day"),
        ("both", QUESTION, "why? all day"),
        ("body", Question("why?"), "why?"),
        ("title", Question(" ", "all day"), "  all day"),
    ],
)
def test_a_ranker_reads_its_part_of_the_question(asks, question, read):
    scorer = Lengths()
    NeuralRanker("length", scorer, asks=asks).rank(question, [candidate("a")])
    assert scorer.batches == [[(read, "a")]]


def test_equal_scores_keep_their_order_and_deeper_candidates_follow():
    ranked = NeuralRanker("length", Lengths(), depth=2).rank(
        QUESTION, [candidate(text) for text in ("b", "a", "longer")]
    )
    assert [c.passage.text for c in ranked] == ["b", "a", "longer"]
    assert "length" not in ranked[2].signals.rankers


def test_batches_hold_passages_of_similar_length():
    scorer = Lengths()
    NeuralRanker("length", scorer, batch=2).rank(QUESTION, [candidate("a" * n) for n in (9, 1, 8, 2, 5)])
    assert [[len(passage) for _, passage in batch] for batch in scorer.batches] == [[1, 2], [5, 8], [9]]


@pytest.mark.parametrize("batches", [0, 1])
def test_the_deadline_is_checked_before_every_batch(batches: int):
    scorer, check = Lengths(), Mock(side_effect=[None] * batches + [TimeoutError])
    with pytest.raises(TimeoutError):
        NeuralRanker("length", scorer, batch=2).rank(QUESTION, [candidate("a" * n) for n in range(5)], check=check)
    assert len(scorer.batches) == batches


def test_without_candidates_nothing_is_scored():
    scorer = Lengths()
    assert NeuralRanker("length", scorer).rank(QUESTION, []) == []
    assert scorer.batches == []


@given(st.lists(st.text(max_size=9), max_size=20), st.integers(1, 7), st.integers(1, 25))
def test_ranking_keeps_all_candidates(texts: list[str], batch: int, depth: int):
    ranked = NeuralRanker("length", Lengths(), batch=batch, depth=depth).rank(QUESTION, list(map(candidate, texts)))
    assert sorted(c.passage.text for c in ranked) == sorted(texts)
    scores = [c.signals.rankers["length"] for c in ranked[:depth]]
    assert scores == sorted(scores, reverse=True)
