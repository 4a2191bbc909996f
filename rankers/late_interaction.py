"""Late interaction: whether a passage covers every word of a question, by the vectors of their tokens.

    s_w = max_t cos(v_w, v_t),   c_w = clip((s_w − .2) / .5, 0, 1),   covered = −ln(Σ i_w · e^(−3 c_w) / Σ i_w) / 3

over the content words w of the question, with idf i_w, and the tokens t of the passage with its title and headings. A
word of the passage itself has c_w = 1, so that words count that the encoder does not know. ColBERT sums the
highest cosines (Khattab and Zaharia 2020, eq. 3); the soft minimum here asks for all words, because one that is not
covered ("first floor", of "second floor") is enough to doubt.

Vectors are states of a transformer's last layer, which depend on the context. A word's vector is the mean over its
tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray, Span

Shares = NDArray[np.float64]

UNRELATED, WIDTH = 0.2, 0.5
"""The cosine of unrelated words, and what is added to it for words of one meaning."""
SHARPNESS = 3.0
"""Of the soft minimum: 0 gives the mean, infinity the minimum."""


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Rows (N, D) scaled to length 1; zero rows stay."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-12), np.float32)


def word_vectors(states: FloatArray, tokens: Sequence[Span], words: Sequence[Span]) -> FloatArray:
    """Unit rows (W, D) of words: the mean state of the tokens inside each; a zero row for a word without tokens.

    Args:
        states: of the tokens of a text, (T, D).
        tokens: the span of each token in the text; empty for a special token.
        words: spans of the text.
    """
    rows = np.zeros((len(words), states.shape[1] if states.ndim > 1 else 0), np.float32)
    for row, (start, end) in enumerate(words):
        inside = [at for at, (first, last) in enumerate(tokens) if start <= first < last <= end]
        if inside:
            rows[row] = states[inside].mean(axis=0)
    return unit_rows(rows)


def word_cover(words: FloatArray, tokens: FloatArray, literal: Sequence[bool], absent: Sequence[bool] = ()) -> Shares:
    """How far a passage covers each word, c_w in [0, 1], (W,).

    Args:
        words: unit rows, (W, D).
        tokens: unit rows of the passage, (T, D).
        literal: whether the passage has the word itself, (W,).
        absent: whether the passage says nothing about the word, whatever its vector, (W,); nothing is absent if empty.
    """
    if not len(words):
        return np.zeros(0)
    # not `@`: the threads of BLAS wait actively on a busy machine
    cosines = np.einsum("wd,td->wt", words, tokens).max(axis=1) if len(tokens) else np.zeros(len(words))
    shares = np.where(literal, 1.0, np.clip((cosines - UNRELATED) / WIDTH, 0.0, 1.0))
    return np.where(absent, 0.0, shares) if len(absent) else shares


def soft_minimum(shares: Shares, weights: Sequence[float]) -> float:
    """Between the least share and the weighted mean; 0 for no shares.

    Args:
        shares: of the words, (W,).
        weights: above 0, (W,).
    """
    if not len(shares):
        return 0.0
    mean = float(np.average(np.exp(-SHARPNESS * shares), weights=weights))
    return float(-np.log(mean) / SHARPNESS)
