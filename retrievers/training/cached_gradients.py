"""Large batches in little memory: the gradient of a loss over all texts of a batch, encoded a chunk at a time.

Gao et al. 2021 (gradient caching): every chunk is encoded without keeping a graph; the loss and its gradient are taken
at the vectors; then every chunk is encoded again, with a graph that lives no longer than the chunk, and passes its
share of the gradient on to the weights. This is activation checkpointing with the chunk as its segment, so that
`backward` does the second pass by itself, and dropout draws the same numbers both times.
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
    """Texts of one side that are encoded together: tokens (B, T) int64 and mask (B, T) bool."""

    tokens: Tensor
    mask: Tensor
    side: Side

    @classmethod
    def of(cls, rows: Rows, side: Side, device: torch.device) -> Self:
        ids, mask = padded(rows)
        return cls(torch.from_numpy(ids).to(device), torch.from_numpy(mask).bool().to(device), side)


def encoded(model: nn.Module, rows: Rows, *, side: Side, tokens: int) -> Tensor:
    """Vectors (N, D) of texts in their order; the graph of no more than one chunk is alive at any time.

    Args:
        model: an encoder `(tokens, mask, side=…) -> (B, D)`.
        tokens: of a chunk at most, padding included; only a single longer text passes it.
    """
    order = batches([len(row) for row in rows], tokens=tokens)
    device = next(model.parameters()).device
    chunks = (Chunk.of([rows[i] for i in members], side, device) for members in order)
    run = _kept if len(order) == 1 or not torch.is_grad_enabled() else _replayed
    vectors = torch.cat([run(model, chunk) for chunk in chunks])
    places = torch.tensor([i for members in order for i in members], device=device)
    return vectors[places.argsort()]


def _kept(model: nn.Module, chunk: Chunk) -> Tensor:
    vectors: Tensor = model(chunk.tokens, chunk.mask, side=chunk.side)
    return vectors


def _replayed(model: nn.Module, chunk: Chunk) -> Tensor:
    run: Callable[..., Tensor] = checkpoint
    return run(model, chunk.tokens, chunk.mask, side=chunk.side, use_reentrant=False)
