"""The files of a triple index: memory-mapped columns of numbers, one of text, and a manifest that describes them.

    manifest.json            counts, and the length and CRC-32 of every file
    terms.text               all terms as UTF-8, concatenated in byte order; a term's id is its index
    terms.begins             uint64 (T + 1,), where each term begins
    spo.begins               uint32 (T + 1,), where each subject's rows begin in spo.* and sop.*
    spo.predicates, .objects       uint32 (N,), ordered by subject, predicate, object
    sop.objects, .predicates       uint32 (N,), ordered by subject, object, predicate
    ops.begins               uint32 (T + 1,), where each object's rows begin in ops.*
    ops.predicates, .subjects      uint32 (N,), ordered by object, predicate, subject
    predicates.ids, .counts  uint32 (P,), the predicates and how many triples have each

The leading column of each order is not stored: the `begins` imply it. A triple takes 24 bytes, a term 16.
"""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

MANIFEST = "manifest.json"
FORMAT = 1
Ids = NDArray[np.uint32]
_T = TypeVar("_T")
WIDTHS = {
    "terms.text": 1,
    "terms.begins": 8,
    "spo.begins": 4,
    "spo.predicates": 4,
    "spo.objects": 4,
    "sop.objects": 4,
    "sop.predicates": 4,
    "ops.begins": 4,
    "ops.predicates": 4,
    "ops.subjects": 4,
    "predicates.ids": 4,
    "predicates.counts": 4,
}


class CorruptGraphError(RuntimeError):  # says what is the case, like StopIteration
    """The files of a triple index were changed after it was written. A missing index is a FileNotFoundError."""

    def __init__(self, path: Path, problem: object) -> None:
        super().__init__(f"Expected a whole triple index, but got {problem} in {path}; build it again.")
        self.path = path


@dataclass(frozen=True, slots=True)
class Totals:
    """Numbers of distinct triples, terms, terms that are literals, and predicates."""

    triples: int
    terms: int
    literals: int
    predicates: int


def write_manifest(folder: Path, totals: Totals) -> None:
    files = {name: {"bytes": (folder / name).stat().st_size, "crc32": checksum(folder / name)} for name in WIDTHS}
    manifest = {"format": FORMAT, **asdict(totals), "files": files}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", encoding="ascii")


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest, after a check of the files' lengths.

    Raises FileNotFoundError if there is no index, CorruptGraphError if a file is missing or has the wrong length.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"Expected a triple index in {folder}, but got no such folder; build one first.")
    path = folder / MANIFEST
    manifest = _guarded(path, lambda: json.loads(path.read_text("ascii")))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise CorruptGraphError(path, f"no manifest of format {FORMAT}")
    lengths = _guarded(path, lambda: _file_sizes(totals_of(manifest), manifest["files"]["terms.text"]["bytes"]))
    for name, length in lengths.items():
        size = _guarded(folder / name, (folder / name).stat).st_size
        if size != length:
            raise CorruptGraphError(folder / name, f"{size} bytes instead of {length}")
    return manifest


def totals_of(manifest: dict[str, Any]) -> Totals:
    return Totals(*(int(manifest[name]) for name in ("triples", "terms", "literals", "predicates")))


def check(folder: Path) -> None:
    """Compare the checksums of all files. Raises CorruptGraphError if one differs."""
    files = read_manifest(folder)["files"]
    for name in WIDTHS:
        expected, actual = files[name]["crc32"], checksum(folder / name)
        if actual != expected:
            raise CorruptGraphError(folder / name, f"checksum {actual:08x} instead of {expected:08x}")


def map_column(folder: Path, name: str) -> NDArray[Any]:
    """A read-only array over the mapped file; it stays valid when a rebuild replaces the file."""
    dtype = {1: np.uint8, 4: np.uint32, 8: np.uint64}[WIDTHS[name]]
    return np.frombuffer(map_bytes(folder / name), dtype)


def view_column(folder: Path, name: str) -> memoryview:
    """The same as a memoryview, which reads a single number in a fifth of numpy's time."""
    view = memoryview(map_bytes(folder / name))
    return view.cast("Q") if WIDTHS[name] == 8 else view.cast("I")


def map_bytes(path: Path) -> mmap.mmap | bytes:
    with path.open("rb") as file:
        if not path.stat().st_size:
            return b""  # an empty file cannot be mapped
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _file_sizes(totals: Totals, text: int) -> dict[str, int]:
    """Bytes that each file must have; `text` are those of the terms."""
    rows = {"terms.text": int(text), "predicates.ids": totals.predicates, "predicates.counts": totals.predicates}
    begins = {name: totals.terms + 1 for name in WIDTHS if name.endswith(".begins")}
    return {name: width * (rows | begins).get(name, totals.triples) for name, width in WIDTHS.items()}


def checksum(path: Path) -> int:
    """CRC-32 of a file."""
    value = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            value = zlib.crc32(piece, value)
    return value


def _guarded(path: Path, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except FileNotFoundError:
        raise CorruptGraphError(path, "no such file") from None
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptGraphError(path, f"no manifest ({type(error).__name__}: {error})") from error
