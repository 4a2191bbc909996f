"""Generations of an index: each is written beside the current one, then `CURRENT` is switched to it.

    ROOT/CURRENT               name of the generation that readers open
    ROOT/00000007/             a published generation; its files never change
    ROOT/00000008.partial/     a generation being written, or left by a writer that died

Only the single writer of a home calls `stage`, `publish` and `prune`; readers in any process call the rest. A crash at
any moment leaves the old generation or the new one.

Readers hold a shared `flock` on the manifest of their generation, and pruning tries an exclusive one. These locks are
not `filelock`'s: its file locks are exclusive, and its shared ones need another file, which pruning could not remove.
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

from qa_core.atomic import atomic_file, rename_folder

MANIFEST = "manifest.json"
REPAIR = "run `qa-bot repair`"
_CANNOT_LINK = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS})


class FileRecord(NamedTuple):
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Generation:
    """A published generation: the `manifest` of its writer, and its `files` by relative path."""

    number: int
    path: Path
    manifest: Mapping[str, Any]
    files: Mapping[str, FileRecord] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Damage:
    kind: Literal["missing", "damaged", "outdated"]
    path: Path
    detail: str

    @property
    def message(self) -> str:
        return f"{self.path} is {self.kind}: {self.detail}; {REPAIR}."


class CorruptGenerationError(Exception):
    """The generation cannot be used; `damage` says why."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(damage.message)
        self.damage = damage


Stamp = tuple[int, int]


class GenerationGoneError(Exception):
    """The generation was removed before it could be pinned; open the current one."""


def stamp(file: Path) -> Stamp | None:
    """Changes whenever the file is replaced or written; None if there is no file."""
    try:
        state = os.stat(file)  # noqa: PTH116  # half the time of `Path.stat`
    except FileNotFoundError:
        return None
    return state.st_ino, state.st_mtime_ns


class Generations:
    """The generations under `root`, which is created if missing."""

    def __init__(self, root: Path) -> None:
        self.root, self._pointer = root, root / "CURRENT"
        root.mkdir(mode=0o700, exist_ok=True)

    def current(self) -> Generation | None:
        """The generation that readers open, or None before the first; raises CorruptGenerationError if unreadable."""
        while (path := self._current_path()) is not None:
            try:
                return read_generation(path)
            except CorruptGenerationError:
                if path == self._current_path():  # otherwise it was pruned in between
                    raise
        return None

    def stamp(self) -> Stamp | None:
        """Changes with the current generation; cheap enough to check before every answer."""
        return stamp(self._pointer)

    def current_number(self) -> int | None:
        """The number of the current generation, or None before the first."""
        path = self._current_path()
        return None if path is None else int(path.name)

    def stage(self, number: int) -> Path:
        """Create an empty folder for a new generation, and remove what dead writers left.

        They leave partial and half-removed folders, and complete ones above the current: a writer may die after it
        renamed its folder and before it wrote CURRENT, so no reader has seen these.
        """
        current = self._current_or_newest()
        if number <= current:
            raise ValueError(f"Expected a number above the current generation {current}, but got {number}.")
        self._sweep((".partial", ".removed"), above=current)
        for leftover in (self.root / "CURRENT.new", *self.root.glob(".CURRENT.*")):
            leftover.unlink(missing_ok=True)
        staged = self.root / f"{number:08d}.partial"
        staged.mkdir(mode=0o700)
        return staged

    def publish(self, staged: Path, manifest: Mapping[str, Any]) -> Generation:
        """Describe, fsync and rename the staged folder, then make it the current one."""
        number, path = int(staged.stem), staged.with_suffix("")
        files = dict(_describe(staged, self._inodes()))
        (staged / MANIFEST).write_text(_manifest_text(number, manifest, files), encoding="utf-8")
        rename_folder(staged, path)
        with atomic_file(self._pointer) as pointer:
            pointer.write(f"{path.name}\n".encode())
        return Generation(number, path, manifest, files)

    @contextmanager
    def pin(self, generation: Generation) -> Iterator[Generation]:
        """Prevent every process from pruning a generation; raises GenerationGoneError if it was removed before."""
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
        with ExitStack() as stack:
            yield self._pin_current(stack)

    def prune(self, *, keep: int = 2) -> list[int]:
        """Remove all but the `keep` newest and those that readers hold; return the removed numbers."""
        self._sweep((".removed",))
        current = self.current_number() or 0
        older = [number for number in self._numbers() if number < current]
        doomed = older[: max(0, len(older) - (keep - 1))]
        return [number for number in doomed if _remove(self.root / f"{number:08d}")]

    def verify(self, generation: Generation | None = None, *, deep: bool = False) -> list[Damage]:
        """Damages of a generation, by default the current: file sizes, and with `deep` the sha256 of every file."""
        try:
            checked = read_generation(generation.path) if generation else self.current()
        except CorruptGenerationError as error:
            return [error.damage]
        if checked is None:
            return []
        damages = (_check(checked.path / name, record, deep=deep) for name, record in checked.files.items())
        return [damage for damage in damages if damage]

    def expect_whole(self, generation: Generation) -> None:
        """Raises CorruptGenerationError if a file is missing or cut short. Fast: no file is read."""
        if damages := self.verify(generation):
            raise CorruptGenerationError(damages[0])

    def newest(self) -> int:
        """The highest number of a complete generation, 0 if there is none; a repair counts on from it."""
        return max(self._numbers(), default=0)

    def _numbers(self) -> list[int]:
        return sorted(int(path.name) for path in self.root.iterdir() if _is_generation(path))

    def _current_or_newest(self) -> int:
        """If CURRENT itself is damaged, every complete generation may have been current and is kept."""
        try:
            return self.current_number() or 0
        except CorruptGenerationError:
            return self.newest()

    def _sweep(self, suffixes: tuple[str, ...], *, above: int | None = None) -> None:
        for path in self.root.iterdir():
            orphan = above is not None and _is_generation(path) and int(path.name) > above
            if orphan or path.suffix in suffixes:
                shutil.rmtree(path)

    def _pin_current(self, stack: ExitStack) -> Generation | None:
        while (generation := self.current()) is not None:
            with suppress(GenerationGoneError):  # pruned in between: a newer one is current now
                return stack.enter_context(self.pin(generation))
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
        """Records of the current generation's files by device and inode, so that hard links are not hashed again."""
        with suppress(CorruptGenerationError):
            if current := self.current():
                known = {_inode(current.path / name): record for name, record in current.files.items()}
                return {inode: record for inode, record in known.items() if inode}
        return {}


def link(source: Generation, relative: str, into: Path) -> None:
    """Hard-link a file or folder of a generation into a staged one; copy if the file system has no hard links."""
    origin, target = source.path / relative, into / relative
    target.parent.mkdir(parents=True, exist_ok=True)
    if origin.is_dir():
        shutil.copytree(origin, target, copy_function=_link_or_copy)
    else:
        _link_or_copy(origin, target)


def read_generation(path: Path) -> Generation:
    """Raises CorruptGenerationError if the folder or its manifest is missing, cut short or altered."""
    manifest = path / MANIFEST
    try:
        content = json.loads(manifest.read_bytes())
        if content["sha256"] != _digest_of(content):
            raise ValueError("its checksum does not match")
        files = {name: FileRecord(**record) for name, record in content["files"].items()}
        return Generation(content["number"], path, content["manifest"], files)
    except FileNotFoundError:
        missing = manifest if path.is_dir() else path
        raise CorruptGenerationError(Damage("missing", missing, "CURRENT or a reader names it")) from None
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
                record = FileRecord(size, _sha256(path))
            yield path.relative_to(staged).as_posix(), record


def _check(path: Path, record: FileRecord, *, deep: bool) -> Damage | None:
    try:
        size = path.stat().st_size
        if size != record.bytes:
            return Damage("damaged", path, f"expected {record.bytes} bytes, but got {size}")
        if deep and _sha256(path) != record.sha256:
            return Damage("damaged", path, "its sha256 differs from the manifest")
    except (FileNotFoundError, NotADirectoryError):
        return Damage("missing", path, "the manifest lists it")
    except OSError as error:
        return Damage("damaged", path, _one_line(error))
    return None


def _manifest_text(number: int, manifest: Mapping[str, Any], files: Mapping[str, FileRecord]) -> str:
    content = {"number": number, "manifest": dict(manifest), "files": {name: r._asdict() for name, r in files.items()}}
    return json.dumps({**content, "sha256": _digest_of(content)}, indent=1, sort_keys=True)


def _digest_of(content: Mapping[str, Any]) -> str:
    bare = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _link_or_copy(origin: str | Path, target: str | Path) -> None:
    try:
        os.link(origin, target)
    except OSError as error:
        if error.errno not in _CANNOT_LINK:
            raise
        shutil.copy2(origin, target)


def _share(descriptor: int, manifest: Path) -> None:
    """Take a shared lock, and check that the file was not removed before."""
    with suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), manifest.stat()):
            return
    raise GenerationGoneError(f"Expected generation {manifest.parent.name}, but it was removed; open again.")


def _remove(path: Path) -> bool:
    """Remove a generation unless a reader holds it; rename it first, so that no reader opens half of it."""
    away = path.with_suffix(".removed")
    try:
        descriptor = os.open(path / MANIFEST, os.O_RDONLY)
    except OSError:  # a manifest that cannot be opened is not locked
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


def _one_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
