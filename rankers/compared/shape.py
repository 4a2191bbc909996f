"""Sizes of a compared network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Network = Literal["mp-cnn", "lstm", "ntn-lstm", "cntn", "arc-i", "arc-ii", "ai-cnn"]


@dataclass(frozen=True, slots=True)
class ComparedShape:
    """Each network reads the sizes that it has."""

    network: Network = "mp-cnn"
    hidden: int = 100  # of the layer before the score, and of an LSTM
    filters: int = 64  # of a convolution
    single: int = 2  # filters of each dimension of a word vector
    slices: int = 5  # of a tensor
    window: int = 3  # words of a filter, at most
    dropout: float = 0.0  # of that layer
    max_words: int = 64  # of a text, read


def check_shape(shape: ComparedShape) -> None:
    """Raises ValueError for impossible sizes."""
    sizes = ("hidden", "filters", "single", "slices", "window", "max_words")
    wrong = [f"{name} = {getattr(shape, name)}" for name in sizes if getattr(shape, name) < 1]
    wrong += [] if 0 <= shape.dropout < 1 else [f"dropout = {shape.dropout}"]
    if wrong:
        raise ValueError(f"Expected positive sizes and a dropout below 1, but got {', '.join(wrong)}.")
