"""The child: `python -m qa_bot.documents.read_ahead` reads and cuts the files that its owner names."""

from __future__ import annotations

import io

from qa_bot.documents.garbage import rare_collections
from qa_bot.documents.ingest.worker.serving import serve, write
from qa_bot.documents.read_ahead.file_read import read_file
from qa_bot.documents.read_ahead.messages import file_frame, request_of


def _answer(payload: bytes, out: io.RawIOBase) -> bool:
    requests, settings = request_of(payload)
    for request in requests:
        write(out, file_frame(read_file(request, settings)))
    return True


if __name__ == "__main__":
    with rare_collections():
        serve(_answer)
