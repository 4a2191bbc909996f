"""Copies of the files that a graph was made from, so that a damaged graph is built again from them.

    FOLDER/log.json        what was added and removed, in order, with a checksum
    FOLDER/NAME.nt.gz      an added file; gzip has a checksum of its content

A copy is read again with the same options, and triples that were removed later are left out.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from kg_index.building.blocks import packing_of
from kg_index.building.rdf_parsing import Triple, read_triples

FOLDER, LOG = "sources", "log.json"
LEVEL = 1
"""Of compression: copying takes a tenth of the time of building."""


class KeptFilesError(ValueError):
    """The copies are missing or damaged."""


@dataclass(frozen=True, slots=True)
class Change:
    """An added file of facts or table of names by the name of its copy, or a removed namespace.

    `languages` are those of literals, `labels` further predicates of names.
    """

    kind: Literal["facts", "table", "removed"]
    name: str
    scope: str = ""
    languages: tuple[str, ...] | None = None
    labels: tuple[str, ...] = ()


class KeptFiles:
    """The folder of copies of a graph."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def changes(self) -> list[Change]:
        """All changes, oldest first. Raises KeptFilesError if they cannot be read."""
        try:
            content = json.loads((self.folder / LOG).read_bytes())
            if content["sha256"] != _digest(content["changes"]):
                raise ValueError("its checksum does not match")
            return [_change(fields) for fields in content["changes"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise KeptFilesError(f"Expected a list of copies in {self.folder / LOG}, but got: {error}.") from None

    def write(self, changes: Sequence[Change]) -> None:
        """Replace the list of changes."""
        rows = [asdict(change) for change in changes]
        (self.folder / LOG).unlink(missing_ok=True)  # it may be a link to that of the generation before
        (self.folder / LOG).write_text(json.dumps({"changes": rows, "sha256": _digest(rows)}, indent=1))

    def keep(self, path: Path, name: str) -> str:
        """Copy a file, compressed; returns the name of the copy."""
        self.folder.mkdir(exist_ok=True)
        packing = packing_of(path)
        if packing == ".gz":
            shutil.copyfile(path, self.folder / name)
            return name
        plain = name[: -len(packing)] if packing else name
        with _opened(path) as file, _compressed(self.folder / f"{plain}.gz") as copy:
            shutil.copyfileobj(file, copy)
        return f"{plain}.gz"

    def keep_blocks(self, blocks: Iterable[bytes], name: str) -> str:
        """Write blocks of N-Triples as a copy; returns its name."""
        self.folder.mkdir(exist_ok=True)
        with _compressed(self.folder / name) as copy:
            for block in blocks:
                copy.write(block)
        return name

    def expect_whole(self) -> None:
        """Read every copy. Raises KeptFilesError if one is missing or damaged."""
        for change in self.changes():
            if change.kind == "removed":
                continue
            try:
                with gzip.open(self.folder / change.name) as file:
                    while file.read(1 << 20):
                        pass
            except (OSError, EOFError, ValueError, zlib.error) as error:
                raise KeptFilesError(f"Expected a whole copy {self.folder / change.name}, but got: {error}.") from None

    def triples(self) -> Iterator[list[Triple]]:
        """Batches of all triples that were not removed."""
        changes = self.changes()
        for position, change in enumerate(changes):
            if change.kind != "facts":
                continue
            removed = tuple(later.name for later in changes[position:] if later.kind == "removed")
            for batch in read_triples(self.folder / change.name, languages=change.languages, scope=change.scope):
                yield [triple for triple in batch if not triple[0].startswith(removed)] if removed else batch

    def tables(self) -> list[Path]:
        return [self.folder / change.name for change in self.changes() if change.kind == "table"]

    def labels(self) -> list[str]:
        return sorted({label for change in self.changes() for label in change.labels})


def _opened(path: Path) -> Any:
    if packing_of(path):
        import bz2

        return bz2.open(path)
    return path.open("rb")


def _compressed(path: Path) -> gzip.GzipFile:
    return gzip.GzipFile(path, "wb", compresslevel=LEVEL, mtime=0)


def _change(fields: dict[str, Any]) -> Change:
    languages = fields.pop("languages")
    return Change(
        **{**fields, "labels": tuple(fields["labels"])}, languages=None if languages is None else tuple(languages)
    )


def _digest(rows: Collection[Any]) -> str:
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
