"""Folders and files as the user knows them, for `--under`: each becomes the paths that ids of documents begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from qa_bot.documents.sources.places import FILE_KINDS, path_below, resolve
from qa_bot.documents.websites.urls import is_url
from qa_bot.home.store import Source, SourceStore, StoredStem

DISK = ("/", "~", "./", "../")
"""Beginnings of paths that are meant to be on disk."""


class IdPaths(NamedTuple):
    """Paths that ids begin with, and the collections of the sources that are meant; none if it was a path of ids."""

    paths: tuple[str, ...]
    collections: tuple[str, ...] = ()


def by_ids(fields: Mapping[str, Any], find: Callable[[str], IdPaths]) -> dict[str, Any]:
    """The fields that narrow a question, with the paths of ids in place of those that the user knows.

    If all of them are in sources and no collection is named, the collections are those of the sources: the documents
    of another one may have the same ids. What is no path stays unchanged.
    """
    under = fields.get("under")
    paths = [under] if isinstance(under, str) else under
    if not paths or not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        return dict(fields)
    meant = [find(path) for path in paths]
    collections = {name for one in meant for name in one.collections} if all(one.collections for one in meant) else ()
    return {
        **fields,
        "under": [path for one in meant for path in one.paths],
        "collection": fields.get("collection") or sorted(collections),
    }


def id_paths(path: str, store: SourceStore) -> IdPaths:
    """What `path` means: a path of ids, the name of a source, or a path on disk in a source or above some.

    A path on disk may be relative, and its file may be gone. A path that is in no source stays unchanged.
    """
    sources = store.all()
    stems = list(_stems(store, sources))
    name = path.rstrip("/")
    named = {source.id for source in sources if source.name == name}
    others = [one for one in stems if one.source not in named or one.stem == one.path]
    if not (path.startswith(DISK) or path in (".", "..")) and _is_id(name, others):
        return IdPaths((path,))
    below = {source.id: "" for source in sources if name in (source.name, source.place.rstrip("/"))}
    below = below or ({} if is_url(path) else _on_disk(resolve(Path(path)), sources))
    chosen = [one.source in below and _is_within(one.path, below[one.source]) for one in stems]
    inside = [one for one, is_chosen in zip(stems, chosen, strict=True) if is_chosen]
    outside = [one.stem for one, is_chosen in zip(stems, chosen, strict=True) if not is_chosen]
    if not inside:
        lost = next((source for source in sources if below.get(source.id)), None)
        return IdPaths((f"{lost.options.get('prefix', '')}{below[lost.id]}" if lost else path,))
    owners = {one.source for one in inside}
    collections = {source.collection for source in sources if source.id in owners}
    return IdPaths(cover([one.stem for one in inside], outside), tuple(sorted(collections)))


def cover(inside: Iterable[str], outside: Iterable[str]) -> tuple[str, ...]:
    """The fewest paths that hold all paths of `inside`, and none of `outside` that is not also inside.

    >>> cover(["hr/a.md", "hr/de/b.md", "c.md"], ["it/a.md"])
    ('c.md', 'hr')
    >>> cover(["hr/a.md", "hr/de/b.md", "hr/de/c.md"], ["hr/x.md"])
    ('hr/a.md', 'hr/de')
    """
    shared = {above for path in outside for above in _paths_to(path)}
    return tuple(sorted({next((one for one in _paths_to(path) if one not in shared), path) for path in inside}))


def _stems(store: SourceStore, sources: Iterable[Source]) -> Iterator[StoredStem]:
    """What the ids of each file begin with; the ids of a page, such as those of a feed's entries, are other ones."""
    websites = {source.id for source in sources if source.kind == "website"}
    yield from (one for one in store.stems(of_documents=True) if one.source not in websites)
    for key in websites:
        for row in store.files(key).values():
            yield from (StoredStem(key, row.path, id_) for id_ in (row.state or {}).get("ids") or [row.stem])


def _on_disk(place: Path, sources: Sequence[Source]) -> dict[int, str]:
    """The sources that have files at or below a place, each with the path of the place in it; "" for a whole source."""
    below: dict[int, str] = {}
    for source in sources:
        if source.kind in FILE_KINDS:
            inner = "" if Path(source.place).is_relative_to(place) else path_below(place, source)
            if inner is not None:
                below[source.id] = inner
    return below


def _is_id(path: str, stems: Iterable[StoredStem]) -> bool:
    return any(_is_within(one.stem, path) for one in stems)


def _is_within(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _paths_to(path: str) -> Iterator[str]:
    """The folders above a path, outermost first, and the path itself."""
    return accumulate(path.split("/"), lambda above, name: f"{above}/{name}")
