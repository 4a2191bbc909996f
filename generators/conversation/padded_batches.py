"""Word numbers of many texts to batches without much padding, and what models make of them row by row.

Sources of a batch have one length where there are enough of them, which needs no packing and so keeps a CPU's fast
kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn

from qa_core.networks.batching import batches, padded
from qa_core.networks.translator import Columns
from qa_core.types import FloatArray, IntArray

SourceTarget = tuple[IntArray, IntArray]
"""Numbers of a source's words and of a target's, which ends with `</s>`; of a language model the source is empty."""
TOKENS = 4_096
"""Positions of a batch that is scored."""


def shuffled_batches(rows: Sequence[SourceTarget], rng: np.random.Generator, *, size: int) -> Iterator[IntArray]:
    """Every place once, in batches of at most `size` rows with sources of one length; in random order.

    Rows of one source length are in order of the target's length, chance deciding among equals.
    """
    order = rng.permutation(len(rows))
    lengths = np.array([(len(source), len(target)) for source, target in rows]).reshape(-1, 2)[order]
    order = order[np.lexsort((lengths[:, 1], lengths[:, 0]))]
    sources = np.array([len(rows[place][0]) for place in order.tolist()])
    groups = np.split(order, np.flatnonzero(np.diff(sources)) + 1) if len(order) else []
    cut = [group[start : start + size] for group in groups for start in range(0, len(group), size)]
    for number in rng.permutation(len(cut)).tolist():
        yield cut[number]


def row_scores(rows: Sequence[SourceTarget], score: Callable[[Columns], Tensor], device: torch.device) -> FloatArray:
    """What `score` makes of each row, (N,), in batches of alike lengths and in the order of the rows."""
    found = np.zeros(len(rows), dtype=np.float32)
    for members in batches([len(source) + len(target) for source, target in rows], tokens=TOKENS):
        found[members] = score(Columns.of([rows[place] for place in members], device)).cpu().numpy()
    return found


def tensors(rows: Sequence[IntArray], device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows filled up with zeros (B, T), and the mask (B, T)."""
    ids, mask = padded(rows)
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).bool().to(device)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Without dropout and without gradients; afterwards as before."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)
