from math import log, sqrt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.evaluate.tfidf import TfIdf


def test_by_hand():
    """`a` stands in all three texts (idf 1), `b` in two, `c` in one."""
    index = TfIdf.of(["a b", "a b b c", "a"], str.split)
    b, c = log(4 / 3) + 1, log(4 / 2) + 1
    assert index.idf == {"a": 1, "b": b, "c": c}
    places, weights = index.postings["b"]
    assert places.tolist() == [0, 1]
    np.testing.assert_allclose(weights, [b / sqrt(1 + b**2), 2 * b / sqrt(1 + 4 * b**2 + c**2)], rtol=1e-6)
    assert index.search("c d", 5).tolist() == [1]
    assert index.search("a", 2).tolist() == [2, 0]
    assert index.search("d", 5).tolist() == []


texts = st.lists(st.text(alphabet="abcd ", max_size=12), min_size=1, max_size=12)


@given(texts, st.text(alphabet="abcd ", max_size=12), st.integers(1, 15))
def test_it_ranks_as_dense_vectors_do(corpus: list[str], query: str, k: int):
    index = TfIdf.of(corpus, str.split)
    terms = sorted(index.idf)

    def vector(text: str) -> np.ndarray:
        found = np.array([text.split().count(term) * index.idf[term] for term in terms])
        return found / (np.linalg.norm(found) or 1)

    cosines = np.array([vector(text) @ vector(query) for text in corpus])
    found = index.search(query, k)
    assert len(found) == min(k, np.count_nonzero(cosines))
    np.testing.assert_allclose(cosines[found], np.sort(cosines)[::-1][: len(found)], atol=1e-6)
