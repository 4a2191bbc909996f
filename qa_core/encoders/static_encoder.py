"""Encodes a text as the weighted mean of its tokens' vectors: without network or torch, in tens of microseconds.

Distilled vectors: Tulkens and van Dongen 2024 (model2vec); weighting: Arora et al. 2017, eq. 3.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from qa_core.encoders.mapped_tensors import map_tensors
from qa_core.encoders.sentence_layout import read_object
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.types import FloatArray, IntArray, Side

KIND = "static"
_BATCH = 512  # texts: their token rows fit the processor's cache
_TOKENS = 2_048  # rows gathered at once, 2 MB: eight times as many take twice the time, for new memory each time
_LONGEST = 8_192  # tokens read of a text, a bound on memory


@dataclass(frozen=True, slots=True)
class StaticEncoder:
    """Unit vectors `Σ w_t E_t / |Σ w_t E_t|` over a text's tokens `t`; a zero row if no token has a vector.

    `table` is (V, D), float16 or int8; `scale` (V,) is the weight of each row, times its quantisation step for int8.
    """

    quick: ClassVar[bool] = True

    tokeniser: SubwordTokeniser
    table: NDArray[Any]
    scale: FloatArray
    fingerprint: str
    extends: frozenset[str] = frozenset()

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Map a folder of `config.json`, `tokenizer.json` and `model.safetensors` (`vectors`, optionally `scale`)."""
        tensors = map_tensors(folder / "model.safetensors")
        tokeniser = SubwordTokeniser.load(folder, max_length=_LONGEST)
        table, scale = tensors.get("vectors"), tensors.get("scale")
        if table is None or table.ndim != 2:
            raise ValueError(
                f"Expected a matrix 'vectors' in {folder / 'model.safetensors'}, but got none; fetch it again."
            )
        _check(folder, table, scale, tokeniser.size)
        weights = np.ones(len(table), dtype=np.float32) if scale is None else scale.astype(np.float32)
        extends = frozenset(read_object(folder / "config.json").get("extends", ()))
        return cls(tokeniser, table, weights, fingerprint(folder), extends)

    @property
    def dimension(self) -> int:
        return int(self.table.shape[1])

    def encode(self, texts: Sequence[str], *, side: Side = "question") -> FloatArray:  # noqa: ARG002 (one table, both sides)
        """Rows of unit length, (N, D) float32; zero rows for texts without a known token."""
        sums = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            ids, lengths = self.tokeniser.flat(texts[start : start + _BATCH])
            self._add(ids, lengths, sums[start : start + _BATCH])
        return _unit(sums)

    def knows(self, word: str) -> bool:
        return self.tokeniser.knows(word)

    def _add(self, ids: IntArray, lengths: IntArray, sums: FloatArray) -> None:
        """Add the token rows of each text to `sums` (N, D), in place; `ids` (T,), `lengths` (N,)."""
        bounds = np.concatenate([[0], np.cumsum(lengths)]).tolist()
        for first, last in _slices(bounds):
            begin = bounds[first]
            part = ids[begin : bounds[last]]
            rows = self.table[part].astype(np.float32)  # (T, D)
            weights = self.scale[part]  # (T,)
            for text in range(first, last):  # one small product per text: np.add.reduceat takes four times as long
                tokens = slice(bounds[text] - begin, bounds[text + 1] - begin)
                np.dot(weights[tokens], rows[tokens], out=sums[text])


def fingerprint(folder: Path) -> str:
    """sha256 over configuration, tokeniser and weights.

    The sum of the weights is read from `weights_sha256` in `config.json` if it is there (`weights_match` verifies it),
    because hashing them at every start would take longer than the rest of the loading.
    """
    stated = read_object(folder / "config.json").get("weights_sha256") or sha256(folder / "model.safetensors")
    settings = [(folder / name).read_bytes() for name in ("config.json", "tokenizer.json")]
    parts = (*settings, str(stated).encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def weights_match(folder: Path) -> bool:
    """Whether the weights have the sum in `config.json`; true if it has none."""
    stated = read_object(folder / "config.json").get("weights_sha256")
    return stated is None or stated == sha256(folder / "model.safetensors")


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check(folder: Path, table: NDArray[Any], scale: NDArray[Any] | None, vocabulary: int) -> None:
    path = folder / "model.safetensors"
    if len(table) != vocabulary:
        raise ValueError(
            f"Expected {vocabulary} rows in {path}, one for each token of its tokenizer.json, but got {len(table)};"
            " take both files from the same encoder."
        )
    if scale is not None and scale.shape != (len(table),):
        raise ValueError(f"Expected 'scale' of shape [{len(table)}] in {path}, but got {list(scale.shape)}.")


def _slices(bounds: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ranges [first, last) of consecutive texts with about `_TOKENS` tokens; text `i` ends at `bounds[i + 1]`."""
    first = 0
    while first < len(bounds) - 1:
        last = max(first + 1, bisect_right(bounds, bounds[first] + _TOKENS) - 1)
        yield first, last
        first = last


def _unit(rows: FloatArray) -> FloatArray:
    norms = np.sqrt(np.einsum("nd,nd->n", rows, rows))  # (N,)
    norms[norms == 0] = 1
    rows /= norms[:, None]
    return rows
