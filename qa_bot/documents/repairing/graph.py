"""Mends the graph: from its sound triples, from the copies of added files, or from a backup."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

from kg_index.building.kept_files import FOLDER, KeptFiles, KeptFilesError
from qa_bot.documents import graph
from qa_bot.documents.repairing.outcome import Backups, Repaired
from qa_bot.home.folder import Home
from qa_bot.home.generations import MANIFEST, CorruptGenerationError, Generations
from qa_core.atomic import atomic_file


def mend_graph(home: Home, backups: Backups, done: Repaired) -> None:
    """Make a damaged graph sound again; the caller holds the lock."""
    root = Generations(home.graph)
    if not _is_damaged(root):
        return
    if _point_to_sound(root):
        done.mended.append(f"{root.root / 'CURRENT'} names the newest sound graph again.")
        return
    damages = _damages(root)
    if damages and all(path.is_relative_to(root.root / path.parts[len(root.root.parts)] / FOLDER) for path in damages):
        graph.add(home, (), action=None)  # the triples are sound: they become the copies
        done.mended.append("The copies of added facts were made anew from the graph.")
        return
    for files in _whole_files(root):
        triples = graph.rebuild(home, files)
        done.mended.append(f"The graph was built again from the files that were added: {triples:,} facts.")
        return
    with backups() or nullcontext() as opened:
        for backup in opened or ():
            if _from_backup(home, root, backup.file):
                done.mended.append("The graph was brought back from a backup.")
                return
    done.damaged.append(f"{home.graph} is damaged; bring back a backup with `qa-bot restore DIR`.")


def _is_damaged(root: Generations) -> bool:
    try:
        if root.current_number() is None:
            return bool(root.newest())
    except CorruptGenerationError:
        return True
    return bool(root.verify(deep=True))


def _damages(root: Generations) -> list[Path]:
    """The damaged files of the current generation; none if that cannot be opened."""
    try:
        current = root.current()
    except CorruptGenerationError:
        return []
    return [damage.path for damage in root.verify(current, deep=True)] if current else []


def _point_to_sound(root: Generations) -> bool:
    """If only `CURRENT` is damaged, point to the newest generation again; whether that is sound."""
    with suppress(CorruptGenerationError):
        if (number := root.current_number()) is not None and (root.root / f"{number:08d}").is_dir():
            return False
    if newest := root.newest():
        root.switch(newest)
    return newest > 0 and not root.verify(deep=True)


def _whole_files(root: Generations) -> Iterator[KeptFiles]:
    """Undamaged copies of the added files, those of the newest generation first."""
    newest = root.newest()
    for path in sorted(root.root.glob("[0-9]" * 8), reverse=True):
        files = KeptFiles(path / FOLDER)
        with suppress(KeptFilesError):
            files.expect_whole()
            if int(path.name) == newest or _has_same_changes(files, KeptFiles(root.root / f"{newest:08d}" / FOLDER)):
                yield files


def _has_same_changes(files: KeptFiles, newest: KeptFiles) -> bool:
    """Whether an older generation has all that the newest had; if that cannot be read, it may lack the last files."""
    try:
        return files.changes() == newest.changes()
    except KeptFilesError:
        return False


def _from_backup(home: Home, root: Generations, file_of: object) -> bool:
    """Bring back the damaged files of the current generation, as the backup has them."""
    assert callable(file_of)
    pointer = file_of("graph/CURRENT")
    if pointer is None:
        return False
    name = pointer.decode("ascii", "replace").strip()
    if name != f"{root.newest():08d}":
        return False  # another graph than the present one: facts would be lost
    if (manifest := file_of(f"graph/{name}/{MANIFEST}")) is None:
        return False
    _write(home.graph / name / MANIFEST, manifest)
    root.switch(int(name))
    for path in _damages(root):
        data = file_of(path.relative_to(home.path).as_posix())
        if data is None:
            return False
        _write(path, data)
    return not root.verify(deep=True)


def _write(path: Path, data: bytes) -> None:
    """Write a new file, since the damaged one may have other links."""
    if path.is_dir():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as file:
        file.write(data)
