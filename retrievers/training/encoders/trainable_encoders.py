"""What a dense encoder needs to be trained: a network, its reading of texts, and its folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import torch
from torch import nn

from qa_core.text.analysis import words
from qa_core.types import FloatArray, IntArray, Side
from retrievers.training.cached_gradients import encoded

SEEN_OFTEN = 5
"""Times a word has to stand in the training texts to count as in vocabulary."""


class Tower(Protocol):
    """An encoder of both sides that can be trained and saved."""

    @property
    def model(self) -> nn.Module:
        """`(tokens (B, T), mask (B, T), side=…) -> (B, D)`, unit vectors."""
        ...

    @property
    def chunk(self) -> int:
        """Tokens to encode at once, padding included, so that memory stays within a gigabyte or so."""
        ...

    def rows(self, texts: Sequence[str], *, side: Side) -> list[IntArray]:
        """Token ids (T,) of each text."""
        ...

    def save(self, folder: Path, *, card: str, made_with: Mapping[str, object]) -> None:
        """Write a folder that the product opens as an encoder."""
        ...


def vectors(tower: Tower, texts: Sequence[str], *, side: Side) -> FloatArray:
    """Vectors (N, D) of the present weights, without dropout."""
    was_training = tower.model.training
    tower.model.eval()
    with torch.no_grad():
        found: FloatArray = (
            encoded(tower.model, tower.rows(texts, side=side), side=side, tokens=tower.chunk).cpu().numpy()
        )
    tower.model.train(was_training)
    return found


def counted(texts: Iterable[str]) -> Counter[str]:
    """How often each word stands in the texts."""
    return Counter(word for text in texts for word in words(text))
