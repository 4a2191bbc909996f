"""The child: `python -m qa_bot.documents.ingest.worker` reads the files that its owner names on standard input.

It ends when the owner ends, after a time without work, or when its memory ran out.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource

from qa_bot.documents.ingest.files.byte_budget import ByteBudget, CountingStream, LayerBudget, TotalLimitError
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.one_file import load, read_file
from qa_bot.documents.ingest.worker import messages
from qa_bot.documents.ingest.worker.messages import Request
from qa_bot.documents.ingest.worker.serving import serve, write


def _answer(payload: bytes, out: io.RawIOBase) -> bool:
    """Send the items of a file and the end; False if memory ran out, because the state is unknown then."""
    end = _read(messages.request_of(payload), out)
    out.write(messages.frame(end))
    return end != messages.OUT_OF_MEMORY


def _read(request: Request, out: io.RawIOBase) -> bytes:
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
                progress=lambda: write(out, messages.frame(messages.ALIVE)),
            )
            for item in read_file(source, load(request.module, request.function), is_binary=True):
                write(out, messages.item_frame(item))
    except MemoryError:
        return messages.OUT_OF_MEMORY
    except TotalLimitError:
        return messages.TOTAL_LIMIT
    except OSError:  # read_file raises it for a full disk alone
        return messages.DISK_FULL
    return messages.END


def _limit_memory(size: int) -> None:
    with contextlib.suppress(ValueError, OSError):  # the owner's limit is lower
        resource.setrlimit(resource.RLIMIT_DATA, (size, resource.getrlimit(resource.RLIMIT_DATA)[1]))


if __name__ == "__main__":
    serve(_answer)
