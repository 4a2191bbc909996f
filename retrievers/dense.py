"""Nearest vectors by inner product: FAISS files in a folder, memory-mapped. The one door of faiss.

    vectors.faiss              half-precision numbers, in lists where there are many
    sketch.faiss               the same rows in four bits a number, beside an exact index of `SKETCH_FROM` rows or more

A scan of the sketch takes a fifth of the time that a scan of the numbers takes; twice as many rows as are wanted
are then scored by their numbers. On 31,169 passages of MedQuAD that finds .994 of the nearest 200 (with two bits
more a number it would be a scan of bytes, which takes as long as one of the numbers).

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

FILE = "vectors.faiss"
SKETCH = "sketch.faiss"
EXACT_ROWS = 50_000  # below, a scan takes under 10 ms and nothing can be missed
LISTS = 4  # times √N: half as many take 1.4 times as long at the same recall
PROBES = 128  # recall@10 .981 at about 1.3 ms (64: .965 at .7 ms; 192: .985 at 1.8 ms), 153,000 sentences × 256
TRAINING_ROWS_A_LIST = 16  # 64 take several times as long to learn from, for .006 of recall@10
SPARSE = 0.3  # with fewer rows alive than this share, the nearest lists hold mostly dead ones: scan instead
SAME_SCORE = 1e-6
SKETCH_FROM = 4_096  # a scan of fewer rows takes less time than a second stage
SKETCH_DEPTH = 2  # rows scored again for each wanted (recall@200 on MedQuAD: 2 .994, 3 .999)
SKETCH_ROWS = 100  # scored again at least
SKETCH_LEAST = 2  # where so few are left without the dead ones, all rows are read after all
SKETCH_SAMPLE = 4_096  # rows that the levels are learnt from
ROUNDS = 5  # of Lloyd's algorithm: 20 find .0003 more
LEVELS = np.array([0.128395, 0.388048, 0.656759, 0.94234, 1.256231, 1.618046, 2.069017, 2.73259])
"""The positive half of the best 16 levels for a normally distributed number (Max 1960)."""
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
    _sketch: Any = None  # their first four bits, where there are many

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
        return cls(kind, index.d, index.ntotal, index, codes, _open_sketch(folder, index))

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
        if alive is not None and alive.shape != (len(self),):
            raise ValueError(f"Expected a mask of shape ({len(self)},), but got {alive.shape}.")
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
        scan = exact or (alive is not None and alive.mean() < SPARSE)
        # A setting of the calling thread in OpenMP, so it is said before every search.
        faiss.omp_set_num_threads(min(len(queries), CORES))
        if self._sketch is not None and not scan and (rough := max(SKETCH_DEPTH * k, SKETCH_ROWS)) < len(self):
            return self._search_sketch(queries, k, rough, alive)
        selector = None if alive is None else faiss.IDSelectorBitmap(np.packbits(alive, bitorder="little"))
        index, parameters = _plan(self._index, self.kind, selector, scan)
        scores, rows = index.search(queries, k, params=parameters)
        return scores, rows

    def _search_sketch(
        self, queries: FloatArray, k: int, rough: int, alive: NDArray[np.bool_] | None
    ) -> tuple[FloatArray, IntArray]:
        scores, rows = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
        share = 1.0 if alive is None else float(alive.mean())
        _, near = self._sketch.search(queries, min(int(rough / share), len(self)))
        for i, chosen in enumerate(near):  # (M,)
            chosen = chosen[(chosen >= 0) if alive is None else (chosen >= 0) & alive[chosen]]
            if len(chosen) < SKETCH_LEAST * k:
                scores[i], rows[i] = (found[0] for found in self._search(queries[i : i + 1], k, alive, exact=True))
            else:
                faiss.omp_set_num_threads(1)
                scored, places = self._scored(chosen, queries[i : i + 1])
                scores[i], rows[i] = scored[:k], chosen[places[:k]]
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
    _write(folder / FILE, _rows_file(vectors.shape, halves) if kind == "exact" else _lists_file(vectors, folder))
    if kind == "exact" and len(vectors) >= SKETCH_FROM:
        write_sketch_beside(folder, vectors)
    return DenseIndex.open(folder)


def write_sketch_beside(folder: Path, vectors: FloatArray) -> None:
    """Write four bits for each number of `vectors`, (N, D), into `folder`.

    A row is read sixteen numbers an instruction from tables in registers (FAISS' fast scan, André et al. 2015). The
    levels of each of the D numbers are learnt one by one, from those that suit a normal distribution best.

    Raises:
        OSError: the disk is full; the unfinished file is removed.
    """
    n, d = vectors.shape
    sample = np.linspace(0, n - 1, min(n, SKETCH_SAMPLE), dtype=np.int64)
    sketch = faiss.IndexPQFastScan(d, d, 4, faiss.METRIC_INNER_PRODUCT)
    levels = _levels(np.concatenate(list(_gathered(vectors, sample))))
    faiss.copy_array_to_vector(levels.astype(np.float32).ravel(), sketch.pq.centroids)
    sketch.is_trained = True
    for _, chunk in _chunks(vectors):
        sketch.add(chunk)
    try:
        faiss.write_index(sketch, str(folder / SKETCH))
    except RuntimeError as error:
        raise _unwritten(folder / SKETCH, error) from error


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


def _open_sketch(folder: Path, index: Any) -> Any:
    """The sketch; None in a folder without one, as older ones are."""
    if not (folder / SKETCH).exists():
        return None
    try:
        sketch = faiss.read_index(str(folder / SKETCH))
    except RuntimeError as error:
        raise IndexDamaged(folder / SKETCH, _first_line(error)) from error
    if (sketch.ntotal, sketch.d) != (index.ntotal, index.d):
        told = f"{sketch.ntotal} rows of {sketch.d} numbers for {index.ntotal} vectors of {index.d}"
        raise IndexDamaged(folder / SKETCH, told)
    return sketch


def _levels(sample: FloatArray) -> FloatArray:
    """Sixteen levels for each of the D numbers of a sample (n, D), that lose least of it: (D, 16) (Lloyd 1957)."""
    count, numbers = len(sample), np.sort(sample.T.astype(np.float64), axis=1)  # (D, n), ascending
    sums = np.pad(np.cumsum(numbers, axis=1), ((0, 0), (1, 0)))  # (D, n + 1)
    means, deviations = numbers.mean(axis=1, keepdims=True), numbers.std(axis=1, keepdims=True)
    levels: FloatArray = means + deviations * np.concatenate([-LEVELS[::-1], LEVELS])
    for _ in range(ROUNDS):
        between = (levels[:, 1:] + levels[:, :-1]) / 2  # (D, 15)
        for d, bounds in enumerate(between):
            ends = np.concatenate([[0], np.searchsorted(numbers[d], bounds), [count]])
            held = np.diff(ends)
            levels[d] = np.where(held, np.diff(sums[d, ends]) / np.maximum(held, 1), levels[d])
    return levels


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
        raise _unwritten(file, error) from error


def _unwritten(file: Path, error: Exception) -> OSError:
    file.unlink(missing_ok=True)
    return OSError(f"Expected to write {file}, but got: {_first_line(error)}; is the disk full?")


def _rows_file(shape: tuple[int, ...], codes: Iterable[NDArray[Any]]) -> Iterator[Part]:
    """The file of an exact index: that of an empty one, whose end is the number of its codes' bytes, and the codes."""
    n, d = shape
    index = faiss.IndexScalarQuantizer(d, _HALF, faiss.METRIC_INNER_PRODUCT)
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
