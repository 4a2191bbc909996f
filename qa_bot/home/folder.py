"""The folder that holds everything: where things stand in it, and who may write to it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from qa_bot.home.config import CONFIG_FILE, Config


class HomeError(Exception):
    """A folder that cannot serve as home."""


class WriterBusyError(HomeError):
    """Another process writes to the home."""


@dataclass(frozen=True, slots=True)
class Home:
    path: Path

    @classmethod
    def open(cls, path: Path | None = None) -> Home:
        """The home at `path`, else at `QA_BOT_HOME`, else in the platform's folder for user data; made where missing.

        Raises HomeError where that is no folder one can write to.
        """
        home = cls(_chosen(path).absolute())
        _make_private(home.path)
        return home

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
    def personas(self) -> Path:
        return self.path / "personas"

    def store_url(self, config: Config) -> str:
        """The database: what the configuration names, else a SQLite file here."""
        return config.store.url or f"sqlite:///{self.path / 'store.sqlite'}"

    @contextmanager
    def lock(self, action: str | None) -> Iterator[None]:
        """Be the one writer; raises WriterBusyError at once, naming the holder. None is for who holds it already.

        The kernel drops the lock with its process, so that a dead holder blocks nobody.
        """
        if action is None:
            yield
            return
        descriptor = _open_lock(self.lock_file)
        try:
            _acquire(descriptor)
            _sign(descriptor, action)
            yield
            os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)


def _chosen(path: Path | None) -> Path:
    if path is not None:
        return path.expanduser()
    if named := os.environ.get("QA_BOT_HOME"):
        return Path(named).expanduser()
    import platformdirs  # only where nobody named a home

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


def _reason(error: OSError, path: Path) -> str:
    if error.errno == errno.EROFS or _read_only(path):
        return "the disk is read-only; name a home on another with --home"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "no rights to it; change its owner or mode, or name another with --home"
    return f"{error.strerror}; name another with --home"


def _read_only(path: Path) -> bool:
    return path.exists() and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _open_lock(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise HomeError(f"Expected to write to {path}, but got: {_reason(error, path)}.") from None


def _acquire(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise WriterBusyError(
            f"Expected to be the only writer, but got: {_holder(descriptor)} is at work; try again when it is done."
        ) from None


def _sign(descriptor: int, action: str) -> None:
    since = time.strftime("%H:%M:%S")
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps({"action": action, "pid": os.getpid(), "since": since}).encode(), 0)


def _holder(descriptor: int) -> str:
    try:
        told = json.loads(os.pread(descriptor, 4096, 0))
        return f"{told['action']} by process {told['pid']} since {told['since']}"
    except (ValueError, KeyError, TypeError):  # it has not signed yet
        return "another process"
