"""The child: `python -m qa_bot.documents.ingest.worker` reads the files that its owner names on standard input.

It ends when the owner ends, after a time without work, or when its memory ran out.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import resource
import select
import signal
import sys

from qa_bot.documents.ingest.files.byte_budget import ByteBudget, CountingStream, LayerBudget, TotalLimitError
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.one_file import load, read_file
from qa_bot.documents.ingest.worker import messages
from qa_bot.documents.ingest.worker.messages import Request

IDLE_SECONDS = 60
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux's prctl


def main() -> int:
    requests, answers = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # what libraries print must not get among the answers
    _end_with_the_owner()
    with io.FileIO(requests) as source, io.FileIO(answers, "wb") as out:
        while select.select([source], [], [], IDLE_SECONDS)[0]:
            header = source.read(messages.HEADER.size)
            if len(header) < messages.HEADER.size:
                return 0
            request = messages.request_of(_exactly(source, messages.HEADER.unpack(header)[1]))
            end = _answer(request, out)
            out.write(messages.frame(end))
            if end == messages.OUT_OF_MEMORY:
                return 1  # its state is unknown
    return 0


def _answer(request: Request, out: io.RawIOBase) -> bytes:
    """Send the items of a file; the kind of the last frame."""
    _limit_memory(request.limits.memory_bytes)
    try:
        with io.FileIO(os.fsdecode(request.path)) as file:
            budget = LayerBudget(ByteBudget(request.limits))
            source = SourceFile(
                request.name,
                request.where,
                CountingStream(file, budget),
                request.limits,
                guesses_encoding=".formats.markup." in request.module,
                progress=lambda: _write(out, messages.frame(messages.ALIVE)),
            )
            for item in read_file(source, load(request.module, request.function), is_binary=True):
                _write(out, messages.item_frame(item))
    except MemoryError:
        return messages.OUT_OF_MEMORY
    except TotalLimitError:
        return messages.TOTAL_LIMIT
    except OSError:  # read_file raises it for a full disk alone
        return messages.DISK_FULL
    return messages.END


def _write(out: io.RawIOBase, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[out.write(view) or 0 :]


def _exactly(source: io.RawIOBase, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += source.read(size - len(data)) or b""
    return data


def _limit_memory(size: int) -> None:
    with contextlib.suppress(ValueError, OSError):  # the owner's limit is lower
        resource.setrlimit(resource.RLIMIT_DATA, (size, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _end_with_the_owner() -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        sys.exit(main())
