"""Rows of tokens, padded by hand."""

import numpy as np

from qa_core.networks.token_rows import LEAST_TOKENS, PaddedRows, TokenRows


def rows(*ids: int) -> TokenRows:
    return TokenRows(np.array([[number, 1] for number in ids], np.float32), np.array(ids))


def test_padding_is_zero_and_masked() -> None:
    padded = PaddedRows.of([rows(2, 7, 3), rows(*range(1, LEAST_TOKENS + 2))])
    assert padded.ids.tolist() == [[2, 7, 3, *[0] * (LEAST_TOKENS - 2)], [*range(1, LEAST_TOKENS + 2)]]
    assert padded.mask.sum(1).tolist() == [3, LEAST_TOKENS + 1]
    assert padded.mask[0].tolist() == [True] * 3 + [False] * (LEAST_TOKENS - 2)
    np.testing.assert_array_equal(padded.states[0, :3], [[2, 1], [7, 1], [3, 1]])
    assert not padded.states[0, 3:].any()
    assert (padded.states.dtype, padded.ids.dtype) == (np.float32, np.int64)


def test_a_text_has_the_least_tokens() -> None:
    assert PaddedRows.of([rows(5)]).states.shape == (1, LEAST_TOKENS, 2)
