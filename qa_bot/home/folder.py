"""The home folder: the paths in it, and the lock of its single writer."""

from __future__ import annotations

import errno
import json
import logging
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from qa_bot.home.config import CONFIG_FILE, Config, load_config
from qa_bot.home.replacement.program_version import note_version
from qa_bot.home.replacement.swap import finish, sweep
from qa_core.disk_space import disk_space

log = logging.getLogger(__name__)

OPEN_TO_OTHERS = 0o077
"""Bits of a mode that give rights to group and others."""
MAKES_ROOM = frozenset({"delete", "sources", "export", "migrate", "upgrade", "repair", "restore", "backup"})
"""Actions that are possible on a full disk: they remove something, mend it, write elsewhere, or reading needs them."""
POLL = 0.005
"""Seconds between two attempts to get a lock."""


class HomeError(Exception):
    """The folder cannot be used as a home."""


class HomeGoneError(HomeError):
    """The folder was moved or deleted after it was opened."""


class WriterBusyError(HomeError):
    """Another process writes to the home."""


class DiskFullError(HomeError):
    """There is too little room on the disk to add anything."""


@dataclass(frozen=True, slots=True)
class Home:
    path: Path

    @classmethod
    def open(cls, path: Path | None = None) -> Home:
        """The home at `path`, at `QA_BOT_HOME`, or in the platform's folder for user data; created if missing.

        Raises HomeError if it is not a writable folder.
        """
        home = cls(_chosen(path).absolute())
        _make_private(home.path)
        finish(home.path)
        return home

    def expect_present(self) -> None:
        """Raises HomeGoneError if the folder was moved or deleted."""
        if not self.path.is_dir():
            raise HomeGoneError(
                f"Expected the home {self.path}, but it was moved or deleted; bring it back, or start again "
                "with another --home."
            )

    @property
    def config_file(self) -> Path:
        return self.path / CONFIG_FILE

    @property
    def lock_file(self) -> Path:
        return self.path / "lock"

    @property
    def index(self) -> Path:
        return self.path / "index"

    @property
    def graph(self) -> Path:
        return self.path / "graph"

    @property
    def models(self) -> Path:
        return self.path / "models"

    @property
    def vectors(self) -> Path:
        """Vectors that are kept while an index is improved."""
        return self.path / "vectors"

    @property
    def personas(self) -> Path:
        return self.path / "personas"

    def store_url(self, config: Config) -> str:
        """The configured database, or a SQLite file in the home."""
        return config.store.url or f"sqlite:///{self.path / 'store.sqlite'}"

    @contextmanager
    def lock(self, action: str | None) -> Iterator[None]:
        """Acquire the writer lock, or raise WriterBusyError at once, naming the holder.

        Pass None if the caller holds the lock. The kernel releases the lock when its process ends.

        Raises DiskFullError if less than `[disk] refuse` percent of the disk are free, unless the action makes room.
        """
        if action is None:
            yield
            return
        if action not in MAKES_ROOM:
            self.expect_room()
        self.expect_present()
        lock = file_lock(self.lock_file)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise WriterBusyError(
                f"Expected to be the only writer, but {_holder(self.lock_file)} is at work; try again when it is done."
            ) from None
        except OSError as error:
            raise HomeError(
                f"Expected to write to {self.lock_file}, but got: {_reason(error, self.lock_file)}."
            ) from None
        try:
            holder = {"action": action, "pid": os.getpid(), "since": time.strftime("%H:%M:%S")}
            self.lock_file.write_text(json.dumps(holder))
            if action != "restore":  # which goes on with it
                sweep(self.path)
                note_version(self.path)
            yield
            self.lock_file.write_text("")
        finally:
            lock.release()

    @contextmanager
    def lock_if_free(self) -> Iterator[bool]:
        """Whether this is the only writer now; a small change on a full disk is possible."""
        lock = file_lock(self.lock_file)
        try:
            lock.acquire(blocking=False)
        except (Timeout, OSError):
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def expect_room(self) -> None:
        """Raises DiskFullError if less than `[disk] refuse` percent of the disk are free."""
        try:
            space = disk_space(self.path)
        except OSError:  # the lock says what is wrong
            return
        least = load_config(self.path).disk.refuse
        if space.percent < least:
            raise DiskFullError(
                f"Expected at least {least:g} % of the disk free before anything is added, but got "
                f"{space.percent:.1f} % ({space.free_in_words}); make room, or lower disk.refuse. "
                "Questions are answered as before."
            )

    @contextmanager
    def improving(self) -> Iterator[None]:
        """Be the only process that makes better vectors, or raise WriterBusyError at once; others may write."""
        lock = file_lock(self.path / "improve.lock")
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise WriterBusyError(
                "Expected to be the only one that makes better vectors, but another process does; let it finish."
            ) from None
        try:
            yield
        finally:
            lock.release()


def file_lock(path: Path) -> BaseFileLock:
    """An exclusive lock between processes and threads; the file stays after its release.

    Raises FileNotFoundError if its folder is gone, which would be made anew.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "the folder was moved or deleted", str(path.parent))
    return FileLock(path, mode=0o600, poll_interval=POLL)


def _chosen(path: Path | None) -> Path:
    if path is not None:
        return path.expanduser()
    if named := os.environ.get("QA_BOT_HOME"):
        return Path(named).expanduser()
    import platformdirs  # late: most callers name a home

    return platformdirs.user_data_path("qa-bot", appauthor=False)


def _make_private(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise HomeError(
            f"Expected a folder at {path}, but got a file in its place; name another with --home."
        ) from None
    except OSError as error:
        raise HomeError(f"Expected to make the folder {path}, but got: {_reason(error, path)}.") from None
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        refused = OSError(errno.EACCES, os.strerror(errno.EACCES))
        raise HomeError(f"Expected to write to the folder {path}, but got: {_reason(refused, path)}.")
    if os.name == "posix":
        _close_to_others(path)


def _close_to_others(home: Path) -> None:
    """Mode 700 for a home that others could enter, and its files for the owner alone; a warning says so."""
    mode = stat.S_IMODE(home.stat().st_mode)
    if not mode & OPEN_TO_OTHERS:
        return
    if mode & stat.S_ISVTX or home in (Path.home(), *Path.home().parents):
        log.warning("%s is not only a home of qa-bot and stays open to other users; name another with --home.", home)
        return
    try:
        home.chmod(0o700)
        for path in _own_paths(home):
            if not path.is_symlink():
                path.chmod(stat.S_IMODE(path.stat().st_mode) & ~OPEN_TO_OTHERS)
    except OSError as error:
        log.warning("%s has mode %04o, and it cannot be changed (%s): other users may read it.", home, mode, error)
    else:
        log.warning("Other users could read %s (mode %04o); it is private now (0700).", home, mode)


def _own_paths(home: Path) -> Iterator[Path]:
    """What qa-bot keeps in a home."""
    for path in home.iterdir():
        if path.name in ("index", "graph", "models", "vectors", "personas"):
            yield from (path, *path.rglob("*"))
        elif path.name.startswith(("store.sqlite", "turns.", CONFIG_FILE)):
            yield path


def _reason(error: OSError, path: Path) -> str:
    if error.errno == errno.EROFS or _read_only(path):
        return "the disk is read-only; name a home on another with --home"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "no rights to it; change its owner or mode, or name another with --home"
    return f"{error.strerror}; name another with --home"


def _read_only(path: Path) -> bool:
    return path.exists() and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _holder(lock_file: Path) -> str:
    try:
        holder = json.loads(lock_file.read_text())
        return f"{holder['action']} by process {holder['pid']} since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):  # the holder has not written its name yet
        return "another process"
