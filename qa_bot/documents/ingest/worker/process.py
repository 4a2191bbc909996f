"""The owner's side: gives files to the process of readers, and ends it if a file takes too long."""

from __future__ import annotations

import atexit
import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from qa_bot.documents.ingest.files.byte_budget import TotalLimitError
from qa_bot.documents.ingest.records import Item, Part, Reject
from qa_bot.documents.ingest.worker import messages
from qa_bot.documents.ingest.worker.child import Child, StoppedError
from qa_bot.documents.ingest.worker.messages import Request

SECONDS_A_MEGABYTE = 2


class ReaderProcess(Child):
    """A child that reads one file after the other."""

    def __init__(self) -> None:
        super().__init__("qa_bot.documents.ingest.worker")

    def items(self, request: Request) -> Iterator[Item | Part]:
        """The items of a file, the last one a reject if it needed too much time or memory.

        Raises:
            TotalLimitError: more bytes than the whole input may have.
            OSError: the disk of temporary copies is full.
        """
        is_done = False
        seconds = request.limits.seconds + SECONDS_A_MEGABYTE * Path(os.fsdecode(request.path)).stat().st_size / 1024**2
        try:
            self.send(messages.request_frame(request))
            yield from self._answers(request, seconds)
            is_done = True
        except StoppedError as error:
            yield Reject(request.where, str(error))
        finally:
            if not is_done:
                self.end()
            self.last_used = time.monotonic()

    def _answers(self, request: Request, seconds: float) -> Iterator[Item | Part]:
        left = seconds
        while True:
            kind, payload, waited = self.receive(left, seconds)
            left -= waited
            match kind:
                case messages.END:
                    return
                case messages.ALIVE:
                    left = seconds
                case messages.OUT_OF_MEMORY:
                    raise StoppedError(_too_much_memory(request))
                case messages.DISK_FULL:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                case messages.TOTAL_LIMIT:
                    raise TotalLimitError(f"{request.where} holds more bytes than --max-total-bytes.")
                case _:
                    yield messages.item_of(kind, payload)


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
