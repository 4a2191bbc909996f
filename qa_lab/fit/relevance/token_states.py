"""States of the tokens of many texts, encoded once and mapped from disk: 8 bits a number, since they are many.

An encoding that was stopped goes on where it stood.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from qa_core.networks.token_rows import PaddedRows, TokenRows
from qa_core.types import FloatArray, IntArray
from qa_lab.fit.distil_starter import say
from rankers.late_interaction import unit_rows

_AT_ONCE = 512  # texts between reports
_LARGEST = 127.0
_SAMPLE = 20_000  # tokens that give the mean


class StatesEncoder(Protocol):
    """A transformer that gives the states and the ids of its tokens."""

    @property
    def dimension(self) -> int: ...

    def states(self, texts: Sequence[str]) -> list[FloatArray]: ...

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]: ...


@dataclass(frozen=True, slots=True)
class TokenStates:
    """Text `i` has the tokens `bounds[i]` to `bounds[i + 1]`."""

    places: dict[str, int]
    bounds: IntArray  # (N + 1,)
    rows: NDArray[np.int8]  # (tokens, D), each up to 127
    ids: NDArray[np.uint16]  # (tokens,)

    @classmethod
    def of(cls, texts: Sequence[str], encoder: StatesEncoder, folder: Path) -> Self:
        """Encode the texts that the folder lacks, and map all."""
        texts = list(dict.fromkeys(texts))
        ids = encoder.token_ids(texts)
        bounds = np.cumsum([0, *map(len, ids)])
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"states-{_digest(texts)}.int8"
        _write(texts, bounds, encoder.states, path, encoder.dimension)
        rows = np.memmap(path, np.int8, "r", shape=(int(bounds[-1]), encoder.dimension))
        places = {text: place for place, text in enumerate(texts)}
        return cls(places, bounds, rows, np.concatenate([np.array(row, np.uint16) for row in ids]))

    def lengths(self, places: Sequence[int] | IntArray) -> IntArray:
        """Tokens of the texts at these places."""
        return np.diff(self.bounds)[np.asarray(places, np.int64)]

    def centre(self) -> FloatArray:
        """The mean (D,) of the unit rows of every so many tokens."""
        sample = self.rows[:: max(1, len(self.rows) // _SAMPLE)].astype(np.float32)
        mean: FloatArray = unit_rows(sample).mean(axis=0)
        return mean

    def padded(self, places: Sequence[int]) -> PaddedRows:
        """The texts at these places."""
        return PaddedRows.of([self._row(place) for place in places])

    def _row(self, place: int) -> TokenRows:
        tokens = slice(self.bounds[place], self.bounds[place + 1])
        return TokenRows(unit_rows(self.rows[tokens].astype(np.float32)), self.ids[tokens].astype(np.int64))


def _write(
    texts: Sequence[str], bounds: IntArray, states: Callable[[Sequence[str]], list[FloatArray]], path: Path, size: int
) -> None:
    """Append the states of the texts that the file lacks, in their order."""
    written = path.stat().st_size // size if path.exists() else 0
    first = (int(np.searchsorted(bounds, written, "right")) - 1) // _AT_ONCE * _AT_ONCE
    if written == bounds[-1]:
        return
    with path.open("ab") as file, ThreadPoolExecutor(os.cpu_count()) as workers:
        file.truncate(int(bounds[first]) * size)  # a part of those at once may have been written
        for start in range(first, len(texts), _AT_ONCE):
            for (hidden,) in workers.map(states, ([text] for text in texts[start : start + _AT_ONCE])):
                scale = np.abs(hidden).max(axis=1, keepdims=True) / _LARGEST
                file.write(np.rint(hidden / np.maximum(scale, 1e-12)).astype(np.int8).tobytes())
            say(f"{min(start + _AT_ONCE, len(texts)):,} of {len(texts):,} texts encoded")


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]
