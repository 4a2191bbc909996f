"""Word vectors in memory or memory-mapped, read from the published formats; nearest words."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from qa_core.atomic import atomic_file
from qa_core.types import FloatArray
from qa_core.vectors import formats
from qa_core.vectors.formats import Format, Row, detect

_SAMPLE = 1 << 20  # bytes of either end of a file that its cache key covers


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Distinct words and their vectors, the rows of a matrix (V, D) float32."""

    words: tuple[str, ...]
    matrix: FloatArray

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.words):
            raise ValueError(f"Expected a matrix ({len(self.words)}, D), but got one of shape {self.matrix.shape}.")

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    @property
    def dimension(self) -> int:
        return int(self.matrix.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    def vector(self, word: str) -> FloatArray:
        """The vector of a word, (D,). Raises KeyError for an unknown word."""
        if word not in self.index:
            raise KeyError(f"Expected a word with a vector, but got {word!r}; {len(self)} words have one.")
        row: FloatArray = self.matrix[self.index[word]]
        return row

    def rows(self, words: Sequence[str]) -> FloatArray:
        """Vectors (N, D) float32 of N words, zero for unknown ones."""
        rows = np.zeros((len(words), self.dimension), dtype=np.float32)
        for row, word in enumerate(words):
            if word in self.index:
                rows[row] = self.matrix[self.index[word]]
        return rows

    def cosine(self, a: str, b: str) -> float:
        """Cosine of two words, 0 if a vector is zero. Raises KeyError for an unknown word."""
        u, v = self.vector(a), self.vector(b)
        norms = float(np.linalg.norm(u) * np.linalg.norm(v))
        return float(u @ v) / norms if norms else 0.0

    def nearest(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """The k other words with the highest cosine, best first, ties in the order of the words."""
        if k < 1:
            raise ValueError(f"Expected k of at least 1, but got {k}.")
        query = self.vector(word)
        norms = self._norms * np.linalg.norm(query)
        scores = self.matrix @ query / np.maximum(norms, np.finfo(np.float32).tiny)  # (V,)
        scores[self.index[word]] = -np.inf
        order = np.argsort(-scores, kind="stable")[: min(k, len(self) - 1)]
        return [(self.words[row], float(scores[row])) for row in order]

    @cached_property
    def _norms(self) -> FloatArray:
        norms: FloatArray = np.linalg.norm(self.matrix, axis=1)
        return norms


def read_vectors(
    path: Path,
    *,
    kind: Format | None = None,
    only: Collection[str] | None = None,
    limit: int | None = None,
    cache: Path | None = None,
) -> WordVectors:
    """Read GloVe text, word2vec text or binary, or fastText `.vec`, plain or gzipped.

    Args:
        path: the file; it is never changed.
        kind: its format; guessed from its first lines by default.
        only: words to keep; others are skipped without parsing.
        limit: keep the first `limit` words (files are in order of frequency).
        cache: folder for a memory-mapped copy, which makes the next call with the same arguments instant. The copy is
            stale if the file's size, modification time, or first or last MiB differ.

    A repeated word keeps its first vector; a warning says how many were left out. Raises ValueError with file and
    position for other damage.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"Expected a limit of at least 1 word, but got {limit}.")
    selection = None if only is None else frozenset(only)
    if cache is None:
        return _read(path, kind=kind, only=selection, limit=limit)
    stem = cache / f"{path.name}-{_key(path, kind, selection, limit)}"
    vectors = _cached(stem)
    if vectors is None:
        _store(_read(path, kind=kind, only=selection, limit=limit), stem)
        vectors = _cached(stem)
        assert vectors is not None, stem
    return vectors


def write_glove(vectors: WordVectors, path: Path) -> None:
    """Write GloVe text; nine digits restore every float32. Raises ValueError for a word that GloVe cannot hold."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for word, vector in zip(vectors.words, vectors.matrix, strict=True):
            if word != word.strip(" \r\n") or "\n" in word or not word:
                raise ValueError(f"Expected a word that fits a line of {path}, but got {word!r}; leave it out.")
            file.write(f"{word} {' '.join(f'{number:.9g}' for number in vector.tolist())}\n")


def _read(path: Path, *, kind: Format | None, only: frozenset[str] | None, limit: int | None) -> WordVectors:
    seen: set[str] = {""}
    left_out = 0

    def new_rows() -> Iterator[Row]:
        nonlocal left_out
        for row in formats.rows(path, kind or detect(path)):
            if row.word in seen:
                left_out += 1
            elif only is None or row.word in only:
                seen.add(row.word)
                yield row

    words, matrix = _matrix(path, islice(new_rows(), limit))
    if left_out:
        warnings.warn(f"{path}: {left_out} empty or repeated words were left out", stacklevel=3)
    return WordVectors(words, matrix)


def _matrix(path: Path, rows: Iterator[Row]) -> tuple[tuple[str, ...], FloatArray]:
    """Words and their vectors; memory grows with the rows that are read, not with the header's count."""
    words: list[str] = []
    data = bytearray()
    for row in rows:
        try:
            data += row.vector().tobytes()
        except ValueError as error:
            raise ValueError(f"{path}: Expected numbers in {row.position}, but got an error: {error}.") from None
        words.append(row.word)
    if not words:
        raise ValueError(f"Expected word vectors in {path}, but got none; check the file and `only`.")
    return tuple(words), np.frombuffer(data, dtype=np.float32).reshape(len(words), -1)


def _key(path: Path, kind: Format | None, only: frozenset[str] | None, limit: int | None) -> str:
    state = path.stat()
    digest = hashlib.sha256(repr((state.st_size, state.st_mtime_ns, kind, limit, only and sorted(only))).encode())
    with path.open("rb") as file:
        digest.update(file.read(_SAMPLE))
        file.seek(max(0, state.st_size - _SAMPLE))
        digest.update(file.read(_SAMPLE))
    return digest.hexdigest()[:24]


def _cached(stem: Path) -> WordVectors | None:
    """The memory-mapped copy in the cache; None if it is missing or damaged."""
    try:
        words = tuple(Path(f"{stem}.words").read_bytes().decode("utf-8").split("\n")[:-1])
        matrix = np.load(f"{stem}.npy", mmap_mode="r", allow_pickle=False)
        return WordVectors(words, matrix)
    except (OSError, ValueError, EOFError):
        return None


def _store(vectors: WordVectors, stem: Path) -> None:
    """Write both files atomically; the matrix is last and makes the copy valid."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(Path(f"{stem}.words")) as file:
        file.writelines(f"{word}\n".encode() for word in vectors.words)
    with atomic_file(Path(f"{stem}.npy")) as file:
        np.save(file, vectors.matrix, allow_pickle=False)
