"""Nearest vectors by inner product: FAISS files in a folder, memory-mapped. The one door of faiss.

    vectors.faiss              half-precision numbers, in lists where there are many
    bytes.faiss                the same rows in bytes, beside an exact index of `BYTES_FROM` rows or more

An exact search reads the bytes first, which takes half the time, and scores twice as many rows as are wanted again;
where errors of rounding could have hidden a row that belongs among the best, all are read after all.

What counts are the half-precision numbers (measured at 60,000 × 256: half the bytes of single precision, 1.4–1.8 times
as fast to scan, scores off by less than 1e-4). The files are those that FAISS itself would write, but they are written
from the disk to the disk: no more than a chunk of vectors is in memory.
"""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from mmap import MADV_DONTNEED, mmap
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray, IntArray
from retrievers.damage import IndexDamaged

faiss: Any = import_module("faiss")  # Any: the stubs it ships know neither its keyword arguments nor half its classes

Kind = Literal["exact", "ivf"]
Part = bytes | memoryview

_HALF = faiss.ScalarQuantizer.QT_fp16
_SIGNED_BYTES = faiss.ScalarQuantizer.QT_8bit_direct_signed

FILE = "vectors.faiss"
BYTES = "bytes.faiss"
EXACT_ROWS = 50_000  # below, a scan takes under 10 ms and nothing can be missed
LISTS = 4  # times √N: half as many take 1.4 times as long at the same recall
PROBES = 128  # recall@10 .981 at about 1.3 ms (64: .965 at .7 ms; 192: .985 at 1.8 ms), 153,000 sentences × 256
TRAINING_ROWS_A_LIST = 16  # 64 take several times as long to learn from, for .006 of recall@10
SPARSE = 0.3  # with fewer rows alive than this share, the nearest lists hold mostly dead ones: scan instead
SAME_SCORE = 1e-6
BYTES_FROM = 4_096  # a scan of fewer rows takes less time than a second stage
BYTES_DEPTH = 2  # rows scored again for each wanted: on MedQuAD no search of 400 had to read all rows after all
DEVIATIONS = 6  # how far beyond the usual error of rounding a row counts as surely worse
CHUNK = 2_048
CORES = os.cpu_count() or 1
DISTANCES_AT_ONCE = 1_024  # questions to centres: they take 4 MB; FAISS' own 4,096 take 16 and no less time
GATHERED = 64  # rows from all over a mapped file: each brings a hundred kilobytes around it

_COUNT = struct.Struct("<Q")  # how FAISS writes the length of an array
_MARK = 0x6D_61_72_6B_65_64_21_21


@dataclass(frozen=True, slots=True)
class DenseIndex:
    """An index opened for reading; rows are numbered as they were given to `build`."""

    kind: Kind
    dimension: int
    count: int  # rows; FAISS lets another thread in whenever it is asked for something, even this
    _index: Any
    _codes: NDArray[np.uint8] | None = None  # (N, 2 D), the mapped numbers of an exact index
    _bytes: Any = None  # their copy in bytes, where there is one

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
        kind = _kind(index, folder)
        codes = _codes(index) if kind == "exact" else None
        return cls(kind, index.d, index.ntotal, index, codes, _open_bytes(folder, index))

    def __len__(self) -> int:
        return self.count

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
        asked = queries.any(axis=1)  # (Q,)
        wanted = min(k, len(self))
        if wanted == k > 0 and asked.all():  # as nearly always: nothing is left to fill up
            return _ordered(*self._search(queries, k, alive, exact))
        scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
        rows = np.full((len(queries), k), -1, dtype=np.int64)
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

    def scores(self, rows: IntArray, query: FloatArray) -> FloatArray:
        """Inner products of these rows with a query (D,), (n,)."""
        if self._codes is None:
            return self.rows(rows) @ query
        faiss.omp_set_num_threads(1)
        scored, places = self._scored(rows, query[None])
        scores = np.empty_like(scored)
        scores[places] = scored
        return scores

    def _scored(self, rows: IntArray, query: FloatArray) -> tuple[FloatArray, IntArray]:
        """Inner products of some rows, (n,), with a query (1, D), best first, and their places among `rows`.

        FAISS reads half-precision numbers five times as fast as numpy does.
        """
        assert self._codes is not None, "rows of an exact index"
        if len(rows) == 0:
            return np.empty(0, np.float32), np.empty(0, np.int64)
        few = faiss.IndexScalarQuantizer(self.dimension, _HALF, faiss.METRIC_INNER_PRODUCT)
        few.add_sa_codes(self._codes[rows])
        (scores,), (places,) = few.search(query, len(rows))
        return scores, places

    def _search(
        self, queries: FloatArray, k: int, alive: NDArray[np.bool_] | None, exact: bool
    ) -> tuple[FloatArray, IntArray]:
        selector = None if alive is None else _selector(alive, len(self))
        scan = exact or (alive is not None and alive.mean() < SPARSE)
        index, parameters = _plan(self._index, self.kind, selector, scan)
        bytewise = self._bytes is not None and not exact and BYTES_DEPTH * k < len(self)
        # A setting of the calling thread in OpenMP, so it is said before every search.
        faiss.omp_set_num_threads(min(len(queries), CORES))
        if bytewise:
            return self._search_bytes(queries, k, parameters)
        scores, rows = index.search(queries, k, params=parameters)
        return scores, rows

    def _search_bytes(self, queries: FloatArray, k: int, parameters: Any) -> tuple[FloatArray, IntArray]:
        """What a scan of all rows finds, by a scan of their bytes wherever that is sure to find the same."""
        scores, rows = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
        steps: FloatArray = np.abs(queries).max(axis=1) / np.float32(127)  # (Q,)
        rough, near = self._bytes.search(np.rint(queries / steps[:, None]), BYTES_DEPTH * k, params=parameters)
        if len(queries) > 1:
            faiss.omp_set_num_threads(1)
        for i, query in enumerate(queries[:, None]):  # (1, D)
            chosen = near[i] if near[i, -1] >= 0 else near[i][near[i] >= 0]  # (M,)
            scored, found = self._among(chosen, query)
            if len(chosen) < BYTES_DEPTH * k or _surely_best(k, rough[i], scored, float(steps[i])):
                scores[i], rows[i] = _filled(scored, k, -np.inf), _filled(found, k, -1)
            else:
                (scores[i],), (rows[i],) = self._index.search(query, k, params=parameters)
        return scores, rows

    def _among(self, rows: IntArray, query: FloatArray) -> tuple[FloatArray, IntArray]:
        """These rows (M,) with their true scores for a query (1, D), best first; equal scores as FAISS keeps them."""
        scores, places = self._scored(rows, query)
        rows = rows[places]
        if (scores[1:] == scores[:-1]).any():
            order = np.lexsort((-rows, -scores))  # a scan that is full keeps the last of equal rows
            scores, rows = scores[order], rows[order]
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
        folder: made where it is not there; gets the files of the index and nothing else.
        vectors: (N, D), rows of unit length, or zero for a text without any known token; may be memory-mapped.
        kind: by default exact below 50,000 rows, inverted lists above.

    Raises:
        ValueError: a row is not finite or not of unit length.
        OSError: the disk is full; the unfinished file is removed.
    """
    if vectors.ndim != 2:
        raise ValueError(f"Expected vectors of shape (N, D), but got {vectors.shape}.")
    kind = "exact" if len(vectors) == 0 else kind or _kind_for(len(vectors))  # nothing to learn lists from
    for start, chunk in _chunks(vectors):
        _refuse_bad_rows(chunk, start)
    folder.mkdir(parents=True, exist_ok=True)
    halves = (chunk.astype(np.float16) for _, chunk in _chunks(vectors))
    _write(folder / FILE, _rows_file(_HALF, vectors.shape, halves) if kind == "exact" else _lists_file(vectors, folder))
    if kind == "exact" and len(vectors) >= BYTES_FROM:
        write_bytes_beside(folder, vectors)
    return DenseIndex.open(folder)


def write_bytes_beside(folder: Path, vectors: FloatArray) -> None:
    """Write the copy in bytes of `vectors`, (N, D), into `folder`: each number times 127 / the greatest of all.

    Raises:
        OSError: the disk is full; the unfinished file is removed.
    """
    greatest = max(float(np.abs(chunk).max(initial=0)) for _, chunk in _chunks(vectors))
    scale = np.float32(127 / (greatest or 1))
    signed = ((np.rint(chunk * scale) + 128).astype(np.uint8) for _, chunk in _chunks(vectors))
    _write(folder / BYTES, _rows_file(_SIGNED_BYTES, vectors.shape, signed))


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


def _codes(index: Any) -> NDArray[np.uint8]:
    """What an exact index has mapped, (N, 2 D); to be read only while the index lives."""
    codes: NDArray[np.uint8] = faiss.rev_swig_ptr(index.codes.data(), index.ntotal * index.code_size)
    return codes.reshape(index.ntotal, index.code_size)


def _open_bytes(folder: Path, index: Any) -> Any:
    """The copy in bytes; None in a folder without one, as older ones are."""
    if not (folder / BYTES).exists():
        return None
    try:
        copy = faiss.read_index(str(folder / BYTES), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        raise IndexDamaged(folder / BYTES, _first_line(error)) from error
    if (copy.ntotal, copy.d) != (index.ntotal, index.d):
        told = f"{copy.ntotal} rows of {copy.d} bytes for {index.ntotal} vectors of {index.d}"
        raise IndexDamaged(folder / BYTES, told)
    return copy


def _surely_best(k: int, rough: FloatArray, scores: FloatArray, step: float) -> bool:
    """Whether the k best of all rows are among those that were scored again, M > k, best first by either score.

    A row that was not scored again has at most the last rough score. In true scores that is this score times the
    product of two steps, the query's and the rows', which the sums of both scores over the same rows tell. Errors of
    rounding spread evenly over a step and vectors have unit length, so that a score's error has the variance
    (step² + rows' step²) / 12 (Widrow 1956); the k-th true score must stand `DEVIATIONS` above.
    """
    told, true = float(rough.sum()), float(scores.sum())
    if told <= 0 or true <= 0:
        return False
    product = true / told
    deviation = ((step**2 + (product / step) ** 2) / 12) ** 0.5
    return bool(scores[k - 1] > product * rough[-1] + DEVIATIONS * deviation)


def _filled(found: NDArray[Any], k: int, nothing: float) -> NDArray[Any]:
    """The first k, with `nothing` where there are fewer."""
    return found[:k] if len(found) >= k else np.append(found, np.full(k - len(found), nothing, found.dtype))


def _kind_for(n: int) -> Kind:
    return "exact" if n < EXACT_ROWS else "ivf"


def _kind(index: Any, folder: Path) -> Kind:
    kinds: dict[type, Kind] = {
        faiss.IndexScalarQuantizer: "exact",
        faiss.IndexIVFScalarQuantizer: "ivf",
    }
    if type(index) not in kinds:
        raise IndexDamaged(folder / FILE, f"an index of type {type(index).__name__}")
    return kinds[type(index)]


def _plan(index: Any, kind: Kind, selector: Any, scan: bool) -> tuple[Any, Any]:
    """The index to ask and how: lists are scanned by probing them all."""
    if kind == "exact":
        return index, None if selector is None else faiss.SearchParameters(sel=selector)
    return index, faiss.SearchParametersIVF(sel=selector, nprobe=index.nlist if scan else PROBES)


def _selector(alive: NDArray[np.bool_], n: int) -> Any:
    if alive.shape != (n,):
        raise ValueError(f"Expected a mask of shape ({n},), but got {alive.shape}.")
    return faiss.IDSelectorBitmap(np.packbits(alive, bitorder="little"))


def _ordered(scores: FloatArray, rows: IntArray) -> tuple[FloatArray, IntArray]:
    """Best first, equal scores by row; −1 last, with score −inf."""
    if (scores[:, 1:] < scores[:, :-1]).all() and (rows[:, -1] >= 0).all():  # as FAISS leaves most of them
        return scores, rows
    scores = np.where(rows < 0, np.float32(-np.inf), scores)
    order = np.arange(len(rows))[:, None], np.lexsort((rows, -scores), axis=1)
    return scores[order], rows[order]


def _chunks(vectors: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    for start in range(0, len(vectors), CHUNK):
        yield start, np.ascontiguousarray(vectors[start : start + CHUNK], dtype=np.float32)
        _let_go(vectors)


def _gathered(vectors: FloatArray, rows: IntArray) -> Iterator[FloatArray]:
    for start in range(0, len(rows), GATHERED):
        yield vectors[rows[start : start + GATHERED]]
        _let_go(vectors)


def _let_go(vectors: FloatArray) -> None:
    """Give back the memory that holds what was read of mapped vectors; it would be taken back only when it runs out."""
    if isinstance(vectors.base, mmap):
        vectors.base.madvise(MADV_DONTNEED)


def _refuse_bad_rows(chunk: FloatArray, start: int) -> None:
    norms = np.sqrt(np.einsum("nd,nd->n", chunk, chunk))  # (n,); NaN or infinite where a number of the row is
    bad = np.flatnonzero(~((norms == 0) | (np.abs(norms - 1) < 0.01)))
    if len(bad):
        raise ValueError(
            f"Expected rows of unit length or zero, but got length {norms[bad[0]]:.4g} in row {start + bad[0]}; "
            "check the encoder."
        )


def _write(file: Path, parts: Iterable[Part]) -> None:
    try:
        with file.open("wb") as out:
            for part in parts:
                out.write(part)
    except OSError as error:
        file.unlink(missing_ok=True)
        raise OSError(f"Expected to write {file}, but got: {_first_line(error)}; is the disk full?") from error


def _rows_file(quantiser: int, shape: tuple[int, ...], codes: Iterable[NDArray[Any]]) -> Iterator[Part]:
    """The file of an exact index: that of an empty one, whose end is the number of its codes' bytes, and the codes."""
    n, d = shape
    index = faiss.IndexScalarQuantizer(d, quantiser, faiss.METRIC_INNER_PRODUCT)
    index.ntotal = n
    yield faiss.serialize_index(index).tobytes()[: -_COUNT.size] + _COUNT.pack(n * index.sa_code_size())
    yield from (code.data for code in codes)


def _lists_file(vectors: FloatArray, scratch: Path) -> Iterator[Part]:
    """The file of inverted lists: header, where each row went, sizes of the lists, and of each its rows and numbers.

    It takes 20 bytes of memory a row, beside a chunk of vectors.
    """
    faiss.omp_set_num_threads(os.cpu_count() or 1)
    faiss.cvar.distance_compute_blas_query_bs = DISTANCES_AT_ONCE
    index = _trained(vectors, scratch)
    listed = _assigned(index.quantizer, vectors)  # (N,)
    sizes = np.bincount(listed, minlength=index.nlist)  # (lists,)
    order = np.argsort(listed, kind="stable")  # (N,), rows list by list
    index.ntotal = len(vectors)
    before, behind = _around_places(index)
    yield before + _COUNT.pack(len(vectors))
    yield _places(order, sizes).data
    yield behind.removesuffix(b"sprs" + _COUNT.pack(0)) + b"full" + _COUNT.pack(len(sizes))
    yield sizes.astype(np.uint64).data
    for rows in _lists(order, sizes):
        yield from (part.astype(np.float16).data for part in _gathered(vectors, rows))
        yield rows.data


def _trained(vectors: FloatArray, scratch: Path) -> Any:
    """Inverted lists without rows, their centres learnt from a sample that lies in a nameless file in `scratch`."""
    n, d = vectors.shape
    lists = min(int(LISTS * n**0.5), n)
    product, by_residual = faiss.METRIC_INNER_PRODUCT, False  # residuals would not keep the vectors as they are
    index = faiss.IndexIVFScalarQuantizer(faiss.IndexFlatIP(d), d, lists, _HALF, product, by_residual)
    settings = index.cp
    settings.min_points_per_centroid, settings.max_points_per_centroid = 1, TRAINING_ROWS_A_LIST + 1  # take it whole
    chosen = np.linspace(0, n - 1, num=min(n, lists * TRAINING_ROWS_A_LIST), dtype=np.int64)
    with tempfile.TemporaryFile(dir=scratch) as sample:
        for part in _gathered(vectors, chosen):
            sample.write(part.astype(np.float32, copy=False).data)
        sample.flush()
        mapped = np.asarray(np.memmap(sample, np.float32, "r", shape=(len(chosen), d)))
        faiss.Clustering(d, lists, settings).train(mapped, index.quantizer)
    index.is_trained = True  # half precision has nothing to learn
    return index


def _assigned(centres: Any, vectors: FloatArray) -> NDArray[np.int32]:
    """The list of each row, (N,)."""
    listed = np.empty(len(vectors), np.int32)
    for start, chunk in _chunks(vectors):
        listed[start : start + len(chunk)] = centres.search(chunk, 1)[1][:, 0]
    return listed


def _around_places(index: Any) -> tuple[bytes, bytes]:
    """The file of an index without rows, cut where the places of its rows would stand."""
    index.direct_map.type = faiss.DirectMap.Array
    faiss.copy_array_to_vector(np.array([_MARK], np.int64), index.direct_map.array)
    before, behind = faiss.serialize_index(index).tobytes().split(_COUNT.pack(1) + _COUNT.pack(_MARK))
    return before, behind


def _places(order: IntArray, sizes: IntArray) -> IntArray:
    """Where FAISS finds each row: its list in the upper half of the number, its place there in the lower, (N,)."""
    places = np.empty(len(order), np.int64)
    for number, rows in enumerate(_lists(order, sizes)):
        places[rows] = (number << 32) + np.arange(len(rows))
    return places


def _lists(order: IntArray, sizes: IntArray) -> list[IntArray]:
    return np.split(order, np.cumsum(sizes)[:-1])


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
