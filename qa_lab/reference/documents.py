"""Documents of a folder as the product's readers give them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from qa_bot.documents.ingest import Record, Reject, read
from qa_core.text.analysis import normalise

_OLD = re.compile(r"\b(archived?|old|obsolete|deprecated|superseded|former|outdated|draft)\b", re.IGNORECASE)
_SIGNS = re.compile(r"[-_/]+")


@dataclass(frozen=True, slots=True)
class Document:
    """A document; `title` is its file's name if it has none, `old` says that its title or its path calls it so."""

    id: str
    title: str
    text: str
    markdown: bool
    old: bool


def read_documents(data: Path) -> list[Document]:
    """All documents of a file or folder; what cannot be read is left out.

    Raises:
        ValueError: if nothing can be read; the message names the first reason.
    """
    documents, rejects = [], []
    for item in read(data):
        if isinstance(item, Record):
            documents.append(of_record(item))
        elif isinstance(item, Reject):
            rejects.append(item)
    if not documents:
        reason = rejects[0].reason if rejects else "it holds no record"
        raise ValueError(f"Expected documents in {data}, but got none: {reason}")
    return documents


def of_record(record: Record) -> Document:
    """The body of a question stands between its title and its answer."""
    path = record.id.split("#")[0]
    title = record.title or " ".join(_SIGNS.split(PurePosixPath(path).stem))
    old = record.archived or record.draft or any(_OLD.search(text) for text in (title, _SIGNS.sub(" ", path)))
    text = record.text if record.markdown else normalise(record.text)
    return Document(record.id, title, f"{record.body}\n\n{text}" if record.body else text, record.markdown, bool(old))
