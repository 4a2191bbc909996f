"""Folders and files as the user knows them, for `--under`: each becomes the paths that ids of documents begin with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from qa_bot.documents.sources.places import FILE_KINDS, path_below, resolve
from qa_bot.home.store import Source, SourceStore, StoredStem

DISK = ("/", "~", "./", "../")
"""Beginnings of paths that are meant to be on disk."""


def id_paths(path: str, store: SourceStore) -> tuple[str, ...]:
    """What `path` means: a path of ids, the name of a source, or a path on disk in a source.

    A path on disk may be relative, and its file may be gone. A path that is in no source stays unchanged.
    """
    stems, sources = list(store.stems()), store.all()
    named = {source.id for source in sources if source.name == path.rstrip("/")}
    others = [one for one in stems if one.source not in named or one.stem == one.path]
    if not (path.startswith(DISK) or path in (".", "..")) and _is_id(path.rstrip("/"), others):
        return (path,)
    for source in sources:
        if path.rstrip("/") in (source.name, source.place.rstrip("/")):
            return _covered(source, "", stems) or (path,)
    place = resolve(Path(path))
    for source in sources:
        below = path_below(place, source) if source.kind in FILE_KINDS else None
        if below is not None:
            return _covered(source, below, stems) or (f"{source.options.get('prefix', '')}{below}" or path,)
    return (path,)


def cover(inside: Iterable[str], outside: Iterable[str]) -> tuple[str, ...]:
    """The fewest paths that hold all paths of `inside` and none of `outside`; the two have no path in common.

    >>> cover(["hr/a.md", "hr/de/b.md", "c.md"], ["it/a.md"])
    ('c.md', 'hr')
    >>> cover(["hr/a.md", "hr/de/b.md", "hr/de/c.md"], ["hr/x.md"])
    ('hr/a.md', 'hr/de')
    """
    shared = {above for path in outside for above in _paths_to(path)}
    return tuple(sorted({next((one for one in _paths_to(path) if one not in shared), path) for path in inside}))


def _covered(source: Source, below: str, stems: Sequence[StoredStem]) -> tuple[str, ...]:
    """The id paths of a source's files at or below a path in it."""
    chosen = [one.source == source.id and _is_within(one.path, below) for one in stems]
    inside = [one.stem for one, is_chosen in zip(stems, chosen, strict=True) if is_chosen]
    outside = [one.stem for one, is_chosen in zip(stems, chosen, strict=True) if not is_chosen]
    return cover(inside, outside)


def _is_id(path: str, stems: Iterable[StoredStem]) -> bool:
    return any(_is_within(one.stem, path) for one in stems)


def _is_within(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _paths_to(path: str) -> Iterator[str]:
    """The folders above a path, outermost first, and the path itself."""
    return accumulate(path.split("/"), lambda above, name: f"{above}/{name}")
