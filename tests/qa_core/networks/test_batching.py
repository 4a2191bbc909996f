import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qa_core.networks.batching import batches, padded


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 60))
def test_batches_hold_everything_once_and_keep_their_bound(lengths: list[int], tokens: int):
    results = batches(lengths, tokens=tokens)
    assert sorted(index for batch in results for index in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= tokens for batch in results)


def test_padding_is_zero_and_masked():
    ids, mask = padded([[7, 8], np.array([9]), []])
    assert ids.tolist() == [[7, 8], [9, 0], [0, 0]]
    assert mask.tolist() == [[1, 1], [1, 0], [0, 0]]
    assert padded([[]])[0].shape == (1, 1)
