"""An encoder whose tokens are letters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qa_core.types import FloatArray

SIZE = 6


class Letters:
    """A token is a letter, whose state is larger in longer texts; lists the texts that it encodes."""

    dimension = SIZE

    def __init__(self, fails_at: str | None = None) -> None:
        """`fails_at` cannot be encoded."""
        self.read: list[str] = []
        self._fails_at = fails_at

    def states(self, texts: Sequence[str]) -> list[FloatArray]:
        self.read += texts
        if self._fails_at in texts:
            raise KeyboardInterrupt
        return [_state_of(text) for text in texts]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [[*map(ord, text)] for text in texts]


def _state_of(text: str) -> FloatArray:
    rows = [np.random.default_rng(ord(letter)).normal(size=SIZE) * len(text) for letter in text]
    return np.array(rows, np.float32).reshape(-1, SIZE)
