"""The owner's side of a child process that answers requests: starts it, talks with it, and ends it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from qa_bot.documents.ingest.worker import messages

IDLE_SECONDS = 30  # less than the child waits, so that it does not end while a request is on its way
CHUNK = 256 * 1024


class StoppedError(Exception):
    """The child ended, or was ended, within a file; the message is the reason of the reject."""


def _harmless() -> dict[str, str]:
    """The environment without our settings: a reader of hostile files needs no token and no database."""
    return {name: value for name, value in os.environ.items() if not name.startswith("QA_BOT_")}


class Child:
    """A process that runs a module, whose requests and answers are frames of `messages`."""

    def __init__(self, module: str) -> None:
        root = str(Path(__file__).parents[4])
        paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(  # noqa: S603  # a module of ours
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # its programs, such as text recognition, end with it
            env={**_harmless(), "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        self._buffer = bytearray()
        self.last_used = time.monotonic()
        self.owner = os.getpid()

    @property
    def is_usable(self) -> bool:
        is_fresh = time.monotonic() - self.last_used < IDLE_SECONDS
        return is_fresh and self.owner == os.getpid() and self._process.poll() is None

    def kill(self) -> None:
        """Kill the child with its programs; another thread may be reading its answers, and sees them end."""
        if self.owner != os.getpid():
            return  # the child of the process that this one was forked from
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def end(self) -> None:
        """Kill the child with its programs, and close its streams."""
        self.kill()
        if self.owner == os.getpid():
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()

    def send(self, data: bytes) -> None:
        """Send a request; `receive` says it if the child has ended."""
        assert self._process.stdin is not None
        view = memoryview(data)
        with contextlib.suppress(BrokenPipeError):  # reading then says why the child ended
            while view:
                view = view[self._process.stdin.write(view) or 0 :]

    def receive(self, left: float, seconds: float) -> tuple[bytes, bytes, float]:
        """Kind and payload of the next frame, and the seconds spent on waiting.

        Args:
            left: seconds that it may take, of …
            seconds: … so many for the whole file.

        Raises:
            StoppedError: it took longer, or the child has ended.
        """
        started = time.monotonic()
        deadline = started + left
        size = messages.HEADER.size
        kind = b""
        while len(self._buffer) < size or not kind:
            if not kind and len(self._buffer) >= size:
                kind, length = messages.HEADER.unpack_from(self._buffer)
                size += length
            else:
                self._read(deadline, seconds)
        self.last_used = time.monotonic()
        payload = bytes(self._buffer[messages.HEADER.size : size])
        del self._buffer[:size]
        return kind, payload, self.last_used - started

    def _read(self, deadline: float, seconds: float) -> None:
        assert self._process.stdout is not None
        poll = select.poll()
        poll.register(self._process.stdout, select.POLLIN | select.POLLHUP)
        if not poll.poll(max(0, 1000 * (deadline - time.monotonic()))):
            raise StoppedError(
                f"Expected a file that is read in time, but it took longer than {seconds:.0f} seconds; split it, "
                "save it anew in another format, or raise --max-file-seconds."
            )
        data = os.read(self._process.stdout.fileno(), CHUNK)
        if not data:
            code = self._process.wait()
            ending = signal.Signals(-code).name if code < 0 else f"code {code}"
            raise StoppedError(
                f"Expected a readable file, but its reader stopped ({ending}): the file is damaged, or needs too "
                "much memory; save it anew or in another format."
            )
        self._buffer += data
