"""The files of a triple index: columns of numbers and one of text, mapped into memory, told of by a manifest.

    manifest.json            counts, and the length and CRC-32 of every file
    terms.text               all terms, UTF-8, one behind the other, by their bytes; a term's id is its place
    terms.begins             uint64 (T + 1,), where each term begins
    spo.begins               uint32 (T + 1,), where each subject's rows begin in spo.* and sop.*
    spo.predicates, .objects       uint32 (N,), ordered by subject, predicate, object
    sop.objects, .predicates       uint32 (N,), ordered by subject, object, predicate
    ops.begins               uint32 (T + 1,), where each object's rows begin in ops.*
    ops.predicates, .subjects      uint32 (N,), ordered by object, predicate, subject
    predicates.ids, .counts  uint32 (P,), the predicates and how many triples have each

The leading column of each order is left out: the begins tell it. That makes 24 bytes a triple and 16 a term.
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
    """A triple index that is there but not as it was written; one that is not there is a FileNotFoundError."""

    def __init__(self, path: Path, found: object) -> None:
        super().__init__(f"Expected a whole triple index, but got {found} in {path}; build it again.")
        self.path = path


@dataclass(frozen=True, slots=True)
class Totals:
    """Distinct triples, terms, terms that are literals, and predicates."""

    triples: int
    terms: int
    literals: int
    predicates: int


def write_manifest(folder: Path, totals: Totals) -> None:
    files = {name: {"bytes": (folder / name).stat().st_size, "crc32": checksum(folder / name)} for name in WIDTHS}
    told = {"format": FORMAT, **asdict(totals), "files": files}
    (folder / MANIFEST).write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="ascii")


def read_manifest(folder: Path) -> dict[str, Any]:
    """What the manifest tells.

    Raises FileNotFoundError where there is no index, CorruptGraphError where a file is missing, cut short or too long.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"Expected a triple index in {folder}, but got no such folder; build one first.")
    told = _guarded(folder / MANIFEST, lambda: json.loads((folder / MANIFEST).read_text("ascii")))
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise CorruptGraphError(folder / MANIFEST, f"no manifest of format {FORMAT}")
    lengths = _guarded(folder / MANIFEST, lambda: _expected(totals_of(told), told["files"]["terms.text"]["bytes"]))
    for name, length in lengths.items():
        found = _guarded(folder / name, (folder / name).stat).st_size
        if found != length:
            raise CorruptGraphError(folder / name, f"{found} bytes instead of {length}")
    return told


def totals_of(told: dict[str, Any]) -> Totals:
    return Totals(*(int(told[name]) for name in ("triples", "terms", "literals", "predicates")))


def check(folder: Path) -> None:
    """Read every byte; raises CorruptGraphError for a file that is not as it was written."""
    files = read_manifest(folder)["files"]
    for name in WIDTHS:
        expected, found = files[name]["crc32"], checksum(folder / name)
        if found != expected:
            raise CorruptGraphError(folder / name, f"checksum {found:08x} instead of {expected:08x}")


def map_column(folder: Path, name: str) -> NDArray[Any]:
    """A read-only array over the mapped file; a rebuild that replaces the file leaves the mapping as it is."""
    dtype = {1: np.uint8, 4: np.uint32, 8: np.uint64}[WIDTHS[name]]
    return np.frombuffer(map_bytes(folder / name), dtype)


def view_column(folder: Path, name: str) -> memoryview:
    """The same for single numbers: reading one takes a fifth of numpy's time."""
    view = memoryview(map_bytes(folder / name))
    return view.cast("Q") if WIDTHS[name] == 8 else view.cast("I")


def map_bytes(path: Path) -> mmap.mmap | bytes:
    with path.open("rb") as file:
        if not path.stat().st_size:
            return b""  # nothing cannot be mapped
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _expected(totals: Totals, text: int) -> dict[str, int]:
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
