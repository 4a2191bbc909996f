"""Rows of the tokens of texts, as `qa_core/training/interaction_network.py` reads them; needs no torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray, IntArray

LEAST_TOKENS = 8
"""Of a padded text: the network reads the highest cosines of a token, and neighbours of matches."""


class TokenRows(NamedTuple):
    """Unit rows (T, D) and ids (T,) of the tokens of a text, special tokens included."""

    states: FloatArray
    ids: IntArray


class PaddedRows(NamedTuple):
    """Unit rows (B, T, D) of texts, which tokens are real (B, T), and their ids (B, T); `LEAST_TOKENS` at least."""

    states: FloatArray
    mask: NDArray[np.bool_]
    ids: IntArray

    @classmethod
    def of(cls, rows: Sequence[TokenRows]) -> Self:
        lengths = np.array([len(row.ids) for row in rows])
        length = max(LEAST_TOKENS, int(lengths.max()))
        states = np.zeros((len(rows), length, rows[0].states.shape[1]), np.float32)
        ids = np.zeros((len(rows), length), np.int64)
        for at, row in enumerate(rows):
            states[at, : len(row.ids)], ids[at, : len(row.ids)] = row
        return cls(states, np.arange(length) < lengths[:, None], ids)
