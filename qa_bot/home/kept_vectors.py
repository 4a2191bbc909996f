"""Keeps vectors of texts while an index is improved, so that an interrupted run continues where it stopped.

    HOME/vectors/NAME.vectors    records of `RECORD`: key of a text, checksum, scale and codes of its vector

The folder belongs to one encoder at a time: `fingerprint` names it, and vectors of another are removed. Every run
writes a separate file, so a cut-off last record of a run that was killed harms no other. A vector is read back with
a cosine of .9999 to the one that was kept.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from qa_bot.home.generations import Generation
from qa_bot.home.index import open_segments
from qa_core.atomic import atomic_file
from qa_core.types import Encoder, FloatArray, IntArray, Side
from retrievers.engines.local.indexed_documents import encoded_texts

FINGERPRINT = "fingerprint"
SUFFIX = ".vectors"
GREATEST = 127
"""The largest code of a vector."""
DOCUMENTS = 256
"""Documents that are read at once."""
BLOCK = 8_192
"""Records that are checked at once."""

Keys = NDArray[np.uint64]
Mask = NDArray[np.bool_]


class KeptVectors:
    """Vectors by key of their text; one thread at a time may use it."""

    def __init__(self, folder: Path, fingerprint: str, dimension: int) -> None:
        """Opens the vectors of an encoder; those of another one in the folder are removed."""
        self._folder, self._dimension = folder, dimension
        self._record = _record(dimension)
        _prepare(folder, fingerprint)
        self._files: list[np.memmap[tuple[int], np.dtype[np.void]]] = []
        self._keys: Keys = np.zeros(0, np.uint64)
        self._places: IntArray = np.zeros((0, 2), np.int64)
        self._new: set[int] = set()
        self._writing: BinaryIO | None = None
        self._load()

    def __len__(self) -> int:
        return len(self._keys) + len(self._new)

    def has(self, keys: Keys) -> Mask:
        """Which keys (n,) have a vector."""
        is_kept = np.isin(keys, self._keys)
        if self._new:
            is_kept |= np.fromiter((key in self._new for key in keys.tolist()), np.bool_, len(keys))
        return is_kept

    def get(self, keys: Keys) -> tuple[Mask, FloatArray]:
        """Which keys (n,) have a vector that was flushed, and their unit rows (n, D); 0 for the others."""
        vectors = np.zeros((len(keys), self._dimension), np.float32)
        rows = np.searchsorted(self._keys, keys)
        rows[rows == len(self._keys)] = 0
        is_kept: Mask = self._keys[rows] == keys if len(self._keys) else np.zeros(len(keys), np.bool_)
        places = self._places[rows[is_kept]]
        held = np.flatnonzero(is_kept)
        for number, file in enumerate(self._files):
            in_file = places[:, 0] == number
            records = file[places[in_file, 1]]
            vectors[held[in_file]] = records["codes"] * records["scale"][:, None]
        norms: FloatArray = np.linalg.norm(vectors, axis=1, keepdims=True)
        norms[norms == 0] = 1
        vectors /= norms
        return is_kept, vectors

    def keep(self, keys: Keys, vectors: FloatArray) -> None:
        """Append the vectors (n, D) of texts; they last once `flush` has returned."""
        if self._writing is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._writing = (self._folder / f"{secrets.token_hex(8)}{SUFFIX}").open("xb")
        scales = np.maximum(np.abs(vectors).max(axis=1, initial=0), 1e-12) / GREATEST
        records = np.zeros(len(keys), self._record)
        records["key"], records["scale"] = keys, scales
        records["codes"] = np.rint(vectors / scales[:, None])
        records["checksum"] = _checksums(records)
        self._writing.write(records.tobytes())
        self._new.update(keys.tolist())

    def flush(self) -> None:
        """Write everything that was kept, and make it readable by `get`."""
        if self._writing is not None:
            self._writing.close()
            self._writing = None
        self._new.clear()
        self._load()

    def remove(self) -> None:
        """Delete all vectors."""
        self.flush()
        self._files = []
        shutil.rmtree(self._folder, ignore_errors=True)

    def bound(self, texts: int) -> None:
        """Delete the vectors if there are far more of them than texts: most are then those of former documents."""
        if len(self) > 2 * texts + BLOCK:
            self._files = []
            for path in self._folder.glob(f"*{SUFFIX}"):
                path.unlink()
            self._load()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.flush()

    def _load(self) -> None:
        self._files = [file for path in sorted(self._folder.glob(f"*{SUFFIX}")) if len(file := self._mapped(path))]
        keys, places = [np.zeros(0, np.uint64)], [np.zeros((0, 2), np.int64)]
        for number, file in enumerate(self._files):
            for start in range(0, len(file), BLOCK):
                block = file[start : start + BLOCK]
                sound = np.flatnonzero(block["checksum"] == _checksums(block))
                keys.append(block["key"][sound])
                places.append(np.column_stack([np.full(len(sound), number), sound + start]))
        unsorted = np.concatenate(keys)
        self._keys, first = np.unique(unsorted, return_index=True)
        self._places = np.concatenate(places)[first]

    def _mapped(self, path: Path) -> np.memmap[tuple[int], np.dtype[np.void]]:
        """The whole records of a file."""
        count = path.stat().st_size // self._record.itemsize
        if not count:
            return np.zeros(0, self._record)  # type: ignore[return-value]  # an empty file cannot be mapped
        return np.memmap(path, self._record, "r", shape=(count,))


class KeepingEncoder:
    """An encoder that looks texts up among kept vectors first."""

    quick: ClassVar[bool] = False

    def __init__(self, encoder: Encoder, vectors: KeptVectors) -> None:
        self._encoder, self._kept = encoder, vectors

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    @property
    def fingerprint(self) -> str:
        return self._encoder.fingerprint

    def encode(self, texts: Sequence[str], *, side: Side = "question") -> FloatArray:
        """Rows of unit length, (N, D); a zero row for a blank text."""
        is_kept, vectors = self._kept.get(keys_of(texts, side))
        others = [i for i in np.flatnonzero(~is_kept).tolist() if texts[i].strip()]
        if others:
            vectors[others] = self._encoder.encode([texts[i] for i in others], side=side)
        return vectors

    @property
    def extends(self) -> Collection[str]:
        return self._encoder.extends

    def knows(self, word: str) -> bool:
        return self._encoder.knows(word)


def keys_of(texts: Iterable[str], side: Side) -> Keys:
    """A key for each text (n,): 64 bits of its hash, so two of ten million texts share one with a chance of 3e-6."""
    digests = (hashlib.blake2b(f"{side}\0{text}".encode("utf-8", "replace"), digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def keep_generation(memory: KeptVectors, generation: Generation) -> None:
    """Keep the vectors of all live documents of a generation."""
    for segment in open_segments(generation).values():
        rows = segment.live_rows()
        while batch := list(islice(rows, DOCUMENTS)):
            titles, answers = encoded_texts([segment.document(row) for row in batch])
            passages = np.concatenate([np.array(segment.passage_rows(row), np.int64) for row in batch])
            bodies = segment.vectors("bodies", passages)
            units = [segment.units.of_passage(row) for row in passages.tolist()] if segment.units else []
            memory.keep(keys_of(titles, "question"), segment.vectors("titles", np.array(batch, np.int64)))
            memory.keep(keys_of(answers, "answer"), np.concatenate([bodies, *units]).astype(np.float32))


def damaged_files(folder: Path, dimension: int) -> list[Path]:
    """Files with records whose checksum is wrong; a last record that was cut off by a kill is no damage."""
    return [path for path in sorted(folder.glob(f"*{SUFFIX}")) if _is_damaged(path, _record(dimension))]


def _is_damaged(path: Path, record: np.dtype[np.void]) -> bool:
    if not (count := path.stat().st_size // record.itemsize):
        return False
    file = np.memmap(path, record, "r", shape=(count,))
    blocks = (file[start : start + BLOCK] for start in range(0, count, BLOCK))
    return any((block["checksum"] != _checksums(block)).any() for block in blocks)


def _record(dimension: int) -> np.dtype[np.void]:
    return np.dtype([("key", "<u8"), ("checksum", "<u4"), ("scale", "<f4"), ("codes", "i1", (dimension,))])


def lengthwise(texts: Sequence[str], size: int) -> Iterator[list[int]]:
    """Batches of positions of about `size` texts each, of similar length."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _prepare(folder: Path, fingerprint: str) -> None:
    """Make the folder that of an encoder."""
    note = folder / FINGERPRINT
    if note.is_file() and note.read_text("ascii", "replace") == fingerprint:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    with atomic_file(note) as file:
        file.write(fingerprint.encode())


def _checksums(records: NDArray[np.void]) -> NDArray[np.uint32]:
    """Sums (n,) that differ from 0, so that a block of zeros, which a crash may leave, is not taken for records."""
    weights = np.arange(3, 3 + records["codes"].shape[1], dtype=np.int64)
    sums = records["codes"].astype(np.int64) @ weights + (records["key"] % np.uint64(2**31)).astype(np.int64)
    sums += np.ascontiguousarray(records["scale"]).view(np.uint32)
    return ((sums + 1) % (2**32)).astype(np.uint32)
