"""`qa-bot backup`: a consistent, incremental, verified copy of a home, also while it is served."""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from qa_bot.backup.manifest import (
    FOLDER,
    STORE,
    BackupError,
    Manifest,
    StoredFile,
    names,
    read_manifest,
    write_manifest,
)
from qa_bot.backup.objects import Objects
from qa_bot.home.checks.last_backup import LastBackup, remember
from qa_bot.home.checks.lost_database import expect_database
from qa_bot.home.checks.schema_version import schema_of
from qa_bot.home.config import Config
from qa_bot.home.doctor import content_faults
from qa_bot.home.folder import Home, file_lock
from qa_bot.home.generations import MANIFEST, CorruptGenerationError, Generation, Generations
from qa_bot.home.store.copies.database_copy import StoredCounts, copy_database, counts_of

log = logging.getLogger(__name__)

LEFT_OUT = re.compile(
    r"\..*|.*\.lock|lock|store\.sqlite(-wal|-shm|-journal)?|index|graph|vectors|upgrades|(last-backup|service)\.json"
)
"""Top-level entries that are copied otherwise, or are not worth a copy: locks, the database, kept vectors."""


SCRATCH = "qa-bot-backup-"
"""Beginning of the name of a folder with copies that are being made."""


@dataclass(frozen=True, slots=True)
class Written:
    """A backup: bytes of all its files, and of those that had to be copied."""

    name: str
    folder: str
    files: int
    bytes: int
    copied: int
    documents: int
    turns: int
    removed: list[str]
    faults: list[str]
    """Checks of the home that failed; older backups stay then."""

    def as_dict(self) -> dict[str, Any]:
        """The object of `backup --json`."""
        return asdict(self)


def backup(home: Home, config: Config, folder: Path, *, keep: int = 0, action: str | None = "backup") -> Written:
    """Write a backup of a home, and keep the newest `keep` of the folder; 0 keeps all.

    A home with a fault that doctor finds in its content is copied with the fault. Older backups may be the last whole
    ones, so none is removed until the fault is mended.

    Files that an earlier backup in the folder holds are only verified. Writers wait meanwhile; questions do not.

    Args:
        action: the verb that a second writer is shown; None if the caller holds the lock.

    Raises:
        BackupError: a file of the home is damaged, or the folder is in the home.
        StoreError: the database is damaged, or lost: it lacks the documents of the index.
        WriterBusyError: another process writes to the home.
    """
    folder = folder.expanduser().absolute()
    if folder.resolve().is_relative_to(home.path.resolve()) and action is not None:
        raise BackupError(f"Expected a folder outside the home for backups, but got {folder}; name another.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with home.lock(action), file_lock(folder / "backup.lock"):
        objects = Objects(folder)
        _sweep(folder, objects)
        with ExitStack() as held, tempfile.TemporaryDirectory(prefix=SCRATCH, dir=folder) as scratch:
            files = dict(_generation_files(home, held, objects, Path(scratch)))
            files |= _other_files(home, objects, Path(scratch))
            copy = Path(scratch) / STORE
            copy_database(home.store_url(config), copy)
            copy.chmod(0o600)
            schema, counts = _whole_database(home, copy, is_upgrade=action is None)
            files[STORE] = objects.put(copy)
            manifest = Manifest(
                name=_name(folder),
                made=time.time(),
                by=version("qa-bot"),
                schema=schema,
                store="postgresql" if home.store_url(config).startswith("postgres") else "sqlite",
                documents=counts.documents,
                turns=counts.turns,
                files=files,
            )
            write_manifest(folder, manifest)
        old = names(folder)[keep:] if keep else []
        faults = [check.name for check in content_faults(home, config)] if old else []
        if faults:
            log.warning(
                "No older backup is removed, since this home has faults (%s): run `qa-bot doctor`.", ", ".join(faults)
            )
        removed = [] if faults else _remove_old(folder, objects, old)
    if action is not None or not folder.is_relative_to(home.path):
        remember(home, LastBackup(folder, manifest.name, manifest.made))
    summary = (len(files), manifest.bytes, objects.copied, counts.documents, counts.turns)
    return Written(manifest.name, str(folder), *summary, removed, faults)


def _whole_database(home: Home, copy: Path, *, is_upgrade: bool) -> tuple[str, StoredCounts]:
    """Schema and content of a copied database, which `restore` can use: not an empty one in place of a lost one.

    Before an upgrade it need not have the documents of the index: what there is, is copied.
    """
    schema = schema_of(copy)
    counts = counts_of(copy) if schema else None
    if not is_upgrade:
        expect_database(home, counts.generation if counts else None)
    if schema is None or counts is None:
        raise BackupError("Expected a home with a database, but got none; add documents first.")
    return schema, counts


def _generation_files(home: Home, held: ExitStack, objects: Objects, scratch: Path) -> Iterator[tuple[str, StoredFile]]:
    """The current generations of index and graph, which are pinned."""
    for root in (home.index, home.graph):
        try:
            generation = held.enter_context(Generations(root).pin_current())
        except CorruptGenerationError as error:
            raise BackupError(f"Expected a whole home to back up, but got: {error}") from None
        if generation is None:
            continue
        pointer = scratch / f"{root.name}-current"
        pointer.write_text(f"{generation.number:08d}\n")
        pointer.chmod(0o600)
        yield f"{root.name}/CURRENT", objects.put(pointer)
        yield from _files_of(generation, root.name, objects)


def _files_of(generation: Generation, root: str, objects: Objects) -> Iterator[tuple[str, StoredFile]]:
    folder = f"{root}/{generation.path.name}"
    yield f"{folder}/{MANIFEST}", objects.put(generation.path / MANIFEST)
    for name, record in generation.files.items():
        path = generation.path / name
        if not path.is_file():
            raise BackupError(f"Expected {path}, which its manifest lists, but it is missing; run `qa-bot repair`.")
        yield f"{folder}/{name}", objects.put(path, record.sha256)


def _other_files(home: Home, objects: Objects, scratch: Path) -> Mapping[str, StoredFile]:
    """Configuration, models, personas, journal and whatever else is in the home."""
    files: dict[str, StoredFile] = {}
    for entry in sorted(home.path.iterdir()):
        if LEFT_OUT.fullmatch(entry.name):
            continue
        for path in sorted(entry.rglob("*")) if entry.is_dir() else [entry]:
            relative = path.relative_to(home.path).as_posix()
            if not path.is_file() or path.is_symlink() or path.name.startswith(".") or path.name.endswith(".part"):
                continue
            copy = scratch / "file"  # a snapshot, since the file may be replaced or grow meanwhile
            try:
                shutil.copy2(path, copy)
            except FileNotFoundError:  # the journal was taken up
                continue
            files[relative] = objects.put(copy)
    return files


def _name(folder: Path) -> str:
    """The time of the backup, above all others of the folder."""
    name = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    last = next(iter(names(folder)), "")
    return name if name > last else f"{last}1"


def _sweep(folder: Path, objects: Objects) -> None:
    """Remove what killed backups left: copies of the database, parts of files, and files that no backup has."""
    remains = [*folder.glob(f"{SCRATCH}*"), *folder.glob(f"{FOLDER}/.*.part"), *objects.folder.glob("??/.*.part")]
    for path in remains:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    if remains:
        _prune(folder, objects)


def _remove_old(folder: Path, objects: Objects, old: list[str]) -> list[str]:
    """Remove these backups, and the files that only they hold."""
    for name in old:
        (folder / FOLDER / f"{name}.json").unlink()
    if old:
        _prune(folder, objects)
    return old


def _prune(folder: Path, objects: Objects) -> None:
    """Remove the files that no backup has; none if a backup cannot be read, since its files are not known."""
    try:
        manifests = [read_manifest(folder / FOLDER / f"{name}.json") for name in names(folder)]
    except BackupError:
        return
    objects.prune({file.sha256 for manifest in manifests for file in manifest.files.values()})
