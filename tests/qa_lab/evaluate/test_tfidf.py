from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.evaluate.tfidf import TfIdf


def test_by_hand():
    """`a` is in all three texts (idf 1), `b` in two, `c` in one."""
    index = TfIdf(["a b", "a b b c", "a"], str.split)
    b, c = log(4 / 3) + 1, log(4 / 2) + 1
    assert index.idf == pytest.approx({"a": 1, "b": b, "c": c})
    assert b / sqrt(1 + b**2) < 2 * b / sqrt(1 + 4 * b**2 + c**2)
    assert index.search("b", 5).tolist() == [1, 0]
    assert index.search("c d", 5).tolist() == [1]
    assert index.search("a", 2).tolist() == [2, 0]
    assert index.search("d", 5).tolist() == []


texts = st.lists(st.text(alphabet="abcd ", max_size=12), min_size=1, max_size=12).filter(
    lambda texts: "".join(texts).strip()
)


@given(texts, st.text(alphabet="abcd ", max_size=12), st.integers(1, 15))
def test_it_ranks_like_dense_vectors(corpus: list[str], query: str, k: int):
    index = TfIdf(corpus, str.split)
    terms = sorted(index.idf)

    def vector(text: str) -> np.ndarray:
        weights = np.array([text.split().count(term) * index.idf[term] for term in terms])
        return weights / (np.linalg.norm(weights) or 1)

    cosines = np.array([vector(text) @ vector(query) for text in corpus])
    matches = index.search(query, k)
    assert len(matches) == min(k, np.count_nonzero(cosines))
    np.testing.assert_allclose(cosines[matches], np.sort(cosines)[::-1][: len(matches)], atol=1e-6)
