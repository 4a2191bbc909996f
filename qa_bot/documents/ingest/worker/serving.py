"""The child's side: takes requests from standard input, until the owner ends or gives no work."""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import select
import signal
import sys
from collections.abc import Callable

from qa_bot.documents.ingest.worker import messages

IDLE_SECONDS = 60
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux's prctl


def serve(answer: Callable[[bytes, io.RawIOBase], bool]) -> None:
    """Answer requests until the owner ends, there is no work for a time, or `answer` returns False.

    Args:
        answer: writes frames that answer the payload of a request.
    """
    requests, answers = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # what libraries print must not get among the answers
    _end_with_the_owner()
    with (
        contextlib.suppress(BrokenPipeError, KeyboardInterrupt),
        io.FileIO(requests) as source,
        io.FileIO(answers, "wb") as out,
    ):
        while select.select([source], [], [], IDLE_SECONDS)[0]:
            header = source.read(messages.HEADER.size)
            if len(header) < messages.HEADER.size:
                return
            if not answer(_exactly(source, messages.HEADER.unpack(header)[1]), out):
                return


def write(out: io.RawIOBase, data: bytes) -> None:
    """Write all of the data."""
    view = memoryview(data)
    while view:
        view = view[out.write(view) or 0 :]


def _exactly(source: io.RawIOBase, size: int) -> bytes:
    data = b""
    while len(data) < size:
        if not (more := source.read(size - len(data))):
            raise BrokenPipeError("The owner ended within a request.")
        data += more
    return data


def _end_with_the_owner() -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
