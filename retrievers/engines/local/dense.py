"""Search for the nearest vectors by inner product, in FAISS files of one folder. The only file that imports faiss.

    vectors.faiss              all rows in half precision, memory-mapped; scores come from here
    front.faiss                coarse codes of the same rows, used to find candidates in large indexes

The coarse codes only choose candidates, which are then scored by their half-precision rows. So scores are those of a
full scan, whatever the kind of the index (measured on 60,000 × 256: within 1e-4 of single precision, half the bytes).

    exact     no coarse codes: every search reads every row
    sketch    four bits a number, all scanned: a fifth of the time of a full scan
    hnsw      a graph over bytes: the fastest search, but slow to build and held in memory meanwhile
    ivf       lists of bytes around learned centres, memory-mapped; a search reads the lists nearest to the query

`dense_writer` writes the files.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray, IntArray
from retrievers.engines.local.errors import CorruptIndexError

faiss: Any = import_module("faiss")  # Any: its stubs lack keyword arguments and half of its classes

Kind = Literal["exact", "sketch", "hnsw", "ivf"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LiveMask = NDArray[np.bool_]
"""(N,), true for rows that may be returned."""

FILE, COARSE_FILE = "vectors.faiss", "front.faiss"
HALF = faiss.ScalarQuantizer.QT_fp16
INNER_PRODUCT = faiss.METRIC_INNER_PRODUCT
CORES = os.cpu_count() or 1

CANDIDATES_A_RESULT = 2  # recall@200 of a sketch on 31,169 passages of MedQuAD: .994; with 3 it is .999
MIN_CANDIDATES = 100
MIN_LIVE_RATIO = 1.5  # live candidates per result, below which every row is read instead
MIN_LIVE_SHARE = 0.3  # share of live rows, below which most candidates would be dead, so that every row is read

HNSW_SEARCH_WIDTH = 128  # candidates kept during a search of the graph
IVF_PROBES = 256  # lists read in a search
SAME_SCORE = 1e-6


@dataclass(frozen=True, slots=True)
class DenseIndex:
    """An index opened for reading; rows are numbered in the order in which they were built."""

    kind: Kind
    dimension: int
    count: int  # rows; kept here because every call of FAISS, even for this number, releases the GIL
    _vectors: Any
    _codes: NDArray[np.uint8]  # (N, 2 D), the mapped half-precision numbers
    _refined: Any = None  # finds coarse candidates and scores them by `_vectors`

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map the index in `folder`.

        Raises:
            FileNotFoundError: the folder does not exist.
            CorruptIndexError: a file in it is missing, truncated or of another type.
        """
        if not folder.is_dir():
            raise FileNotFoundError(
                f"Expected a dense index in {folder}, but got no such folder; run qa-bot add first."
            )
        vectors = _read(folder / FILE)
        if type(vectors) is not faiss.IndexScalarQuantizer or vectors.sq.qtype != HALF:
            raise CorruptIndexError(folder / FILE, f"an index of type {type(vectors).__name__}")
        coarse = _read(folder / COARSE_FILE) if (folder / COARSE_FILE).exists() else None
        kind = _kind_of(coarse, folder)
        if coarse is not None and (coarse.ntotal, coarse.d) != (vectors.ntotal, vectors.d):
            got = f"{coarse.ntotal} rows of {coarse.d} numbers for {vectors.ntotal} vectors of {vectors.d}"
            raise CorruptIndexError(folder / COARSE_FILE, got)
        refined = faiss.IndexRefine(coarse, vectors) if coarse is not None else None
        return cls(kind, vectors.d, vectors.ntotal, vectors, _codes(vectors), refined)

    def __len__(self) -> int:
        return self.count

    def search(
        self, queries: FloatArray, k: int, *, live_mask: LiveMask | None = None, exact: bool = False
    ) -> tuple[FloatArray, IntArray]:
        """The k rows of greatest inner product with each query, best first, equal scores by row.

        Args:
            queries: (Q, D), unit or zero rows; a zero row matches nothing.
            k: number of rows; missing ones are padded with row −1 and score −inf.
            live_mask: (N,), true for rows that may be returned.
            exact: read every row, whatever the kind of the index.

        Returns:
            Scores (Q, k) and rows (Q, k).
        """
        queries = self._checked(queries)
        if live_mask is not None and live_mask.shape != (len(self),):
            raise ValueError(f"Expected a mask of shape ({len(self)},), but got {live_mask.shape}.")
        nonzero = queries.any(axis=1)  # (Q,)
        limit = min(k, len(self))
        if limit == k > 0 and nonzero.all():  # the usual case: no padding
            return _ordered(*self._search(queries, k, live_mask, exact))
        scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
        rows = np.full((len(queries), k), -1, dtype=np.int64)
        if nonzero.any() and limit > 0:
            matches = self._search(queries[nonzero], limit, live_mask, exact)
            scores[nonzero, :limit], rows[nonzero, :limit] = _ordered(*matches)
        return scores, rows

    def rows(self, indices: IntArray) -> FloatArray:
        """The stored vectors (n, D) of these rows."""
        indices = np.ascontiguousarray(indices, dtype=np.int64)
        if len(indices) == 0:
            return np.empty((0, self.dimension), dtype=np.float32)
        if indices.min() < 0 or indices.max() >= len(self):
            raise IndexError(f"Expected rows from 0 to {len(self) - 1}, but got {indices.min()} to {indices.max()}.")
        vectors: FloatArray = self._vectors.reconstruct_batch(indices)
        return vectors

    def scores(self, rows: IntArray, query: FloatArray) -> FloatArray:
        """Inner products (n,) of these rows with a query (D,).

        FAISS reads half-precision numbers five times as fast as numpy does.
        """
        if len(rows) == 0:
            return np.empty(0, np.float32)
        faiss.omp_set_num_threads(1)
        subset = faiss.IndexScalarQuantizer(self.dimension, HALF, INNER_PRODUCT)
        subset.add_sa_codes(self._codes[rows])
        (ranked,), (order,) = subset.search(query[None], len(rows))
        scores: FloatArray = np.empty_like(ranked)
        scores[order] = ranked
        return scores

    def _search(
        self, queries: FloatArray, k: int, live_mask: LiveMask | None, exact: bool
    ) -> tuple[FloatArray, IntArray]:
        faiss.omp_set_num_threads(min(len(queries), CORES))  # OpenMP keeps this setting per calling thread
        live_share = 1.0 if live_mask is None else float(live_mask.mean())
        count = max(CANDIDATES_A_RESULT * k, MIN_CANDIDATES)
        if self._refined is not None and not exact and live_share >= MIN_LIVE_SHARE and count < len(self):
            return self._rescore(*self._candidates(queries, count, live_mask, live_share), queries, k, live_mask)
        selector = None if live_mask is None else faiss.SearchParameters(sel=_selector(live_mask))
        scores, rows = self._vectors.search(queries, k, params=selector)
        return scores, rows

    def _candidates(
        self, queries: FloatArray, count: int, live_mask: LiveMask | None, live_share: float
    ) -> tuple[FloatArray, IntArray]:
        """Scores (Q, M) and rows (Q, M) of coarse candidates, best first by their half-precision rows; −1 pads."""
        selector = None if live_mask is None or self.kind == "sketch" else _selector(live_mask)
        match self.kind:
            case "ivf":
                coarse = faiss.SearchParametersIVF(sel=selector, nprobe=IVF_PROBES)
            case "hnsw":
                coarse = faiss.SearchParametersHNSW(sel=selector, efSearch=max(HNSW_SEARCH_WIDTH, count))
            case _:  # the scan of a sketch takes no selector, so more candidates make up for the dead ones
                coarse, count = None, min(int(count / live_share), len(self))
        parameters = faiss.IndexRefineSearchParameters(k_factor=1, base_index_params=coarse)
        scores, rows = self._refined.search(queries, count, params=parameters)
        return scores, rows

    def _rescore(
        self, scores: FloatArray, rows: IntArray, queries: FloatArray, k: int, live_mask: LiveMask | None
    ) -> tuple[FloatArray, IntArray]:
        """The first k live candidates of (Q, M); a query with too few of them is searched in all rows."""
        live = (rows >= 0) if live_mask is None else (rows >= 0) & live_mask[rows]
        if live.all():
            return scores[:, :k], rows[:, :k]
        best_scores, best_rows = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
        for i, usable in enumerate(live):
            if usable.sum() < MIN_LIVE_RATIO * k:
                (best_scores[i],), (best_rows[i],) = self._search(queries[i : i + 1], k, live_mask, exact=True)
            else:
                best_scores[i], best_rows[i] = scores[i, usable][:k], rows[i, usable][:k]
        return best_scores, best_rows

    def _checked(self, queries: FloatArray) -> FloatArray:
        if queries.ndim != 2 or queries.shape[1] != self.dimension:
            raise ValueError(
                f"Expected queries of shape (Q, {self.dimension}), but got {queries.shape}; "
                "encode them with the encoder that built this index."
            )
        if not np.isfinite(queries).all():
            raise ValueError("Expected finite query vectors, but got NaN or infinity; check the encoder.")
        return np.ascontiguousarray(queries, dtype=np.float32)


def recall(index: DenseIndex, queries: FloatArray, k: int) -> float:
    """Share of the exact k best rows that the index finds, over all queries; 1 for an exact index.

    A row that scores as high as the k-th best counts as found: any of several equal rows will do.
    """
    scores, _ = index.search(queries, k)  # (Q, k)
    truth, _ = index.search(queries, k, exact=True)  # (Q, k)
    there = np.isfinite(truth)  # (Q, k)
    worst = np.where(there, truth, np.inf).min(axis=1, keepdims=True)  # (Q, 1)
    hits = np.isfinite(scores) & (scores >= worst - SAME_SCORE)
    return float(hits.sum() / there.sum()) if there.any() else 1.0


def first_line(error: Exception) -> str:
    """What FAISS says of an error, without the stack that it appends."""
    return str(error).partition("\n")[0]


def _read(file: Path) -> Any:
    try:
        return faiss.read_index(str(file), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        raise CorruptIndexError(file, first_line(error)) from error


def _kind_of(coarse: Any, folder: Path) -> Kind:
    kinds: dict[type, Kind] = {
        type(None): "exact",
        faiss.IndexPQFastScan: "sketch",
        faiss.IndexHNSWSQ: "hnsw",
        faiss.IndexIVFScalarQuantizer: "ivf",
    }
    if type(coarse) not in kinds:
        raise CorruptIndexError(folder / COARSE_FILE, f"an index of type {type(coarse).__name__}")
    return kinds[type(coarse)]


def _codes(index: Any) -> NDArray[np.uint8]:
    """The mapped codes of an index of rows, (N, 2 D); valid only while the index lives."""
    codes: NDArray[np.uint8] = faiss.rev_swig_ptr(index.codes.data(), index.ntotal * index.code_size)
    return codes.reshape(index.ntotal, index.code_size)


def _selector(live_mask: LiveMask) -> Any:
    return faiss.IDSelectorBitmap(np.packbits(live_mask, bitorder="little"))


def _ordered(scores: FloatArray, rows: IntArray) -> tuple[FloatArray, IntArray]:
    """Best first, equal scores by row; −1 last, with score −inf."""
    if (scores[:, 1:] < scores[:, :-1]).all() and (rows[:, -1] >= 0).all():  # FAISS usually sorts them so
        return scores, rows
    scores = np.where(rows < 0, np.float32(-np.inf), scores)
    order = np.arange(len(rows))[:, None], np.lexsort((rows, -scores), axis=1)
    return scores[order], rows[order]
