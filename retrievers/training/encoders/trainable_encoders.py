"""The role of a trainable encoder for dense search: its network, its tokenisation and its folder."""

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
"""Occurrences in the training texts from which on a word gets a row in a table of tokens."""


class Tower(Protocol):
    """An encoder of questions and answers that can be trained and saved."""

    @property
    def model(self) -> nn.Module:
        """`(tokens (B, T), mask (B, T), side=…) -> (B, D)`, unit vectors."""
        ...

    @property
    def chunk(self) -> int:
        """Tokens to encode at a time, padding included, in about a gigabyte of memory."""
        ...

    def rows(self, texts: Sequence[str], *, side: Side) -> list[IntArray]:
        """Token ids (T,) of each text."""
        ...

    def save(self, folder: Path, *, card: str, made_with: Mapping[str, object]) -> None:
        """Write a folder that qa-bot opens as an encoder."""
        ...


def vectors(tower: Tower, texts: Sequence[str], *, side: Side) -> FloatArray:
    """Vectors (N, D) by the current weights, without dropout."""
    was_training = tower.model.training
    tower.model.eval()
    with torch.no_grad():
        outputs = encoded(tower.model, tower.rows(texts, side=side), side=side, tokens=tower.chunk)
    tower.model.train(was_training)
    rows: FloatArray = outputs.cpu().numpy()
    return rows


def counted(texts: Iterable[str]) -> Counter[str]:
    """Occurrences of each word in the texts."""
    return Counter(word for text in texts for word in words(text))
