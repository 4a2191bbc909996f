"""Words in context: the hidden states of a transformer that stays as it is, in the place of word vectors E_pre.

Letters: B texts, T tokens of a text, C numbers of a hidden state, D of a word vector.
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
"""Of a text, (T, C)."""


class Contextual(Protocol):
    """What gives hidden states; `qa_core.encoders.transformer_encoder.TransformerEncoder` does."""

    @property
    def dimension(self) -> int: ...

    @property
    def fingerprint(self) -> str: ...

    def states(self, texts: Sequence[str]) -> list[FloatArray]:
        """Each text's hidden states (T, C); a blank text has none."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """Where the states come from; without it there are word vectors."""

    size: int = 0  # C; 0 for no context
    encoder: str = ""  # name or folder of the encoder
    fingerprint: str = ""  # of the encoder that was trained with
    scale: float = 4.0  # length of E_pre's rows


@dataclass(frozen=True, slots=True, eq=False)
class ContextReader:
    """Texts to hidden states, cut to those that count; in half precision, for there may be many texts."""

    encoder: Contextual
    max_tokens: int

    def rows(self, texts: Sequence[str]) -> list[States]:
        return [states[: self.max_tokens].astype(np.float16) for states in self.encoder.states(texts)]


class ContextEmbedding(nn.Module):
    """`E_pre = s · aA / |aA|` of a state `a`, with A (C, D) the principal axes of the training texts' states."""

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
        """Take the axes along which the states of texts are longest: as little as possible of them is lost.

        Raises ValueError where there are fewer axes than the dimension.
        """
        size, dimension = self.axes.shape
        if dimension > size:
            raise ValueError(f"Expected a dimension of at most {size}, as the states have, but got {dimension}.")
        states = np.concatenate([*rows, np.zeros((0, size), np.float16)]).astype(np.float64)
        _, axes = np.linalg.eigh(states.T @ states)  # ascending
        self.axes.copy_(torch.from_numpy(np.ascontiguousarray(axes[:, -dimension:])))


def pad_states(rows: Sequence[Any]) -> tuple[Tensor, Tensor]:
    """States of texts of unequal length to a batch (B, T, C) and its mask (B, T), T at least 1."""
    most, size = max(1, *map(len, rows)), rows[0].shape[1]
    batch = np.zeros((len(rows), most, size), dtype=np.float32)
    for place, row in enumerate(rows):
        batch[place, : len(row)] = row
    lengths = torch.tensor([len(row) for row in rows])
    return torch.from_numpy(batch), torch.arange(most) < lengths.unsqueeze(1)
