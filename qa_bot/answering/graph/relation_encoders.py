"""Several encoders as one, for relation scorers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from qa_bot.home.encoders import resolve
from qa_core.types import Encoder, FloatArray


@dataclass(frozen=True, slots=True)
class ConcatenatedEncoder:
    """Concatenates the vectors of several encoders, with equal weights and length 1."""

    encoders: tuple[Encoder, ...]

    @property
    def fingerprint(self) -> str:
        return "+".join(encoder.fingerprint for encoder in self.encoders)

    @property
    def extends(self) -> Collection[str]:
        """The fingerprints of all combinations that give English texts the same vectors."""
        alike = [(encoder.fingerprint, *encoder.extends) for encoder in self.encoders]
        return {"+".join(fingerprints) for fingerprints in product(*alike)}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """(N, D), where D is the sum of the dimensions."""
        rows = np.concatenate([encoder.encode(texts) for encoder in self.encoders], axis=1)
        return (rows / np.float32(len(self.encoders) ** 0.5)).astype(np.float32)


def open_encoders(names: str, *, models: Path) -> ConcatenatedEncoder:
    """Open encoders by comma-separated names; `models` is the folder of fetched ones. Raises EncoderError."""
    return ConcatenatedEncoder(tuple(resolve(name.strip(), models=models) for name in names.split(",")))


def display_names(names: str) -> str:
    """The names without their folders, for a card."""
    return ", ".join(Path(name.strip()).name for name in names.split(","))
