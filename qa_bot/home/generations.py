"""Generations of the index: each is written beside the current one, then `CURRENT` is switched to it.

    ROOT/CURRENT               name of the generation that readers take
    ROOT/00000007/             a published generation; its files never change again
    ROOT/00000008.partial/     one being written, or what a dead writer left

Only the one writer of a home calls `stage`, `publish` and `prune`; readers in any process call the rest. A crash at any
moment leaves the old generation or the new one.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

MANIFEST = "manifest.json"
REPAIR = "run `qa-bot repair`"
_CANNOT_LINK = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS})


class FileRecord(NamedTuple):
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Generation:
    """A published generation: `manifest` is what its writer told, `files` what lies in it, by path within it."""

    number: int
    path: Path
    manifest: Mapping[str, Any]
    files: Mapping[str, FileRecord] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Damage:
    kind: Literal["missing", "damaged"]
    path: Path
    detail: str

    @property
    def message(self) -> str:
        return f"{self.path} is {self.kind}: {self.detail}; {REPAIR}."


class CorruptGenerationError(Exception):
    """The index cannot be read as it is; `damage` tells what is wrong with it."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(damage.message)
        self.damage = damage


Stamp = tuple[int, int]


class GenerationGoneError(Exception):
    """The generation was removed before it could be pinned; take the current one."""


def stamp(file: Path) -> Stamp | None:
    """What tells a file from one that replaced it or was written later, None where there is none."""
    try:
        state = os.stat(file)  # noqa: PTH116  # half the time of `Path.stat`
    except FileNotFoundError:
        return None
    return state.st_ino, state.st_mtime_ns


class Generations:
    """The generations under `root`, which is made where it is missing."""

    def __init__(self, root: Path) -> None:
        self.root, self._pointer = root, root / "CURRENT"
        root.mkdir(mode=0o700, exist_ok=True)

    def current(self) -> Generation | None:
        """What readers take, None before the first; raises CorruptGenerationError where it cannot be read."""
        while (path := self._current_path()) is not None:
            try:
                return read_generation(path)
            except CorruptGenerationError:
                if path == self._current_path():  # else it was pruned between the two looks
                    raise
        return None

    def stamp(self) -> Stamp | None:
        """Another one whenever another generation is current: what is asked before every answer."""
        return stamp(self._pointer)

    def current_number(self) -> int | None:
        """None before the first."""
        path = self._current_path()
        return None if path is None else int(path.name)

    def stage(self, number: int) -> Path:
        """An empty folder for a new generation; what dead writers left is removed.

        Left can be partial and half-removed folders, and one that was renamed to its final name by a writer that died
        before it wrote CURRENT: no reader has ever seen that one.
        """
        current = self._current_or_newest()
        if number <= current:
            raise ValueError(f"Expected a number above the current generation {current}, but got {number}.")
        self._sweep((".partial", ".removed"), above=current)
        (self.root / "CURRENT.new").unlink(missing_ok=True)
        staged = self.root / f"{number:08d}.partial"
        staged.mkdir(mode=0o700)
        return staged

    def publish(self, staged: Path, manifest: Mapping[str, Any]) -> Generation:
        """Describe, fsync and rename the staged folder, then make it the current one."""
        number, path = int(staged.stem), staged.with_suffix("")
        files = dict(_describe(staged, self._inodes()))
        _write_synced(staged / MANIFEST, _manifest_text(number, manifest, files))
        _sync_folders(staged)
        staged.rename(path)
        _sync_folder(self.root)
        self._switch(path.name)
        return Generation(number, path, manifest, files)

    @contextmanager
    def pin(self, generation: Generation) -> Iterator[Generation]:
        """Keep a generation from being pruned by any process; raises GenerationGoneError where it is too late."""
        manifest = generation.path / MANIFEST
        try:
            descriptor = os.open(manifest, os.O_RDONLY)
        except FileNotFoundError:
            raise GenerationGoneError(
                f"Expected generation {generation.number}, but it was removed; open again."
            ) from None
        try:
            _share(descriptor, manifest)
            yield generation
        finally:
            os.close(descriptor)

    @contextmanager
    def pin_current(self) -> Iterator[Generation | None]:
        """The current generation, pinned; None before the first."""
        with ExitStack() as held:
            yield self._pin_current(held)

    def prune(self, *, keep: int = 2) -> list[int]:
        """Remove all but the `keep` newest, except those that a reader holds; the numbers of the removed."""
        self._sweep((".removed",))
        current = self.current_number() or 0
        older = [number for number in self._numbers() if number < current]
        doomed = older[: max(0, len(older) - (keep - 1))]
        return [number for number in doomed if _remove(self.root / f"{number:08d}")]

    def verify(self, generation: Generation | None = None, *, deep: bool = False) -> list[Damage]:
        """What is wrong with a generation (else the current one): sizes, and with `deep` also every file's sha256."""
        try:
            found = read_generation(generation.path) if generation else self.current()
        except CorruptGenerationError as error:
            return [error.damage]
        if found is None:
            return []
        checked = (_check(found.path / name, record, deep=deep) for name, record in found.files.items())
        return [damage for damage in checked if damage]

    def expect_whole(self, generation: Generation) -> None:
        """Raises CorruptGenerationError if a file is missing or cut short. Fast: no file is read."""
        if damages := self.verify(generation):
            raise CorruptGenerationError(damages[0])

    def newest(self) -> int:
        """The highest number of a complete generation, 0 where there is none; a repair counts on from here."""
        return max(self._numbers(), default=0)

    def _numbers(self) -> list[int]:
        return sorted(int(path.name) for path in self.root.iterdir() if _is_generation(path))

    def _current_or_newest(self) -> int:
        """Where CURRENT itself is damaged, anything complete may have been current and is kept."""
        try:
            return self.current_number() or 0
        except CorruptGenerationError:
            return self.newest()

    def _sweep(self, suffixes: tuple[str, ...], *, above: int | None = None) -> None:
        for path in self.root.iterdir():
            orphan = above is not None and _is_generation(path) and int(path.name) > above
            if orphan or path.suffix in suffixes:
                shutil.rmtree(path)

    def _pin_current(self, held: ExitStack) -> Generation | None:
        while (generation := self.current()) is not None:
            with suppress(GenerationGoneError):  # pruned between the look and the pin: a newer one is current by now
                return held.enter_context(self.pin(generation))
        return None

    def _current_path(self) -> Path | None:
        try:
            name = self._pointer.read_text("ascii").strip()
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            name = ""
        path = self.root / (name or "?")
        if not (name.isdigit() and len(name) == 8):
            raise CorruptGenerationError(
                Damage("damaged", self._pointer, "it should name a generation, such as 00000007")
            )
        return path

    def _inodes(self) -> dict[tuple[int, int], FileRecord]:
        """Records of the current generation's files by device and inode: hard links need not be read again."""
        with suppress(CorruptGenerationError):
            if current := self.current():
                known = {_inode(current.path / name): record for name, record in current.files.items()}
                return {inode: record for inode, record in known.items() if inode}
        return {}

    def _switch(self, name: str) -> None:
        fresh = self.root / "CURRENT.new"
        _write_synced(fresh, f"{name}\n")
        fresh.replace(self._pointer)
        _sync_folder(self.root)


def link(source: Generation, relative: str, into: Path) -> None:
    """Hard-link a file or folder of a published generation into a staged one at the same place, or copy where the
    file system cannot link."""
    origin, target = source.path / relative, into / relative
    target.parent.mkdir(parents=True, exist_ok=True)
    if origin.is_dir():
        shutil.copytree(origin, target, copy_function=_link_or_copy)
    else:
        _link_or_copy(origin, target)


def read_generation(path: Path) -> Generation:
    """Raises CorruptGenerationError where the folder or its manifest is missing, cut short or altered."""
    manifest = path / MANIFEST
    try:
        told = json.loads(manifest.read_bytes())
        if told["sha256"] != _digest_of(told):
            raise ValueError("its checksum does not match")
        files = {name: FileRecord(**record) for name, record in told["files"].items()}
        return Generation(told["number"], path, told["manifest"], files)
    except FileNotFoundError:
        missing = manifest if path.is_dir() else path
        raise CorruptGenerationError(Damage("missing", missing, "CURRENT or a reader asks for it")) from None
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise CorruptGenerationError(Damage("damaged", manifest, _one_line(error))) from None


# --- files ----------------------------------------------------------------------------------------------------------


def _is_generation(path: Path) -> bool:
    return path.name.isdigit() and len(path.name) == 8


def _describe(staged: Path, known: Mapping[tuple[int, int], FileRecord]) -> Iterator[tuple[str, FileRecord]]:
    for path in sorted(staged.rglob("*")):
        if path.is_symlink():
            raise ValueError(f"Expected files and folders in a generation, but got the link {path}.")
        if path.is_file():
            size = path.stat().st_size
            record = known.get(_inode(path) or (0, 0))
            if record is None or record.bytes != size:
                _sync_file(path)
                record = FileRecord(size, _sha256(path))
            yield path.relative_to(staged).as_posix(), record


def _check(path: Path, record: FileRecord, *, deep: bool) -> Damage | None:
    try:
        size = path.stat().st_size
        if size != record.bytes:
            return Damage("damaged", path, f"expected {record.bytes} bytes, but got {size}")
        if deep and _sha256(path) != record.sha256:
            return Damage("damaged", path, "its sha256 is not the one in the manifest")
    except (FileNotFoundError, NotADirectoryError):
        return Damage("missing", path, "the manifest lists it")
    except OSError as error:
        return Damage("damaged", path, _one_line(error))
    return None


def _manifest_text(number: int, manifest: Mapping[str, Any], files: Mapping[str, FileRecord]) -> str:
    told = {"number": number, "manifest": dict(manifest), "files": {name: r._asdict() for name, r in files.items()}}
    return json.dumps({**told, "sha256": _digest_of(told)}, indent=1, sort_keys=True)


def _digest_of(told: Mapping[str, Any]) -> str:
    bare = {name: value for name, value in told.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _link_or_copy(origin: str | Path, target: str | Path) -> None:
    try:
        os.link(origin, target)
    except OSError as error:
        if error.errno not in _CANNOT_LINK:
            raise
        shutil.copy2(origin, target)


def _share(descriptor: int, manifest: Path) -> None:
    """Take a shared lock and make sure that the file is still where it was."""
    with suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), manifest.stat()):
            return
    raise GenerationGoneError(f"Expected generation {manifest.parent.name}, but it was removed; open again.")


def _remove(path: Path) -> bool:
    """Remove a generation unless a reader holds it; renamed first, so that half of it is never found."""
    away = path.with_suffix(".removed")
    try:
        descriptor = os.open(path / MANIFEST, os.O_RDONLY)
    except OSError:  # nobody can hold what cannot be opened
        path.rename(away)
    else:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.rename(away)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
    shutil.rmtree(away)
    return True


def _write_synced(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _sync_folders(top: Path) -> None:
    for path in top.rglob("*"):
        if path.is_dir():
            _sync_folder(path)
    _sync_folder(top)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _one_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
