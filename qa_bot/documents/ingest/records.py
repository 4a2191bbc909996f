"""What a reader yields, and the bounds it keeps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExportedFields:
    """Where a document came from first; its hash and the passages of its text, `[start, end)`, if homes cut alike."""

    origin: str
    hash: str = ""
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """One document as its file has it.

    `title` is a question or a page title, `body` the question's body, `text` the answer or the document's text;
    `where` is `FILE:LINE` or `FILE!MEMBER:LINE`. `kept` is what a home that was exported knew of it.
    """

    id: str
    title: str
    text: str
    body: str = ""
    url: str = ""
    where: str = ""
    exported: ExportedFields | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """What could not be read, and what to do about it."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What was read after a repair that its owner should know of."""

    where: str
    message: str


Item = Record | Reject | Notice


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds by bytes produced; command-line flags alone lift them."""

    total_bytes: int = 4 * 1024**3  # over the whole input, every layer of compression counted
    record_bytes: int = 32 * 1024**2
    ratio: int = 200  # bytes produced for one byte on disk
