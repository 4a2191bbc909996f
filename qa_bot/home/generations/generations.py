"""The generations of an index or a graph: each is written beside the current one, then `CURRENT` is switched to it.

    ROOT/CURRENT               name of the generation that readers open
    ROOT/00000007/             a complete generation; its files never change
    ROOT/00000008.partial/     a generation being written, or left by a writer that died

Only the single writer of a home calls `stage`, `prepare`, `publish`, `announce`, `switch` and `prune`; readers in any
process call the rest. A crash at any moment leaves the old generation or the new one.

While a change of several parts is committed (`commit.py`), `CURRENT` names both generations and a token; the new one is
current if the database holds the token.

Readers hold a shared `flock` on the manifest of their generation, and pruning tries an exclusive one. These locks are
not `filelock`'s: its file locks are exclusive, and its shared ones need another file, which pruning could not remove.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from qa_bot.home.generations.manifest import (
    MANIFEST,
    CorruptGenerationError,
    Damage,
    FileRecord,
    Generation,
    check_file,
    describe,
    inode_of,
    manifest_text,
    read_generation,
)
from qa_core.atomic import atomic_file, rename_folder, sync

log = logging.getLogger(__name__)

_CANNOT_LINK = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS})


_POINTER = re.compile(r"(?P<number>\d{8}|none(?=\n\d))\s*?(\n(?P<following>\d{8}) (?P<token>[0-9a-f]{32})\n)?\s*")

Stamp = tuple[int, int]
READ = 32_000_000
"""Bytes that are compared with their digests when a generation is opened, in some 20 ms."""


class GenerationGoneError(Exception):
    """The generation was removed before it could be pinned; open the current one."""


def stamp(file: Path) -> Stamp | None:
    """Changes whenever the file is replaced or written; None if there is no file."""
    try:
        state = os.stat(file)  # noqa: PTH116  # half the time of `Path.stat`
    except FileNotFoundError:
        return None
    return state.st_ino, state.st_mtime_ns


class Pointer(NamedTuple):
    """Content of `CURRENT`: generation `number`, or `following` if the database holds `token`."""

    number: int | None
    following: int | None = None
    token: str = ""


class Generations:
    """The generations under `root`, which is created if missing."""

    def __init__(self, root: Path, *, is_committed: Callable[[str], bool] | None = None) -> None:
        """Args: `is_committed` tells whether the database holds a token; by default the home's configured one."""
        self.root, self._pointer = root, root / "CURRENT"
        self._is_committed = is_committed or partial(token_is_in_database, root.parent)
        if not root.is_dir():
            root.mkdir(mode=0o700, exist_ok=True)
            sync(root.parent)

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
        """Create an empty folder for a new generation, and remove what dead writers left."""
        current = self._current_or_newest()
        if number <= current:
            raise ValueError(f"Expected a number above the current generation {current}, but got {number}.")
        self.sweep()
        staged = self.root / f"{number:08d}.partial"
        staged.mkdir(mode=0o700)
        return staged

    def has_remains(self) -> bool:
        """Whether a writer is at work, or a dead one left something."""
        names = [path.name for path in self.root.iterdir()]
        return any(name.endswith((".partial", ".removed", ".part")) for name in names) or self.announced() is not None

    def sweep(self) -> None:
        """Remove what dead writers left.

        They leave partial and half-removed folders, and complete ones above the current: a writer may die after it
        renamed its folder and before it was committed, so no reader has seen these.
        """
        self._sweep((".partial", ".removed"), above=self._current_or_newest())
        for leftover in (self.root / "CURRENT.new", *self.root.glob(".CURRENT.*")):
            leftover.unlink(missing_ok=True)

    def prepare(self, staged: Path, manifest: Mapping[str, Any]) -> Generation:
        """Describe, fsync and rename the staged folder. It is complete then, but not yet the current one."""
        number, path = int(staged.stem), staged.with_suffix("")
        files = dict(describe(staged, self._inodes()))
        (staged / MANIFEST).write_text(manifest_text(number, manifest, files), encoding="utf-8")
        rename_folder(staged, path)
        return Generation(number, path, manifest, files)

    def publish(self, staged: Path, manifest: Mapping[str, Any]) -> Generation:
        """Prepare the staged folder and make it the current one, without any other change."""
        generation = self.prepare(staged, manifest)
        self.switch(generation.number)
        return generation

    def switch(self, number: int | None) -> None:
        """Make a complete generation the current one; None if there is no generation."""
        if number is None:
            self._pointer.unlink(missing_ok=True)
            sync(self.root)
            return
        self._point(f"{number:08d}\n")

    def announce(self, number: int, token: str) -> None:
        """Let the database decide: `number` becomes current with the transaction that writes `token`."""
        try:
            before = self._read_pointer().number
        except CorruptGenerationError:  # a repair
            before = max((older for older in self._numbers() if older < number), default=None)
        former = "none" if before is None else f"{before:08d}"
        self._point(f"{former}\n{number:08d} {token}\n")

    def announced(self) -> Pointer | None:
        """The switch that a writer announced and did not finish; None if there is none or `CURRENT` is damaged."""
        with suppress(CorruptGenerationError):
            pointer = self._read_pointer()
            return pointer if pointer.following is not None else None
        return None

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

    def has_former(self) -> bool:
        """Whether there is a generation beside the current one."""
        return any(number < (self.current_number() or 0) for number in self._numbers())

    def verify(self, generation: Generation | None = None, *, deep: bool = False) -> list[Damage]:
        """Damages of a generation, by default the current: file sizes, and with `deep` the sha256 of every file."""
        try:
            checked = read_generation(generation.path) if generation else self.current()
        except CorruptGenerationError as error:
            return [error.damage]
        if checked is None:
            return []
        damages = (check_file(checked.path / name, record, deep=deep) for name, record in checked.files.items())
        return [damage for damage in damages if damage]

    def damaged_former(self) -> list[Damage]:
        """The first damage of each former generation that is kept; their files are all read."""
        current, damages = self.current_number(), list[Damage]()
        for number in self._numbers():
            if current is None or number >= current:
                continue
            path = self.root / f"{number:08d}"
            try:
                damages += self.verify(read_generation(path), deep=True)[:1]
            except CorruptGenerationError as error:
                damages.append(error.damage)
        return damages

    def remove_damaged_former(self) -> list[int]:
        """Remove damaged former generations unless readers hold them; returns their numbers."""
        names = {damage.path.relative_to(self.root).parts[0] for damage in self.damaged_former()}
        return [int(name) for name in sorted(names) if _remove(self.root / name)]

    def expect_whole(self, generation: Generation) -> None:
        """Raises CorruptGenerationError if a file is missing or cut short, or if a small one differs from its digest.

        Fast: the files of a small home are all read, of a large one the smallest up to `READ` bytes.
        """
        if damages := self.verify(generation):
            raise CorruptGenerationError(damages[0])
        read = 0
        for name, record in sorted(generation.files.items(), key=lambda item: item[1].bytes):
            read += record.bytes
            if read > READ:
                return
            if damage := check_file(generation.path / name, record, deep=True):
                raise CorruptGenerationError(damage)

    def is_empty(self) -> bool:
        """Whether nothing was ever published; without `CURRENT` there may be generations that it should name."""
        return not self._pointer.exists() and not self.newest()

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

    def _point(self, text: str) -> None:
        with atomic_file(self._pointer) as pointer:
            pointer.write(text.encode("ascii"))

    def _current_path(self) -> Path | None:
        pointer = self._read_pointer()
        number = pointer.number
        if pointer.following is not None and self._is_committed(pointer.token):
            number = pointer.following
        return None if number is None else self.root / f"{number:08d}"

    def _read_pointer(self) -> Pointer:
        try:
            text = self._pointer.read_text("ascii")
        except FileNotFoundError:
            return Pointer(None)
        except UnicodeDecodeError:
            text = ""
        if not (match := _POINTER.fullmatch(text)):
            raise CorruptGenerationError(
                Damage("damaged", self._pointer, "it should name a generation, such as 00000007")
            )
        number = None if match["number"] == "none" else int(match["number"])
        if match["following"] is None:
            return Pointer(number)
        return Pointer(number, int(match["following"]), match["token"])

    def _inodes(self) -> dict[tuple[int, int], FileRecord]:
        """Records of the current generation's files by device and inode, so that hard links are not hashed again."""
        with suppress(CorruptGenerationError):
            if current := self.current():
                known = {inode_of(current.path / name): record for name, record in current.files.items()}
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


def _is_generation(path: Path) -> bool:
    return path.name.isdigit() and len(path.name) == 8


def token_is_in_database(home: Path, token: str) -> bool:
    """Whether the configured database of a home holds a token; False with a warning if it cannot be asked.

    The generation before stays complete until the next writer has asked successfully, so it can answer meanwhile.
    """
    from qa_bot.home.config import load_config  # late: needed only after a crash, or during a switch
    from qa_bot.home.folder import Home
    from qa_bot.home.store.commits import has_committed
    from qa_bot.home.store.database import StoreError

    try:
        return has_committed(Home(home).store_url(load_config(home)), token)
    except StoreError as error:
        log.warning(
            "The generation before an unfinished change is used, because the database cannot be asked: %s", error
        )
        return False


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
