"""Nearest vectors by inner product: FAISS files in a folder. The one door of faiss.

    vectors.faiss              the rows in half precision, memory-mapped: what counts
    front.faiss                the same rows told coarsely, by which candidates are found where there are many

Every kind of front finds candidates, whose numbers in half precision are then read: scores are those of a full scan
whatever the kind (measured at 60,000 × 256: half the bytes of single precision, scores off by less than 1e-4).

    exact     no front: every row is read
    sketch    four bits a number, all of them scanned: a fifth of the time of a full scan, nothing to learn but levels
    hnsw      a graph over bytes, the fastest to ask, but slow to build and in memory while it is built
    ivf       lists of bytes around learnt centres, of which those nearest to the question are read, memory-mapped

Files are those that FAISS itself would write, but exact, sketch and ivf are written from the disk to the disk: no more
than a chunk of vectors is in memory.
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
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray, IntArray
from retrievers.engines.local.errors import CorruptIndexError

faiss: Any = import_module("faiss")  # Any: the stubs it ships know neither its keyword arguments nor half its classes

Kind = Literal["exact", "sketch", "hnsw", "ivf"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Part = bytes | memoryview
LiveMask = NDArray[np.bool_]

_HALF, _BYTES = faiss.ScalarQuantizer.QT_fp16, faiss.ScalarQuantizer.QT_8bit
_PRODUCT = faiss.METRIC_INNER_PRODUCT

FILE, FRONT = "vectors.faiss", "front.faiss"
SKETCH_FROM = 4_096  # a scan of fewer rows takes less time than a second stage
IVF_FROM = 200_000  # a sketch of as many takes 3 ms, finds all of the nearest ten and has nothing to learn

DEPTH = 2  # candidates for each row wanted (sketch, recall@200 on 31,169 passages of MedQuAD: 2 .994, 3 .999)
CANDIDATES = 100  # at least
LEAST = 1.5  # times as many as wanted have to be left without the dead ones, or every row is read after all
SPARSE = 0.3  # with fewer live rows than this share the nearest are mostly dead ones: every row is read

SAMPLE = 4_096  # rows that the levels of a sketch and the ranges of bytes are learnt from
ROUNDS = 5  # of Lloyd's algorithm: 20 find .0003 more
LEVELS = np.array([0.128395, 0.388048, 0.656759, 0.94234, 1.256231, 1.618046, 2.069017, 2.73259])
"""The positive half of the best 16 levels for a normally distributed number (Max 1960)."""
SKETCHED_AT_ONCE = 32  # rows that FAISS packs together

LINKS = 32  # of a node in the graph: with 16 it finds .97 where it finds .986 with 32, at the same width
BUILD_WIDTH, SEARCH_WIDTH = 100, 128  # candidates kept while the graph is built and while it is searched

LISTS = 4  # times √N: half as many take 1.4 times as long at the same recall
PROBES = 256
TRAINING_ROWS_A_LIST = 16  # 64 take several times as long to learn from, for .006 of recall@10

SAME_SCORE = 1e-6
CHUNK = 2_048  # a multiple of SKETCHED_AT_ONCE
CORES = os.cpu_count() or 1
DISTANCES_AT_ONCE = 1_024  # questions to centres: they take 4 MB; FAISS' own 4,096 take 16 and no less time
GATHERED = 64  # rows from all over a mapped file: each brings a hundred kilobytes around it

_COUNT = struct.Struct("<Q")  # how FAISS writes the length of an array


@dataclass(frozen=True, slots=True)
class DenseIndex:
    """An index opened for reading; rows are numbered as they were given to `build`."""

    kind: Kind
    dimension: int
    count: int  # rows; FAISS lets another thread in whenever it is asked for something, even this
    _vectors: Any
    _codes: NDArray[np.uint8]  # (N, 2 D), the mapped numbers
    _refined: Any = None  # the front's candidates by the numbers of the vectors

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map the index in `folder`.

        Raises:
            FileNotFoundError: there is no such folder.
            CorruptIndexError: the folder is there, but a file is missing, cut short or of another kind.
        """
        if not folder.is_dir():
            raise FileNotFoundError(
                f"Expected a dense index in {folder}, but got no such folder; run qa-bot add first."
            )
        vectors = _read(folder / FILE)
        if type(vectors) is not faiss.IndexScalarQuantizer or vectors.sq.qtype != _HALF:
            raise CorruptIndexError(folder / FILE, f"an index of type {type(vectors).__name__}")
        front = _read(folder / FRONT) if (folder / FRONT).exists() else None
        kind = _kind_of(front, folder)
        if front is not None and (front.ntotal, front.d) != (vectors.ntotal, vectors.d):
            told = f"{front.ntotal} rows of {front.d} numbers for {vectors.ntotal} vectors of {vectors.d}"
            raise CorruptIndexError(folder / FRONT, told)
        refined = faiss.IndexRefine(front, vectors) if front is not None else None
        return cls(kind, vectors.d, vectors.ntotal, vectors, _codes(vectors), refined)

    def __len__(self) -> int:
        return self.count

    def search(
        self, queries: FloatArray, k: int, *, live_mask: LiveMask | None = None, exact: bool = False
    ) -> tuple[FloatArray, IntArray]:
        """The k rows of greatest inner product with each query, best first, equal scores by row.

        Args:
            queries: (Q, D), unit or zero rows; a zero row is no question and finds nothing.
            k: how many rows; where there are fewer the rest is padded with row −1 and score −inf.
            live_mask: (N,), true at rows that may be found.
            exact: read every row, whatever the kind of the index.

        Returns:
            Scores (Q, k) and rows (Q, k).
        """
        queries = self._checked(queries)
        if live_mask is not None and live_mask.shape != (len(self),):
            raise ValueError(f"Expected a mask of shape ({len(self)},), but got {live_mask.shape}.")
        asked = queries.any(axis=1)  # (Q,)
        wanted = min(k, len(self))
        if wanted == k > 0 and asked.all():  # as nearly always: nothing is left to fill up
            return _ordered(*self._search(queries, k, live_mask, exact))
        scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
        rows = np.full((len(queries), k), -1, dtype=np.int64)
        if asked.any() and wanted > 0:
            found = self._search(queries[asked], wanted, live_mask, exact)
            scores[asked, :wanted], rows[asked, :wanted] = _ordered(*found)
        return scores, rows

    def rows(self, indices: IntArray) -> FloatArray:
        """The vectors of these rows as they are stored, (n, D), for scoring again."""
        indices = np.ascontiguousarray(indices, dtype=np.int64)
        if len(indices) == 0:
            return np.empty((0, self.dimension), dtype=np.float32)
        if indices.min() < 0 or indices.max() >= len(self):
            raise IndexError(f"Expected rows from 0 to {len(self) - 1}, but got {indices.min()} to {indices.max()}.")
        vectors: FloatArray = self._vectors.reconstruct_batch(indices)
        return vectors

    def scores(self, rows: IntArray, query: FloatArray) -> FloatArray:
        """Inner products of these rows with a query (D,), (n,).

        FAISS reads half-precision numbers five times as fast as numpy does.
        """
        if len(rows) == 0:
            return np.empty(0, np.float32)
        faiss.omp_set_num_threads(1)
        few = faiss.IndexScalarQuantizer(self.dimension, _HALF, _PRODUCT)
        few.add_sa_codes(self._codes[rows])
        (scored,), (places,) = few.search(query[None], len(rows))
        scores: FloatArray = np.empty_like(scored)
        scores[places] = scored
        return scores

    def _search(
        self, queries: FloatArray, k: int, live_mask: LiveMask | None, exact: bool
    ) -> tuple[FloatArray, IntArray]:
        # A setting of the calling thread in OpenMP, so it is said before every search.
        faiss.omp_set_num_threads(min(len(queries), CORES))
        share = 1.0 if live_mask is None else float(live_mask.mean())
        wanted = max(DEPTH * k, CANDIDATES)
        if self._refined is not None and not exact and share >= SPARSE and wanted < len(self):
            return self._among(*self._candidates(queries, wanted, live_mask, share), queries, k, live_mask)
        selector = None if live_mask is None else faiss.SearchParameters(sel=_selector(live_mask))
        scores, rows = self._vectors.search(queries, k, params=selector)
        return scores, rows

    def _candidates(
        self, queries: FloatArray, wanted: int, live_mask: LiveMask | None, share: float
    ) -> tuple[FloatArray, IntArray]:
        """Scores (Q, M) and rows (Q, M) of what the front finds, best first by its numbers; −1 where there is less."""
        selector = None if live_mask is None or self.kind == "sketch" else _selector(live_mask)
        match self.kind:
            case "ivf":
                front = faiss.SearchParametersIVF(sel=selector, nprobe=PROBES)
            case "hnsw":
                front = faiss.SearchParametersHNSW(sel=selector, efSearch=max(SEARCH_WIDTH, wanted))
            case _:  # a scan of all cannot pass over any: so many more are asked for
                front, wanted = None, min(int(wanted / share), len(self))
        parameters = faiss.IndexRefineSearchParameters(k_factor=1, base_index_params=front)
        scores, rows = self._refined.search(queries, wanted, params=parameters)
        return scores, rows

    def _among(
        self, scores: FloatArray, rows: IntArray, queries: FloatArray, k: int, live_mask: LiveMask | None
    ) -> tuple[FloatArray, IntArray]:
        """The first k of candidates (Q, M) that are live; where they are too few, the best of all rows."""
        there = (rows >= 0) if live_mask is None else (rows >= 0) & live_mask[rows]
        if there.all():
            return scores[:, :k], rows[:, :k]
        best, found = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
        for i, live in enumerate(there):
            if live.sum() < LEAST * k:
                best[i], found[i] = (each[0] for each in self._search(queries[i : i + 1], k, live_mask, exact=True))
            else:
                best[i], found[i] = scores[i, live][:k], rows[i, live][:k]
        return best, found

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
        kind: by default exact below 4,096 rows, sketch below 200,000, ivf above.

    Raises:
        ValueError: a row is not finite or not of unit length.
        OSError: the disk is full; the unfinished file is removed.
    """
    if vectors.ndim != 2:
        raise ValueError(f"Expected vectors of shape (N, D), but got {vectors.shape}.")
    kind = "exact" if len(vectors) == 0 else kind or kind_for(len(vectors))  # nothing to learn from
    for start, chunk in _chunks(vectors):
        _refuse_bad_rows(chunk, start)
    folder.mkdir(parents=True, exist_ok=True)
    halves = (chunk.astype(np.float16) for _, chunk in _chunks(vectors))
    _write(folder / FILE, _rows_file(vectors.shape, halves))
    write_front(folder, vectors, kind)
    return DenseIndex.open(folder)


def write_front(folder: Path, vectors: FloatArray, kind: Kind) -> None:
    """Write the front of `vectors`, (N, D), into `folder`, in place of the one there.

    Raises:
        OSError: the disk is full; the unfinished file is removed.
    """
    match kind:
        case "exact":
            (folder / FRONT).unlink(missing_ok=True)
        case "sketch":
            _write(folder / FRONT, _sketch_file(vectors))
        case "ivf":
            _write(folder / FRONT, _lists_file(vectors, folder))
        case "hnsw":
            _write_graph(folder / FRONT, vectors)


def kind_for(rows: int) -> Kind:
    if rows < SKETCH_FROM:
        return "exact"
    return "sketch" if rows < IVF_FROM else "ivf"


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


def _read(file: Path) -> Any:
    try:
        return faiss.read_index(str(file), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        raise CorruptIndexError(file, _first_line(error)) from error


def _kind_of(front: Any, folder: Path) -> Kind:
    kinds: dict[type, Kind] = {
        type(None): "exact",
        faiss.IndexPQFastScan: "sketch",
        faiss.IndexHNSWSQ: "hnsw",
        faiss.IndexIVFScalarQuantizer: "ivf",
    }
    if type(front) not in kinds:
        raise CorruptIndexError(folder / FRONT, f"an index of type {type(front).__name__}")
    return kinds[type(front)]


def _codes(index: Any) -> NDArray[np.uint8]:
    """What an index of rows has mapped, (N, 2 D); to be read only while the index lives."""
    codes: NDArray[np.uint8] = faiss.rev_swig_ptr(index.codes.data(), index.ntotal * index.code_size)
    return codes.reshape(index.ntotal, index.code_size)


def _selector(live_mask: LiveMask) -> Any:
    return faiss.IDSelectorBitmap(np.packbits(live_mask, bitorder="little"))


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
        yield np.ascontiguousarray(vectors[rows[start : start + GATHERED]], dtype=np.float32)
        _let_go(vectors)


def _sampled(vectors: FloatArray, count: int) -> Iterator[FloatArray]:
    """Some of the rows, evenly from all over."""
    return _gathered(vectors, np.linspace(0, len(vectors) - 1, num=min(len(vectors), count), dtype=np.int64))


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
    """The file of all rows: that of an empty index, whose end is the number of its codes' bytes, and the codes."""
    n, d = shape
    index = faiss.IndexScalarQuantizer(d, _HALF, _PRODUCT)
    index.ntotal = n
    yield faiss.serialize_index(index).tobytes()[: -_COUNT.size] + _COUNT.pack(n * index.sa_code_size())
    yield from (code.data for code in codes)


def _sketch_file(vectors: FloatArray) -> Iterator[Part]:
    """The file of a sketch: that of an empty one, whose end is the number of its codes' bytes, and the codes.

    A row is read sixteen numbers an instruction from tables in registers (FAISS' fast scan, André et al. 2015). The
    levels of each of the D numbers are learnt one by one, from those that suit a normal distribution best.
    """
    n, d = vectors.shape
    sketch = faiss.IndexPQFastScan(d, d, 4, _PRODUCT)
    levels = _levels(np.concatenate(list(_sampled(vectors, SAMPLE))))
    faiss.copy_array_to_vector(levels.astype(np.float32).ravel(), sketch.pq.centroids)
    sketch.is_trained = True
    sketch.ntotal, sketch.ntotal2 = n, -(-n // SKETCHED_AT_ONCE) * SKETCHED_AT_ONCE
    yield faiss.serialize_index(sketch).tobytes()[: -_COUNT.size] + _COUNT.pack(sketch.ntotal2 * sketch.M2 // 2)
    for _, chunk in _chunks(vectors):
        sketch.reset()
        sketch.add(chunk)
        yield faiss.rev_swig_ptr(sketch.codes.get(), sketch.ntotal2 * sketch.M2 // 2).data


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


def _byte_ranges(vectors: FloatArray) -> Any:
    """What turns each of the D numbers into a byte, learnt from a sample."""
    rows = faiss.IndexScalarQuantizer(vectors.shape[1], _BYTES, _PRODUCT)
    rows.train(np.concatenate(list(_sampled(vectors, SAMPLE))))
    return rows


def _write_graph(file: Path, vectors: FloatArray) -> None:
    """A graph over bytes (Malkov & Yashunin 2018), which is in memory until it is written: 640 bytes a row of 256."""
    faiss.omp_set_num_threads(CORES)
    graph = faiss.IndexHNSWSQ(vectors.shape[1], _BYTES, LINKS, _PRODUCT)
    graph.hnsw.efConstruction = BUILD_WIDTH
    graph.train(np.concatenate(list(_sampled(vectors, SAMPLE))))
    for _, chunk in _chunks(vectors):
        graph.add(chunk)
    try:
        faiss.write_index(graph, str(file))
    except RuntimeError as error:
        raise _unwritten(file, error) from error


def _lists_file(vectors: FloatArray, scratch: Path) -> Iterator[Part]:
    """The file of inverted lists: header, sizes of the lists, and of each the bytes of its rows and their numbers.

    It takes 12 bytes of memory a row, beside a chunk of vectors.
    """
    faiss.omp_set_num_threads(CORES)
    faiss.cvar.distance_compute_blas_query_bs = DISTANCES_AT_ONCE
    index, ranges = _trained(vectors, scratch), _byte_ranges(vectors)
    faiss.copy_array_to_vector(faiss.vector_to_array(ranges.sq.trained), index.sq.trained)
    listed = _assigned(index.quantizer, vectors)  # (N,)
    sizes = np.bincount(listed, minlength=index.nlist)  # (lists,)
    order = np.argsort(listed, kind="stable")  # (N,), rows list by list
    index.ntotal = len(vectors)
    head = faiss.serialize_index(index).tobytes()
    yield head.removesuffix(b"sprs" + _COUNT.pack(0)) + b"full" + _COUNT.pack(len(sizes))
    yield sizes.astype(np.uint64).data
    for rows in np.split(order, np.cumsum(sizes)[:-1]):
        yield from (ranges.sa_encode(part).data for part in _gathered(vectors, rows))
        yield rows.data


def _trained(vectors: FloatArray, scratch: Path) -> Any:
    """Inverted lists without rows, their centres learnt from a sample that lies in a nameless file in `scratch`."""
    n, d = vectors.shape
    lists = min(int(LISTS * n**0.5), n)
    by_residual = False  # ranges of bytes are learnt for the numbers themselves
    index = faiss.IndexIVFScalarQuantizer(faiss.IndexFlatIP(d), d, lists, _BYTES, _PRODUCT, by_residual)
    settings = index.cp
    settings.min_points_per_centroid, settings.max_points_per_centroid = 1, TRAINING_ROWS_A_LIST + 1  # take it whole
    count = min(n, lists * TRAINING_ROWS_A_LIST)
    with tempfile.TemporaryFile(dir=scratch) as sample:
        for part in _sampled(vectors, count):
            sample.write(part.data)
        sample.flush()
        mapped = np.asarray(np.memmap(sample, np.float32, "r", shape=(count, d)))
        faiss.Clustering(d, lists, settings).train(mapped, index.quantizer)
    index.is_trained = True
    return index


def _assigned(centres: Any, vectors: FloatArray) -> NDArray[np.int32]:
    """The list of each row, (N,)."""
    listed = np.empty(len(vectors), np.int32)
    for start, chunk in _chunks(vectors):
        listed[start : start + len(chunk)] = centres.search(chunk, 1)[1][:, 0]
    return listed


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
