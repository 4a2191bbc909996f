import math

import numpy as np
import pytest

from qa_core.measures.metrics import Score
from qa_lab.studies.ngrams import Ngrams
from qa_lab.studies.study_measures import (
    by_question,
    cosines,
    fluency,
    length,
    perplexity,
    rank_of,
    relevance,
    variety,
)

BACKWARD = {(1, 10): -1.0, (1, 20): -2.0, (1, 30): -9.0, (2, 10): -1.0, (2, 20): -1.0, (2, 30): -4.0}
LANGUAGE = {10: -1.0, 20: -3.0, 30: -6.0}


class Table:
    """A stub chat model: words are numbers; the tables give `log p(S|T)` and `log p(S)`."""

    def backward_row(self, turns, reply):
        return np.zeros(0, np.int64), np.array([int(turns[-1])])

    def target(self, text):
        return np.array([int(text), 0])

    def enclosed(self, words):
        return words

    def log_language(self, rows):
        return np.array([LANGUAGE[int(target[0])] for _, target in rows], np.float32)

    def log_backward(self, rows):
        return np.array([BACKWARD[int(source[0]), int(target[0])] for source, target in rows], np.float32)


def test_relevance_by_hand():
    """`log p(S|T) − log p(S)` of questions 10, 20, 30 is 0, 1, −3 for reply 1 and 0, 2, 2 for reply 2."""
    score = relevance(Table(), ["10", "20", "30"], [["1", "2"], ["1"], ["2"]])
    assert list(score.per_query.values()) == pytest.approx([(1 / 2 + 1 / 3) / 2, 1, 1 / 1.5])
    assert score.mean == pytest.approx(np.mean([5 / 12, 1, 2 / 3]))


def test_ranks_by_hand():
    scores = np.array([3.0, 5.0, 3.0, 3.0, 1.0])
    assert [rank_of(scores, index) for index in range(5)] == [3, 1, 3, 3, 5]


def test_variety_by_hand():
    """Of the words a b c . a b four of six are distinct, of the pairs a-b b-c c-. a-b three of four."""
    replies = [["a b c.", ""], ["a b"], []]
    assert variety(replies, 1).mean == 4 / 6
    assert variety(replies, 2).mean == 3 / 4
    halves = [["a b c d"], ["a b"]]
    assert variety(halves, 1).standard_error == 0  # distinct without either
    uneven = [["a a"], ["b c"]]
    assert variety(uneven, 1).mean == 3 / 4  # without the second 1/2, without the first 1
    assert variety(uneven, 1).standard_error == pytest.approx(math.sqrt(1 / 2 * 2 * 0.25**2))
    assert math.isnan(variety([["a"]], 1).standard_error)


def test_fluency_is_the_mean_by_question():
    model = Ngrams.of([["a", "b"], ["a", "c"]], order=2)
    near, far = model.surprise(["a", "b"]), model.surprise(["c", "a"])
    score = fluency([["A b", "c a"], ["a b"]], model)
    assert list(score.per_query.values()) == pytest.approx([(near + far) / 2, near])
    result = perplexity(score)
    assert result.mean == pytest.approx(math.exp(score.mean))
    assert result.standard_error == pytest.approx(result.mean * score.standard_error)
    assert math.isnan(perplexity(Score(1.0, math.nan, {})).standard_error)


def test_topic_and_length():
    vectors = {"x": np.array([1.0, 0.0]), "y": np.array([0.6, 0.8]), "z": np.array([0.0, 1.0])}
    score = cosines(vectors, [["x", "z"], ["y"]], ["y", "x"])
    assert list(score.per_query.values()) == pytest.approx([(0.6 + 0.8) / 2, 0.6])
    assert length([["Don't go!", "a"], ["b c"]]).mean == pytest.approx((2.5 + 2) / 2)
    assert by_question([[1, 0, 0], [1, 1, 1]]).mean == pytest.approx(2 / 3)
