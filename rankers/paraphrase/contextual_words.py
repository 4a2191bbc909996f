"""Words in context: hidden states of a frozen transformer, used instead of word vectors.

Letters: B texts, T tokens of a text, C size of a hidden state, D size of a word vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from qa_core.types import FloatArray

States = NDArray[np.float16]
"""Hidden states (T, C) of a text."""


class Contextual(Protocol):
    """An encoder with hidden states, such as `qa_core.encoders.transformer_encoder.TransformerEncoder`."""

    @property
    def dimension(self) -> int: ...

    @property
    def fingerprint(self) -> str: ...

    def states(self, texts: Sequence[str]) -> list[FloatArray]:
        """Hidden states (T, C) of each text; T is 0 for a blank text."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """The encoder of the states and their scale."""

    size: int = 0  # C; 0 for word vectors instead
    encoder: str = ""  # name or folder of the encoder
    fingerprint: str = ""  # of the encoder in training
    scale: float = 4.0  # length of the word vectors


@dataclass(frozen=True, slots=True, eq=False)
class ContextReader:
    """Reads texts as truncated hidden states, in half precision because texts may be many."""

    encoder: Contextual
    max_tokens: int

    def rows(self, texts: Sequence[str]) -> list[States]:
        return [states[: self.max_tokens].astype(np.float16) for states in self.encoder.states(texts)]


class ContextEmbedding(nn.Module):
    """`E_pre = s · aA / |aA|` of a state `a`, with A (C, D) the principal axes of the states of training texts."""

    axes: Tensor

    def __init__(self, context: Context, dimension: int) -> None:
        super().__init__()
        self.scale = context.scale
        self.register_buffer("axes", torch.zeros(context.size, dimension))

    def forward(self, states: Tensor) -> Tensor:
        """(B, T, C) to (B, T, D)."""
        rows: Tensor = self.scale * functional.normalize(states.to(self.axes.dtype) @ self.axes, dim=-1)
        return rows

    def set_axes(self, rows: Sequence[States]) -> None:
        """Set the axes of largest variance of the states (without centring).

        Raises ValueError if the states have fewer axes than the dimension.
        """
        size, dimension = self.axes.shape
        if dimension > size:
            raise ValueError(f"Expected a dimension of at most {size}, as the states have, but got {dimension}.")
        states = np.concatenate([*rows, np.zeros((0, size), np.float16)]).astype(np.float64)
        _, axes = np.linalg.eigh(states.T @ states)  # ascending
        self.axes.copy_(torch.from_numpy(np.ascontiguousarray(axes[:, -dimension:])))


def pad_states(rows: Sequence[Any]) -> tuple[Tensor, Tensor]:
    """Pad states of texts to a batch (B, T, C) with mask (B, T); T is at least 1."""
    longest, size = max(1, *map(len, rows)), rows[0].shape[1]
    batch = np.zeros((len(rows), longest, size), dtype=np.float32)
    for i, row in enumerate(rows):
        batch[i, : len(row)] = row
    lengths = torch.tensor([len(row) for row in rows])
    return torch.from_numpy(batch), torch.arange(longest) < lengths.unsqueeze(1)
