"""Nearest vectors by inner product: one FAISS file a folder, memory-mapped. The one door of faiss.

Vectors are kept once, as half-precision numbers, whatever stands above them (measured at 60,000 × 256: half the
bytes of single precision, 1.4–1.8 times as fast to scan, scores off by less than 1e-4; under HNSW recall@10 .9995
against .979 with 8-bit codes, which would need the vectors a second time for `rows`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray, IntArray
from retrievers.damage import IndexDamaged

faiss: Any = import_module("faiss")  # Any: the stubs it ships know neither its keyword arguments nor half its classes

Kind = Literal["exact", "hnsw", "ivf"]

FILE = "vectors.faiss"
EXACT_ROWS = 50_000  # below, a scan takes under 10 ms and nothing can be missed
HNSW_ROWS = 1_000_000  # above, the graph takes too long to build
NEIGHBOURS = 32
EF_CONSTRUCTION = 80
EF_SEARCH = 128  # recall@100 .993 at .4 ms (64: .984 at .25 ms; 256: .997 at .9 ms), 60,000 × 256 in 600 clusters
PROBES = 64
TRAINING_ROWS_A_LIST = 64
SPARSE = 0.3  # with fewer rows alive than this share, a graph walk meets mostly dead ones: scan instead
SAME_SCORE = 1e-6
CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class DenseIndex:
    """An index opened for reading; rows are numbered as they were given to `build`."""

    kind: Kind
    dimension: int
    _index: Any

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map the index in `folder`.

        Raises:
            FileNotFoundError: there is no such folder.
            IndexDamaged: the folder is there, but its file is missing or cut short.
        """
        if not folder.is_dir():
            raise FileNotFoundError(
                f"Expected a dense index in {folder}, but got no such folder; run qa-bot add first."
            )
        try:
            index = faiss.read_index(str(folder / FILE), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise IndexDamaged(folder / FILE, _first_line(error)) from error
        return cls(_kind(index, folder), index.d, index)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def search(
        self, queries: FloatArray, k: int, *, alive: NDArray[np.bool_] | None = None, exact: bool = False
    ) -> tuple[FloatArray, IntArray]:
        """The k rows of greatest inner product with each query, best first, equal scores by row.

        Args:
            queries: (Q, D), unit or zero rows; a zero row is no question and finds nothing.
            k: how many rows; where there are fewer the rest is padded with row −1 and score −inf.
            alive: (N,), true at rows that may be found.
            exact: scan every row, whatever the kind of the index.

        Returns:
            Scores (Q, k) and rows (Q, k).
        """
        queries = self._checked(queries)
        scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
        rows = np.full((len(queries), k), -1, dtype=np.int64)
        asked = queries.any(axis=1)  # (Q,)
        wanted = min(k, len(self))
        if asked.any() and wanted > 0:
            found = self._search(queries[asked], wanted, alive, exact)
            scores[asked, :wanted], rows[asked, :wanted] = _ordered(*found)
        return scores, rows

    def rows(self, indices: IntArray) -> FloatArray:
        """The vectors of these rows as they are stored, (n, D), for scoring again."""
        indices = np.ascontiguousarray(indices, dtype=np.int64)
        if len(indices) == 0:
            return np.empty((0, self.dimension), dtype=np.float32)
        if indices.min() < 0 or indices.max() >= len(self):
            raise IndexError(f"Expected rows from 0 to {len(self) - 1}, but got {indices.min()} to {indices.max()}.")
        vectors: FloatArray = self._index.reconstruct_batch(indices)
        return vectors

    def _search(
        self, queries: FloatArray, k: int, alive: NDArray[np.bool_] | None, exact: bool
    ) -> tuple[FloatArray, IntArray]:
        selector = None if alive is None else _selector(alive, len(self))
        scan = exact or (alive is not None and alive.mean() < SPARSE)
        index, parameters = _plan(self._index, self.kind, k, selector, scan)
        # A setting of the calling thread in OpenMP, so it is said before every search.
        faiss.omp_set_num_threads(min(len(queries), os.cpu_count() or 1))
        scores, rows = index.search(queries, k, params=parameters)
        return scores, rows

    def _checked(self, queries: FloatArray) -> FloatArray:
        if queries.ndim != 2 or queries.shape[1] != self.dimension:
            raise ValueError(
                f"Expected queries of shape (Q, {self.dimension}), but got {queries.shape}; "
                "encode them with the encoder that built this index."
            )
        if not np.isfinite(queries).all():
            raise ValueError("Expected finite query vectors, but got NaN or infinity; check the encoder.")
        return np.ascontiguousarray(queries, dtype=np.float32)


def build(folder: Path, vectors: FloatArray, *, kind: Kind | None = None) -> DenseIndex:
    """Write an index of `vectors` into `folder` and open it.

    Args:
        folder: made where it is not there; gets the file `vectors.faiss` and nothing else.
        vectors: (N, D), rows of unit length, or zero for a text without any known token; may be memory-mapped.
        kind: by default exact below 50,000 rows, an HNSW graph up to a million, inverted lists above.

    Raises:
        ValueError: a row is not finite or not of unit length.
        OSError: the disk is full; the unfinished file is removed.
    """
    if vectors.ndim != 2:
        raise ValueError(f"Expected vectors of shape (N, D), but got {vectors.shape}.")
    kind = "exact" if len(vectors) == 0 else kind or _kind_for(len(vectors))  # nothing to learn lists from
    faiss.omp_set_num_threads(os.cpu_count() or 1)
    index = _empty(kind, vectors)
    for start, chunk in _chunks(vectors):
        _refuse_bad_rows(chunk, start)
        index.add(chunk)
    if kind == "ivf":
        index.make_direct_map()  # `rows` needs to know where each row went
    folder.mkdir(parents=True, exist_ok=True)
    _write(index, folder / FILE)
    return DenseIndex.open(folder)


def recall(index: DenseIndex, queries: FloatArray, k: int) -> float:
    """Share of the exact k best rows that the index finds, over all queries: 1 for an exact index.

    A row that scores as high as the k-th best counts as found: which of several equal rows comes is no matter.
    """
    found, _ = index.search(queries, k)  # (Q, k)
    truth, _ = index.search(queries, k, exact=True)  # (Q, k)
    there = np.isfinite(truth)  # (Q, k)
    worst = np.where(there, truth, np.inf).min(axis=1, keepdims=True)  # (Q, 1)
    hits = np.isfinite(found) & (found >= worst - SAME_SCORE)
    return float(hits.sum() / there.sum()) if there.any() else 1.0


def _kind_for(n: int) -> Kind:
    if n < EXACT_ROWS:
        return "exact"
    return "hnsw" if n <= HNSW_ROWS else "ivf"


def _kind(index: Any, folder: Path) -> Kind:
    kinds: dict[type, Kind] = {
        faiss.IndexScalarQuantizer: "exact",
        faiss.IndexHNSWSQ: "hnsw",
        faiss.IndexIVFScalarQuantizer: "ivf",
    }
    if type(index) not in kinds:
        raise IndexDamaged(folder / FILE, f"an index of type {type(index).__name__}")
    return kinds[type(index)]


def _empty(kind: Kind, vectors: FloatArray) -> Any:
    n, d = vectors.shape
    half, product = faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    if kind == "exact":
        return faiss.IndexScalarQuantizer(d, half, product)
    if kind == "hnsw":
        index = faiss.IndexHNSWSQ(d, half, NEIGHBOURS, product)
        index.hnsw.efConstruction = EF_CONSTRUCTION
        index.is_trained = True  # half precision has nothing to learn
        return index
    lists = min(int(4 * n**0.5), n)
    by_residual = False  # or the vectors would not be kept as they are
    index = faiss.IndexIVFScalarQuantizer(faiss.IndexFlatIP(d), d, lists, half, product, by_residual)
    sample = np.linspace(0, n - 1, num=min(n, lists * TRAINING_ROWS_A_LIST), dtype=np.int64)
    index.train(np.ascontiguousarray(vectors[sample], dtype=np.float32))
    return index


def _plan(index: Any, kind: Kind, k: int, selector: Any, scan: bool) -> tuple[Any, Any]:
    """The index to ask and how: HNSW is scanned in the vectors under its graph, lists by probing them all."""
    if kind == "exact":
        return index, faiss.SearchParameters(sel=selector)
    if kind == "hnsw":
        if scan:
            return faiss.downcast_index(index.storage), faiss.SearchParameters(sel=selector)
        return index, faiss.SearchParametersHNSW(sel=selector, efSearch=max(EF_SEARCH, k))
    return index, faiss.SearchParametersIVF(sel=selector, nprobe=index.nlist if scan else PROBES)


def _selector(alive: NDArray[np.bool_], n: int) -> Any:
    if alive.shape != (n,):
        raise ValueError(f"Expected a mask of shape ({n},), but got {alive.shape}.")
    return faiss.IDSelectorBitmap(np.packbits(alive, bitorder="little"))


def _ordered(scores: FloatArray, rows: IntArray) -> tuple[FloatArray, IntArray]:
    """Best first, equal scores by row; −1 last, with score −inf."""
    scores = np.where(rows < 0, np.float32(-np.inf), scores)
    order = np.lexsort((rows, -scores), axis=1)
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)


def _chunks(vectors: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    for start in range(0, len(vectors), CHUNK):
        yield start, np.ascontiguousarray(vectors[start : start + CHUNK], dtype=np.float32)


def _refuse_bad_rows(chunk: FloatArray, start: int) -> None:
    norms = np.linalg.norm(chunk, axis=1)  # (n,); NaN or infinite where a number of the row is
    bad = np.flatnonzero(~((norms == 0) | (np.abs(norms - 1) < 0.01)))
    if len(bad):
        raise ValueError(
            f"Expected rows of unit length or zero, but got length {norms[bad[0]]:.4g} in row {start + bad[0]}; "
            "check the encoder."
        )


def _write(index: Any, file: Path) -> None:
    try:
        faiss.write_index(index, str(file))
    except RuntimeError as error:
        file.unlink(missing_ok=True)
        raise OSError(f"Expected to write {file}, but got: {_first_line(error)}; is the disk full?") from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
