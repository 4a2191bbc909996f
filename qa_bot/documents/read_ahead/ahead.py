"""Reading ahead: the next files of a run are read and cut by further processes, or by this one while it waits."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, zip_longest

from qa_bot.documents.cutting.cut_record import CutRecord
from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.records import Item, Record
from qa_bot.documents.read_ahead.children import Answer, Children
from qa_bot.documents.read_ahead.file_read import FileRead, Request, Settings, is_unchanged, read_file
from qa_bot.documents.read_ahead.messages import file_of

LEAST_FILES, LEAST_BYTES = 32, 512 * 1024
"""A run with fewer files or bytes is nearly over before another process has started."""
CHUNK_FILES, CHUNK_BYTES = 32, 64 * 1024
"""What a process gets at once; it needs about a tenth of a second for it."""
WINDOW = 16
"""Chunks ahead for each process: what it reads while this one stores a batch of documents."""
MOST_PROCESSES = 4


@contextmanager
def reading_ahead(requests: Callable[[], Iterable[Request]], settings: Settings) -> Iterator[ReadAhead | None]:
    """Read files ahead; None if they are few, or if there is only one core. The processes end with the context.

    Args:
        requests: all files in the order in which they will be taken, also those that are not suitable.
    """
    processes = min(_cores() - 1, MOST_PROCESSES)
    if processes < 1 or not _are_many(_suitable(requests())):
        yield None
        return
    children = Children(processes, settings)
    try:
        yield ReadAhead(children, _suitable(requests()), settings, window=WINDOW * processes)
    finally:
        children.close()


@dataclass(slots=True, eq=False)
class _Chunk:
    """Some files, what a process reads of them, or what this one has read of them in its place."""

    requests: Sequence[Request]
    sent: Future[list[Answer]]
    read: list[FileRead | None] | None = None


class ReadAhead:
    """Files that are taken in their order; at most `window` chunks of them are read before their turn."""

    def __init__(self, children: Children, requests: Iterator[Request], settings: Settings, *, window: int) -> None:
        self.cuts: dict[Record, CutRecord] = {}
        """What the records that `items` gave are cut into; the caller removes them."""
        self._children, self._settings = children, settings
        self._chunks = _chunks(requests)
        self._window = deque(map(self._sent, islice(self._chunks, window)))
        self._files = self._in_order()
        self._next: tuple[Request, FileRead | None] | None = None

    def take(self, request: Request, budget: ByteBudget) -> FileRead | None:
        """What was read of the next file; None if it must be read now.

        That is so if it is not suitable, could not be read, has changed since, or if the budget ends within it.
        """
        if not request.is_suitable:
            return None
        self._next = self._next or next(self._files, None)
        if self._next is None or self._next[0] != request:
            return None
        _, read = self._next
        self._next = None
        if read is None or not is_unchanged(read, request) or budget.bytes + read.bytes > budget.limits.total_bytes:
            return None
        budget.add(read.bytes)
        return read

    def items(self, read: FileRead) -> Iterator[Item]:
        """The items of a file; each record's cut is in `cuts` when it comes."""
        for item, cut in read.items:
            if isinstance(item, Record) and cut is not None:
                self.cuts[item] = cut
            yield item

    def _in_order(self) -> Iterator[tuple[Request, FileRead | None]]:
        while self._window:
            chunk = self._window.popleft()
            self._window.extend(map(self._sent, islice(self._chunks, 1)))
            yield from zip_longest(chunk.requests, self._read(chunk))

    def _read(self, chunk: _Chunk) -> Sequence[FileRead | None]:
        """What was read of a chunk; while a process is at it, this one reads chunks that no process has begun."""
        while not chunk.sent.done():
            later = next((one for one in (chunk, *self._window) if one.read is None and one.sent.cancel()), None)
            if later is None:
                break
            later.read = [read_file(request, self._settings) for request in later.requests]
        return [file_of(*answer) for answer in chunk.sent.result()] if chunk.read is None else chunk.read

    def _sent(self, requests: Sequence[Request]) -> _Chunk:
        return _Chunk(requests, self._children.submit(requests))


def _chunks(requests: Iterator[Request]) -> Iterator[Sequence[Request]]:
    chunk: list[Request] = []
    size = 0
    for request in requests:
        if chunk and (len(chunk) >= CHUNK_FILES or size + request.size > CHUNK_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(request)
        size += request.size
    if chunk:
        yield chunk


def _suitable(requests: Iterable[Request]) -> Iterator[Request]:
    return (request for request in requests if request.is_suitable)


def _are_many(requests: Iterable[Request]) -> bool:
    size = 0
    for number, request in enumerate(requests, 1):
        size += request.size
        if number >= LEAST_FILES and size >= LEAST_BYTES:
            return True
    return False


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
