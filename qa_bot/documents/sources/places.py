"""Where a source is: one place has one form, whatever path names it, and places may contain each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from qa_bot.documents.ingest.files.walk import printable

if TYPE_CHECKING:
    from qa_bot.home.store import Source

FILE_KINDS = ("folder", "file", "archive")
"""Kinds of sources whose places are paths."""
UPLOAD = "upload"
"""Kind of sources whose files clients sent; their places are `upload:COLLECTION`."""
ARCHIVES = {".zip", ".7z"}
"""Suffixes of files that hold other files."""


def resolve(path: Path) -> Path:
    """The absolute path without links, `~`, `..` and trailing slashes; the path may not exist."""
    return path.expanduser().resolve()


def kind_of(place: Path) -> str:
    """`folder`, `archive` or `file`."""
    if place.is_dir():
        return "folder"
    return "archive" if place.suffix.lower() in ARCHIVES else "file"


def path_below(place: Path, source: Source) -> str | None:
    """The path of a place below a source, "" for the source itself, None if it is not in the source."""
    root = Path(source.place)
    if place == root:
        return ""
    if source.kind == "folder" and place.is_relative_to(root):
        return place.relative_to(root).as_posix()
    return None


def holder(place: Path, sources: Iterable[Source], collection: str | None) -> tuple[Source, str] | None:
    """The outermost source that holds a place, and the path of the place in it.

    Without a collection, a source of the collection `default` is preferred.
    """
    held = [
        (source, below)
        for source in sources
        if source.kind in FILE_KINDS
        and collection in (None, source.collection)
        and (below := path_below(place, source)) is not None
    ]
    return min(held, key=lambda pair: (pair[0].collection != "default", len(pair[0].place)), default=None)


def inner_sources(place: Path, sources: Iterable[Source], collection: str) -> list[tuple[Source, str]]:
    """The sources of a collection below a place, each with its path there."""
    return [
        (source, Path(source.place).relative_to(place).as_posix())
        for source in sources
        if source.kind in FILE_KINDS
        and source.collection == collection
        and Path(source.place) != place
        and Path(source.place).is_relative_to(place)
    ]


def names(place: Path) -> Iterator[str]:
    """Names for a source, the shortest first: `docs`, `team/docs`, `work/team/docs`, …, then numbered ones."""
    parts = [printable(part) for part in place.parts if part != place.anchor] or ["root"]
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[-count:])
    for number in range(2, 1_000_000):
        yield f"{parts[-1]}-{number}"
