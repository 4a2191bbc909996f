"""What readers yield (records, rejects, notices), and their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from qa_core.types import DocumentKind, Place, Span


class Position(NamedTuple):
    """From `offset` of a record's text on, the page (or slide) or the row of a sheet, until the next position.

    Below a row's line each further line of the same table is the next row.
    """

    offset: int
    page: int | None = None
    row: int | None = None


class ExportedPassage(NamedTuple):
    """A passage of a document with structure, from another home; `units` are spans of `text`."""

    text: str
    start: int
    end: int
    place: Place
    units: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class ExportedFields:
    """From another home: the first origin; the hash and passages `[start, end)` if both homes cut alike.

    `passages` are those of a document with structure, which its text alone does not give back; `path` is its file
    below its source.
    """

    origin: str
    hash: str = ""
    spans: tuple[Span, ...] = ()
    passages: tuple[ExportedPassage, ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One document as read from its file.

    `title` is a question or a page title, `body` the question's body, `text` the answer or the document's text;
    `where` is `FILE:LINE` or `FILE!MEMBER:LINE`. `markdown` says whether `text` is Markdown as `MarkdownWriter` writes
    it; otherwise it is plain text, whose signs mean nothing. `date` (ISO 8601), `language` (ISO 639) and the rest are
    what the document says of itself, `modified` the date of its file, or of the
    mail that it is attached to.
    """

    id: str
    title: str
    text: str
    body: str = ""
    url: str = ""
    where: str = ""
    exported: ExportedFields | None = None
    markdown: bool = False
    kind: DocumentKind = "prose"
    date: str = ""
    language: str = ""
    archived: bool = False
    draft: bool = False
    tags: tuple[str, ...] = ()
    positions: tuple[Position, ...] = ()
    modified: str = ""


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that could not be read, and what to do about it."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A repair of the input that the user should know of."""

    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Part:
    """A file inside a document, such as an attachment; the reader of its format reads it after the document.

    `name` becomes the start of its ids: the document's id, `!`, and the file's name. `date` is that of the document.
    """

    name: str
    where: str
    data: bytes
    date: str = ""


Item = Record | Reject | Notice


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the bytes read and unpacked; only command-line flags raise them."""

    total_bytes: int = 4 * 1024**3  # over the whole input, every layer of compression counted
    record_bytes: int = 32 * 1024**2
    ratio: int = 200  # bytes produced for one byte on disk
    seconds: int = 60  # to read one binary file, more for a large one
    memory_bytes: int = 1536 * 1024**2  # of the process that reads binary files
