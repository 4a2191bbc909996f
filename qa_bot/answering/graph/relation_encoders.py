"""Encoders whose vectors a scorer of relations reads side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from qa_bot.home.encoders import resolve
from qa_core.types import Encoder, FloatArray


@dataclass(frozen=True, slots=True)
class ConcatenatedEncoder:
    """The vectors of several encoders as one of length 1, in which each has an equal share."""

    encoders: tuple[Encoder, ...]

    @property
    def fingerprint(self) -> str:
        return "+".join(each.fingerprint for each in self.encoders)

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """(N, D), where D is the sum of all dimensions."""
        rows = np.concatenate([each.encode(texts) for each in self.encoders], axis=1)
        return (rows / np.float32(len(self.encoders) ** 0.5)).astype(np.float32)


def open_encoders(names: str, *, models: Path) -> ConcatenatedEncoder:
    """Encoders by names with commas between; `models` holds those that were fetched. Raises EncoderError."""
    return ConcatenatedEncoder(tuple(resolve(name.strip(), models=models) for name in names.split(",")))


def display_names(names: str) -> str:
    """The names without their folders, for a card."""
    return ", ".join(Path(name.strip()).name for name in names.split(","))
