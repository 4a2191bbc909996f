"""Plain text: one document a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.records import Item, Record, Reject

TITLE_CHARACTERS = 100
SENTENCE_ENDS = ".!?…。！？:;,"


def read(file: SourceFile) -> Iterator[Item]:
    """One record; its id is the path, its title a short first line that ends no sentence, else the file's stem."""
    text = file.text().strip()
    if not text:
        yield Reject(f"{file.where}:1", "Expected text, but got white space; fill the file or leave it out.")
        return
    first, _, rest = text.partition("\n")
    first = first.strip()
    if rest.strip() and len(first) <= TITLE_CHARACTERS and first[-1] not in SENTENCE_ENDS:
        yield Record(file.name, first, rest.strip(), where=f"{file.where}:1")
    else:
        yield Record(file.name, PurePosixPath(file.name).stem, text, where=f"{file.where}:1")
