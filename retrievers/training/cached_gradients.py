"""Encodes large batches in little memory, a chunk at a time, by gradient caching (Gao et al. 2021).

Every chunk is first encoded without a graph, and the loss and its gradient are computed for the vectors. Then every
chunk is encoded again with a graph, which passes its share of the gradient on to the weights and is freed. This is
activation checkpointing with a chunk as segment: `backward` runs the second pass, and dropout draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from qa_core.networks.batching import batches, padded
from qa_core.types import IntArray, Side

Rows = Sequence[IntArray]
"""Token ids of texts, each (T,)."""


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Texts of one side to encode together: tokens (B, T) int64 and mask (B, T) bool."""

    tokens: Tensor
    mask: Tensor
    side: Side

    @classmethod
    def of(cls, rows: Rows, side: Side, device: torch.device) -> Self:
        ids, mask = padded(rows)
        return cls(torch.from_numpy(ids).to(device), torch.from_numpy(mask).bool().to(device), side)


def encoded(model: nn.Module, rows: Rows, *, side: Side, tokens: int) -> Tensor:
    """Vectors (N, D) of texts, in order; the graph of at most one chunk is in memory.

    Args:
        model: an encoder `(tokens, mask, side=…) -> (B, D)`.
        tokens: maximum of a chunk, padding included; a longer text is a chunk alone.
    """
    order = batches([len(row) for row in rows], tokens=tokens)
    device = next(model.parameters()).device
    chunks = (Chunk.of([rows[i] for i in members], side, device) for members in order)
    run = _plain if len(order) == 1 or not torch.is_grad_enabled() else _replayed
    vectors = torch.cat([run(model, chunk) for chunk in chunks])
    positions = torch.tensor([i for members in order for i in members], device=device)
    return vectors[positions.argsort()]


def _plain(model: nn.Module, chunk: Chunk) -> Tensor:
    vectors: Tensor = model(chunk.tokens, chunk.mask, side=chunk.side)
    return vectors


def _replayed(model: nn.Module, chunk: Chunk) -> Tensor:
    run: Callable[..., Tensor] = checkpoint
    return run(model, chunk.tokens, chunk.mask, side=chunk.side, use_reentrant=False)
