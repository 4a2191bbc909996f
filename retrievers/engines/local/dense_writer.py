"""Writes the FAISS files of a dense index: half-precision rows and their coarse codes.

The files are the ones that FAISS itself would write. All but the graph are streamed from disk to disk, with a chunk of
vectors in memory at a time.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterable, Iterator
from mmap import MADV_DONTNEED, mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray, IntArray
from retrievers.engines.local.dense import (
    COARSE_FILE,
    CORES,
    FILE,
    HALF,
    INNER_PRODUCT,
    DenseIndex,
    Kind,
    faiss,
    first_line,
)

Part = bytes | memoryview

SKETCH_FROM = 4_096  # a scan of fewer rows is faster than two stages
IVF_FROM = 200_000  # a sketch of as many takes 3 ms, finds all of the nearest ten and needs no training

TRAINING_SAMPLE = 4_096  # rows from which the levels of a sketch and the ranges of bytes are learned
LLOYD_ROUNDS = 5  # 20 rounds gain .0003 of recall
NORMAL_LEVELS = np.array([0.128395, 0.388048, 0.656759, 0.94234, 1.256231, 1.618046, 2.069017, 2.73259])
"""The positive half of the best 16 levels for a normally distributed number (Max 1960)."""
SKETCH_BLOCK = 32  # rows that FAISS packs together

HNSW_LINKS = 32  # of a node; at the same search width 16 links find .97 and 32 find .986
HNSW_BUILD_WIDTH = 100  # candidates kept while the graph is built

IVF_LISTS = 4  # times √N; half as many take 1.4 times as long at the same recall
TRAINING_ROWS_A_LIST = 16  # 64 rows gain .006 of recall@10 and take several times as long

CHUNK = 2_048  # rows; a multiple of SKETCH_BLOCK
QUERIES_PER_DISTANCE_BLOCK = 1_024  # 4 MB; the default of FAISS, 4,096, takes 16 MB and is no faster
GATHER_BLOCK = 64  # scattered rows of a mapped file; each pulls a hundred kilobytes around it into memory

_BYTES = faiss.ScalarQuantizer.QT_8bit
_COUNT = struct.Struct("<Q")  # FAISS writes the length of an array in this format


def build(folder: Path, vectors: FloatArray, *, kind: Kind | None = None) -> DenseIndex:
    """Write an index of `vectors` into `folder` and open it.

    Args:
        folder: created if missing; gets the files of the index and nothing else.
        vectors: (N, D), rows of unit length, or zero for a text without known tokens; may be memory-mapped.
        kind: by default exact below 4,096 rows, sketch below 200,000, ivf above.

    Raises:
        ValueError: a row is not finite or not of unit length.
        OSError: the disk is full; the unfinished file is removed.
    """
    if vectors.ndim != 2:
        raise ValueError(f"Expected vectors of shape (N, D), but got {vectors.shape}.")
    kind = "exact" if len(vectors) == 0 else kind or kind_for(len(vectors))  # coarse codes need rows to learn from
    for start, chunk in _chunks(vectors):
        _refuse_bad_rows(chunk, start)
    folder.mkdir(parents=True, exist_ok=True)
    halves = (chunk.astype(np.float16) for _, chunk in _chunks(vectors))
    _write(folder / FILE, _rows_file(vectors.shape, halves))
    write_coarse(folder, vectors, kind)
    return DenseIndex.open(folder)


def write_coarse(folder: Path, vectors: FloatArray, kind: Kind) -> None:
    """Write the coarse codes of `vectors`, (N, D), into `folder`, replacing those that are there.

    Raises:
        OSError: the disk is full; the unfinished file is removed.
    """
    match kind:
        case "exact":
            (folder / COARSE_FILE).unlink(missing_ok=True)
        case "sketch":
            _write(folder / COARSE_FILE, _sketch_file(vectors))
        case "ivf":
            _write(folder / COARSE_FILE, _lists_file(vectors, folder))
        case "hnsw":
            _write_graph(folder / COARSE_FILE, vectors)


def kind_for(rows: int) -> Kind:
    if rows < SKETCH_FROM:
        return "exact"
    return "sketch" if rows < IVF_FROM else "ivf"


def _chunks(vectors: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    for start in range(0, len(vectors), CHUNK):
        yield start, np.ascontiguousarray(vectors[start : start + CHUNK], dtype=np.float32)
        _release_pages(vectors)


def _gathered(vectors: FloatArray, rows: IntArray) -> Iterator[FloatArray]:
    for start in range(0, len(rows), GATHER_BLOCK):
        yield np.ascontiguousarray(vectors[rows[start : start + GATHER_BLOCK]], dtype=np.float32)
        _release_pages(vectors)


def _sampled(vectors: FloatArray, count: int) -> Iterator[FloatArray]:
    """At most `count` evenly spaced rows, in blocks."""
    return _gathered(vectors, np.linspace(0, len(vectors) - 1, num=min(len(vectors), count), dtype=np.int64))


def _release_pages(vectors: FloatArray) -> None:
    """Release the memory of mapped vectors that were read; the kernel would keep it until memory runs out."""
    if isinstance(vectors.base, mmap):
        vectors.base.madvise(MADV_DONTNEED)


def _refuse_bad_rows(chunk: FloatArray, start: int) -> None:
    norms = np.sqrt(np.einsum("nd,nd->n", chunk, chunk))  # (n,); NaN or infinite if a number of the row is
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
        raise _write_error(file, error) from error


def _write_error(file: Path, error: Exception) -> OSError:
    file.unlink(missing_ok=True)
    return OSError(f"Expected to write {file}, but got: {first_line(error)}; is the disk full?")


def _rows_file(shape: tuple[int, ...], codes: Iterable[NDArray[Any]]) -> Iterator[Part]:
    """The file of all rows: an empty index, whose last field is the number of bytes of its codes, then the codes."""
    n, d = shape
    index = faiss.IndexScalarQuantizer(d, HALF, INNER_PRODUCT)
    index.ntotal = n
    yield faiss.serialize_index(index).tobytes()[: -_COUNT.size] + _COUNT.pack(n * index.sa_code_size())
    yield from (code.data for code in codes)


def _sketch_file(vectors: FloatArray) -> Iterator[Part]:
    """The file of a sketch: an empty index, whose last field is the number of bytes of its codes, then the codes.

    FAISS' fast scan reads sixteen numbers of a row per instruction from tables in registers (André et al. 2015). The
    levels of each of the D numbers are learned separately, starting from those of a normal distribution.
    """
    n, d = vectors.shape
    sketch = faiss.IndexPQFastScan(d, d, 4, INNER_PRODUCT)
    levels = _levels(np.concatenate(list(_sampled(vectors, TRAINING_SAMPLE))))
    faiss.copy_array_to_vector(levels.astype(np.float32).ravel(), sketch.pq.centroids)
    sketch.is_trained = True
    sketch.ntotal, sketch.ntotal2 = n, -(-n // SKETCH_BLOCK) * SKETCH_BLOCK
    yield faiss.serialize_index(sketch).tobytes()[: -_COUNT.size] + _COUNT.pack(sketch.ntotal2 * sketch.M2 // 2)
    for _, chunk in _chunks(vectors):
        sketch.reset()
        sketch.add(chunk)
        yield faiss.rev_swig_ptr(sketch.codes.get(), sketch.ntotal2 * sketch.M2 // 2).data


def _levels(sample: FloatArray) -> FloatArray:
    """Sixteen levels (D, 16) for each of the D numbers of a sample (n, D), with least squared error (Lloyd 1957)."""
    count, numbers = len(sample), np.sort(sample.T.astype(np.float64), axis=1)  # (D, n), ascending
    sums = np.pad(np.cumsum(numbers, axis=1), ((0, 0), (1, 0)))  # (D, n + 1)
    means, deviations = numbers.mean(axis=1, keepdims=True), numbers.std(axis=1, keepdims=True)
    levels: FloatArray = means + deviations * np.concatenate([-NORMAL_LEVELS[::-1], NORMAL_LEVELS])
    for _ in range(LLOYD_ROUNDS):
        between = (levels[:, 1:] + levels[:, :-1]) / 2  # (D, 15)
        for d, bounds in enumerate(between):
            ends = np.concatenate([[0], np.searchsorted(numbers[d], bounds), [count]])
            sizes = np.diff(ends)
            levels[d] = np.where(sizes, np.diff(sums[d, ends]) / np.maximum(sizes, 1), levels[d])
    return levels


def _byte_ranges(vectors: FloatArray) -> Any:
    """A quantiser of each of the D numbers to a byte, its ranges learned from a sample."""
    rows = faiss.IndexScalarQuantizer(vectors.shape[1], _BYTES, INNER_PRODUCT)
    rows.train(np.concatenate(list(_sampled(vectors, TRAINING_SAMPLE))))
    return rows


def _write_graph(file: Path, vectors: FloatArray) -> None:
    """A graph over bytes (Malkov & Yashunin 2018), in memory until it is written: 640 bytes per row for D = 256."""
    faiss.omp_set_num_threads(CORES)
    graph = faiss.IndexHNSWSQ(vectors.shape[1], _BYTES, HNSW_LINKS, INNER_PRODUCT)
    graph.hnsw.efConstruction = HNSW_BUILD_WIDTH
    graph.train(np.concatenate(list(_sampled(vectors, TRAINING_SAMPLE))))
    for _, chunk in _chunks(vectors):
        graph.add(chunk)
    try:
        faiss.write_index(graph, str(file))
    except RuntimeError as error:
        raise _write_error(file, error) from error


def _lists_file(vectors: FloatArray, scratch: Path) -> Iterator[Part]:
    """The file of inverted lists: header, sizes of the lists, then for each list the codes and numbers of its rows.

    Memory: 12 bytes per row and a chunk of vectors.
    """
    faiss.omp_set_num_threads(CORES)
    faiss.cvar.distance_compute_blas_query_bs = QUERIES_PER_DISTANCE_BLOCK
    index, ranges = _trained_lists(vectors, scratch), _byte_ranges(vectors)
    faiss.copy_array_to_vector(faiss.vector_to_array(ranges.sq.trained), index.sq.trained)
    list_of = _nearest_centres(index.quantizer, vectors)  # (N,)
    sizes = np.bincount(list_of, minlength=index.nlist)  # (lists,)
    order = np.argsort(list_of, kind="stable")  # (N,), rows list by list
    index.ntotal = len(vectors)
    head = faiss.serialize_index(index).tobytes()
    yield head.removesuffix(b"sprs" + _COUNT.pack(0)) + b"full" + _COUNT.pack(len(sizes))
    yield sizes.astype(np.uint64).data
    for rows in np.split(order, np.cumsum(sizes)[:-1]):
        yield from (ranges.sa_encode(part).data for part in _gathered(vectors, rows))
        yield rows.data


def _trained_lists(vectors: FloatArray, scratch: Path) -> Any:
    """Empty inverted lists; their centres are learned from a sample in an unnamed temporary file in `scratch`."""
    n, d = vectors.shape
    lists = min(int(IVF_LISTS * n**0.5), n)
    by_residual = False  # the ranges of bytes are learned for the numbers, not for their distances to a centre
    index = faiss.IndexIVFScalarQuantizer(faiss.IndexFlatIP(d), d, lists, _BYTES, INNER_PRODUCT, by_residual)
    settings = index.cp
    settings.min_points_per_centroid = 1
    settings.max_points_per_centroid = TRAINING_ROWS_A_LIST + 1  # else FAISS would sample again
    count = min(n, lists * TRAINING_ROWS_A_LIST)
    with tempfile.TemporaryFile(dir=scratch) as sample:
        for part in _sampled(vectors, count):
            sample.write(part.data)
        sample.flush()
        mapped = np.asarray(np.memmap(sample, np.float32, "r", shape=(count, d)))
        faiss.Clustering(d, lists, settings).train(mapped, index.quantizer)
    index.is_trained = True
    return index


def _nearest_centres(centres: Any, vectors: FloatArray) -> NDArray[np.int32]:
    """The list (N,) of each row."""
    nearest = np.empty(len(vectors), np.int32)
    for start, chunk in _chunks(vectors):
        nearest[start : start + len(chunk)] = centres.search(chunk, 1)[1][:, 0]
    return nearest
