"""The owner's side: starts the process of readers, gives it files, and ends it if a file takes too long."""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from qa_bot.documents.ingest.files.byte_budget import TotalLimitError
from qa_bot.documents.ingest.records import Item, Part, Reject
from qa_bot.documents.ingest.worker import messages
from qa_bot.documents.ingest.worker.messages import Request

SECONDS_A_MEGABYTE = 2
IDLE_SECONDS = 30  # less than the child waits, so that it does not end while a request is on its way
CHUNK = 256 * 1024


class _StoppedError(Exception):
    """The child ended, or was ended, within a file; the message is the reason of the reject."""


def _harmless() -> dict[str, str]:
    """The environment without our settings: a reader of hostile files needs no token and no database."""
    return {name: value for name, value in os.environ.items() if not name.startswith("QA_BOT_")}


class ReaderProcess:
    """A child that reads one file after the other."""

    def __init__(self) -> None:
        root = str(Path(__file__).parents[4])
        paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "qa_bot.documents.ingest.worker"],
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

    def items(self, request: Request) -> Iterator[Item | Part]:
        """The items of a file, the last one a reject if it needed too much time or memory.

        Raises:
            TotalLimitError: more bytes than the whole input may have.
            OSError: the disk of temporary copies is full.
        """
        is_done = False
        seconds = request.limits.seconds + SECONDS_A_MEGABYTE * Path(os.fsdecode(request.path)).stat().st_size / 1024**2
        try:
            self._send(messages.request_frame(request))
            yield from self._answers(request, seconds)
            is_done = True
        except _StoppedError as error:
            yield Reject(request.where, str(error))
        finally:
            if not is_done:
                self.end()
            self.last_used = time.monotonic()

    def end(self) -> None:
        """Kill the child with its programs."""
        if self.owner != os.getpid():
            return  # the child of the process that this one was forked from
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _answers(self, request: Request, seconds: float) -> Iterator[Item | Part]:
        left = seconds
        while True:
            kind, payload, waited = self._frame(left, seconds)
            left -= waited
            match kind:
                case messages.END:
                    return
                case messages.ALIVE:
                    left = seconds
                case messages.OUT_OF_MEMORY:
                    raise _StoppedError(_too_much_memory(request))
                case messages.DISK_FULL:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                case messages.TOTAL_LIMIT:
                    raise TotalLimitError(f"{request.where} holds more bytes than --max-total-bytes.")
                case _:
                    yield messages.item_of(kind, payload)

    def _frame(self, left: float, seconds: float) -> tuple[bytes, bytes, float]:
        """Kind, payload, and the seconds spent on waiting."""
        started = time.monotonic()
        deadline = started + left
        size = messages.HEADER.size
        kind = b""
        while len(self._buffer) < size or not kind:
            if not kind and len(self._buffer) >= size:
                kind, length = messages.HEADER.unpack_from(self._buffer)
                size += length
            else:
                self._receive(deadline, seconds)
        payload = bytes(self._buffer[messages.HEADER.size : size])
        del self._buffer[:size]
        return kind, payload, time.monotonic() - started

    def _receive(self, deadline: float, seconds: float) -> None:
        assert self._process.stdout is not None
        poll = select.poll()
        poll.register(self._process.stdout, select.POLLIN | select.POLLHUP)
        if not poll.poll(max(0, 1000 * (deadline - time.monotonic()))):
            raise _StoppedError(
                f"Expected a file that is read in time, but it took longer than {seconds:.0f} seconds; split it, "
                "save it anew in another format, or raise --max-file-seconds."
            )
        data = os.read(self._process.stdout.fileno(), CHUNK)
        if not data:
            code = self._process.wait()
            ending = signal.Signals(-code).name if code < 0 else f"code {code}"
            raise _StoppedError(
                f"Expected a readable file, but its reader stopped ({ending}): the file is damaged, or needs too "
                "much memory; save it anew or in another format."
            )
        self._buffer += data

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        view = memoryview(data)
        with contextlib.suppress(BrokenPipeError):  # reading then says why the child ended
            while view:
                view = view[self._process.stdin.write(view) or 0 :]


def _too_much_memory(request: Request) -> str:
    megabytes = request.limits.memory_bytes // 1024**2
    return (
        f"Expected a file that can be read in {megabytes:,} MiB of memory, but it needed more; split it, or save it "
        "anew in another format."
    )


class ReaderPool:
    """Idle children; more than one only if several threads read."""

    def __init__(self) -> None:
        self._idle: list[ReaderProcess] = []
        self._lock = Lock()

    def items(self, request: Request) -> Iterator[Item | Part]:
        """The items of a file, read by an idle child or a new one; see `ReaderProcess.items`."""
        process = self._take()
        yield from process.items(request)
        with self._lock:
            self._idle.append(process)

    def end(self) -> None:
        """End the idle children."""
        with self._lock:
            while self._idle:
                self._idle.pop().end()

    def _take(self) -> ReaderProcess:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.is_usable:
                    return process
                process.end()
        return ReaderProcess()


POOL = ReaderPool()
atexit.register(POOL.end)
