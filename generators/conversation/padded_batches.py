"""Word numbers of many texts to padded batches, and the scores that a network gives them row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from generators.inference.activations import Mask
from qa_core.networks.batching import batches, padded
from qa_core.types import FloatArray, IntArray

SourceTarget = tuple[IntArray, IntArray]
"""Word numbers of a source and of a target that ends with `</s>`; a language model has an empty source."""
TOKENS = 4_096
"""Positions of a batch that is scored."""


def shuffled_batches(rows: Sequence[SourceTarget], rng: np.random.Generator, *, size: int) -> Iterator[IntArray]:
    """Every row number once, in random batches of at most `size` rows with sources of one length.

    One length needs no packing, which would keep torch from its fast kernels on a CPU. Rows of one source length are
    in order of the target's length, equal ones in random order.
    """
    order = rng.permutation(len(rows))
    lengths = np.array([(len(source), len(target)) for source, target in rows]).reshape(-1, 2)[order]
    order = order[np.lexsort((lengths[:, 1], lengths[:, 0]))]
    sources = np.array([len(rows[row][0]) for row in order.tolist()])
    groups = np.split(order, np.flatnonzero(np.diff(sources)) + 1) if len(order) else []
    parts = [group[start : start + size] for group in groups for start in range(0, len(group), size)]
    for number in rng.permutation(len(parts)).tolist():
        yield parts[number]


def row_scores(rows: Sequence[SourceTarget], score: Callable[[Sequence[SourceTarget]], FloatArray]) -> FloatArray:
    """The score of each row, (N,), in the order of the rows; `score` gets batches of rows of similar lengths."""
    scores = np.zeros(len(rows), dtype=np.float32)
    for members in batches([len(source) + len(target) for source, target in rows], tokens=TOKENS):
        scores[members] = score([rows[row] for row in members])
    return scores


def columns(rows: Sequence[SourceTarget]) -> tuple[IntArray, Mask, IntArray, Mask]:
    """Padded sources (B, T), their mask, padded targets (B, Q) and their mask."""
    sources, targets = zip(*rows, strict=True)
    return *masked(sources), *masked(targets)


def masked(rows: Sequence[IntArray]) -> tuple[IntArray, Mask]:
    """Rows padded with zeros (B, T), and the mask (B, T)."""
    ids, mask = padded(rows)
    return ids, mask.astype(np.bool_)
