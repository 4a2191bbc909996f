from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.types import Candidate, Clue, FloatArray, Passage, Question, Signals, Source
from rankers.neural import NeuralRanker, TextPair, asked


class Lengths:
    """Scores a pair by the length of its passage, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[TextPair]] = []

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        self.asked.append(list(pairs))
        return np.array([len(passage) for _, passage in pairs], dtype=np.float32)


def candidate(text: str, score: float = 0.0) -> Candidate:
    return Candidate(Passage(text, text, Clue(), Source(text)), score, Signals(fused=score))


QUESTION = Question("why?", "all day")


def test_the_best_is_first_and_every_score_is_kept():
    scorer = Lengths()
    ranked = NeuralRanker("length", scorer).rank(
        QUESTION, [candidate("aa", 3), candidate("aaaa", 2), candidate("b", 1)]
    )
    assert [each.passage.text for each in ranked] == ["aaaa", "aa", "b"]
    assert [each.score for each in ranked] == [4, 2, 1]
    assert ranked[0].signals.by_name() == {"fusion": 2, "length": 4}
    assert {question for question, _ in scorer.asked[0]} == {"why? all day"} == {asked(QUESTION)}


def test_equal_scores_keep_their_order_and_what_lies_deeper_stays_behind():
    ranked = NeuralRanker("length", Lengths(), depth=2).rank(
        QUESTION, [candidate(each) for each in ("b", "a", "longer")]
    )
    assert [each.passage.text for each in ranked] == ["b", "a", "longer"]
    assert "length" not in ranked[2].signals.rankers


def test_batches_hold_passages_of_like_length():
    scorer = Lengths()
    NeuralRanker("length", scorer, batch=2).rank(QUESTION, [candidate("a" * n) for n in (9, 1, 8, 2, 5)])
    assert [[len(passage) for _, passage in batch] for batch in scorer.asked] == [[1, 2], [5, 8], [9]]


@pytest.mark.parametrize("batches", [0, 1])
def test_the_clock_is_looked_at_before_every_batch(batches: int):
    looks = iter(range(9))

    def check() -> None:
        if next(looks) >= batches:
            raise TimeoutError

    scorer = Lengths()
    with pytest.raises(TimeoutError):
        NeuralRanker("length", scorer, batch=2).rank(QUESTION, [candidate("a" * n) for n in range(5)], check=check)
    assert len(scorer.asked) == batches


def test_without_candidates_nothing_is_asked():
    scorer = Lengths()
    assert NeuralRanker("length", scorer).rank(QUESTION, []) == []
    assert scorer.asked == []


@given(st.lists(st.text(max_size=9), max_size=20), st.integers(1, 7), st.integers(1, 25))
def test_ranking_loses_nothing(texts: list[str], batch: int, depth: int):
    ranked = NeuralRanker("length", Lengths(), batch=batch, depth=depth).rank(QUESTION, list(map(candidate, texts)))
    assert sorted(each.passage.text for each in ranked) == sorted(texts)
    scores = [each.signals.rankers["length"] for each in ranked[:depth]]
    assert scores == sorted(scores, reverse=True)
