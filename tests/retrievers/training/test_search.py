import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retrievers.training import search
from retrievers.training.search import Quality, first_ranks, nearest, quality


def test_ranks_by_hand():
    questions = np.eye(2, dtype=np.float32)
    answers = np.array([[0.9, 0.5], [0.8, 0.5], [0.1, 0.6]], dtype=np.float32)
    assert first_ranks(questions, answers, [[1], [0, 2]]).tolist() == [2, 1]
    assert quality(questions, answers, [[1], [0, 2]]) == Quality(0.5, 0.75)


def test_a_tie_counts_against_the_right_answer():
    same = np.ones((3, 2), dtype=np.float32)
    assert first_ranks(same[:1], same, [[0]]).tolist() == [3]
    assert first_ranks(same[:1], same, [[0, 1]]).tolist() == [2]


@given(st.integers(0, 1000), st.integers(1, 8), st.integers(1, 8), st.integers(1, 10))
def test_nearest_sorts_by_score(seed: int, n: int, m: int, k: int):
    rng = np.random.default_rng(seed)
    questions, answers = (rng.integers(-2, 3, size=(rows, 3)).astype(np.float32) for rows in (n, m))
    scores = questions @ answers.T
    ranked = nearest(questions, answers, k)
    assert ranked == [sorted(range(m), key=lambda a: (-row[a], a))[:k] for row in scores] or _ties_at_the_end(
        scores, ranked
    )


def _ties_at_the_end(scores: np.ndarray, ranked: list[list[int]]) -> bool:
    """The last answers may be any of several equally good ones, with the same scores."""
    return all(
        [row[a] for a in answers] == sorted(row.tolist(), reverse=True)[: len(answers)]
        for row, answers in zip(scores, ranked, strict=True)
    )


def test_blocks_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(0)
    questions, answers = (rng.normal(size=(rows, 4)).astype(np.float32) for rows in (7, 5))
    whole = nearest(questions, answers, 3)
    monkeypatch.setattr(search, "_CELLS", 10)
    assert nearest(questions, answers, 3) == whole
