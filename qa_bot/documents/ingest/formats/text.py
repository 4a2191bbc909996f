"""Plain text: one document a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.records import Item, Record, Reject

TITLE_CHARACTERS = 100
SENTENCE_ENDS = ".!?…。！？:;,"


def records(leaf: SourceFile) -> Iterator[Item]:
    """One record with the path as its id; a short first line that ends no sentence is its title, else the stem is."""
    text = leaf.text().strip()
    if not text:
        yield Reject(f"{leaf.where}:1", "Expected text, but got white space; fill the file or leave it out.")
        return
    first, _, rest = text.partition("\n")
    first = first.strip()
    if rest.strip() and len(first) <= TITLE_CHARACTERS and first[-1] not in SENTENCE_ENDS:
        yield Record(leaf.name, first, rest.strip(), where=f"{leaf.where}:1")
    else:
        yield Record(leaf.name, PurePosixPath(leaf.name).stem, text, where=f"{leaf.where}:1")
