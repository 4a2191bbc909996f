"""The files of a mention table, except its trie: arrays of rows, and a head with sizes and checksums."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kg_index.triples.columns import checksum
from qa_core.atomic import atomic_file
from qa_core.mapped_arrays import map_array
from qa_core.types import IntArray

FORMAT = 1
WORDS, OFFSETS, ENTITIES, COUNTS, HEAD = "words.marisa", "offsets.npy", "entities.npy", "counts.npy", "mentions.json"
LARGEST = 2**32 - 1

Ids = NDArray[np.uint32]


class CorruptMentionsError(RuntimeError):
    """The files of a mention table were changed after it was written."""

    def __init__(self, path: Path, problem: object) -> None:
        super().__init__(f"Expected a whole table of mentions, but got {problem} in {path}; build it again.")
        self.path = path


def merged(keys: Ids, entities: Ids, counts: Ids) -> tuple[Ids, Ids, Ids]:
    """One row for each key and entity, sorted, with the sum of its counts."""
    if not keys.size:
        return keys, entities, counts
    pairs = keys.astype(np.uint64) << np.uint64(32) | entities
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    first = np.flatnonzero(np.r_[True, pairs[1:] != pairs[:-1]])
    summed = np.add.reduceat(counts[order].astype(np.uint64), first)
    pairs = pairs[first]
    return (
        (pairs >> np.uint64(32)).astype(np.uint32),
        (pairs & np.uint64(LARGEST)).astype(np.uint32),
        np.minimum(summed, LARGEST).astype(np.uint32),
    )


def ordered(
    keys: Ids, entities: Ids, counts: Ids, salience: Callable[[IntArray], IntArray] | None
) -> tuple[Ids, Ids, Ids]:
    facts = np.zeros(len(keys), np.int64) if salience is None else salience(entities.astype(np.int64))
    order = np.lexsort((entities, -facts, -counts.astype(np.int64), keys))
    return keys[order], entities[order], counts[order]


def write_arrays(folder: Path, names: int, keys: Ids, entities: Ids, counts: Ids) -> None:
    offsets = np.zeros(names + 1, np.uint32)
    np.cumsum(np.bincount(keys, minlength=names), out=offsets[1:])
    for name, values in ((OFFSETS, offsets), (ENTITIES, entities), (COUNTS, counts)):
        np.save(folder / name, values)


def write_head(folder: Path, *, names: int, rows: int) -> None:
    files = {
        name: ((folder / name).stat().st_size, checksum(folder / name)) for name in (WORDS, OFFSETS, ENTITIES, COUNTS)
    }
    head = {"format": FORMAT, "names": names, "rows": rows, "files": files}
    with atomic_file(folder / HEAD) as file:
        file.write((json.dumps(head, indent=2) + "\n").encode())


def read_head(folder: Path) -> dict[str, Any]:
    path = folder / HEAD
    if not path.is_file():
        raise FileNotFoundError(f"Expected a table of mentions in {folder}, but got no {HEAD}; build it first.")
    try:
        head: dict[str, Any] = json.loads(path.read_bytes())
        written, sizes = head["format"], {name: int(size) for name, (size, _) in head["files"].items()}
        complete = sizes.keys() == {WORDS, OFFSETS, ENTITIES, COUNTS} and head["names"] + head["rows"] >= 0
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptMentionsError(path, repr(error)) from None
    if written != FORMAT or not complete:
        raise CorruptMentionsError(
            path, f"format {written} instead of {FORMAT}" if written != FORMAT else "files not named"
        )
    for name, size in sizes.items():
        file = folder / name
        if not file.is_file():
            raise CorruptMentionsError(file, "no such file")
        if file.stat().st_size != size:
            raise CorruptMentionsError(file, f"{file.stat().st_size} bytes instead of {size}")
    return head


def mapped_array(path: Path) -> Ids:
    try:
        return map_array(path)
    except (ValueError, EOFError) as error:
        raise CorruptMentionsError(path, error) from None
