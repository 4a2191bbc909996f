"""Parses XML as a stream of events, without entities or external references. The only file that imports defusedxml."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]  # it has no type hints
from defusedxml.ElementTree import ParseError, XMLParser  # type: ignore[import-untyped]  # it has no type hints

from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit

CHUNK = 64 * 1024

T = TypeVar("T")


class XmlError(Exception):
    """The XML is broken or forbidden from `line` on."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class Handler(Generic[T]):
    """Receives the parser's events and appends to `results`; `line()` is the parser's current line."""

    def __init__(self) -> None:
        self.results: list[T] = []
        self.line: Callable[[], int] = lambda: 1

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, tag: str) -> None:
        """An element ends."""

    def data(self, text: str) -> None:
        """A piece of text, not always the whole text of an element."""

    def close(self) -> None:
        """The document ends."""

    def drain(self) -> list[T]:
        """The results since the last call."""
        results, self.results = self.results, []
        return results


def stream(file: SourceFile, handler: Handler[T]) -> Iterator[T]:
    """Yield the handler's results while the file is read; memory does not grow with the file.

    Raises XmlError if the XML is broken or has entities, after the results before that line, and LimitError if more
    than the record limit is read without a result.
    """
    parser = _parser(handler)
    waiting = 0
    while True:
        chunk = file.stream.read(CHUNK)
        error = _feed(parser, chunk)
        results = handler.drain()
        yield from results
        if error is not None:
            raise error
        if not chunk:
            return
        waiting = 0 if results else waiting + len(chunk)
        if waiting > file.limits.record_bytes:
            raise LimitError(over_record_limit(file.limits))


def _parser(handler: Handler[T]) -> Any:
    # the file's stream is UTF-8, whatever the XML declaration says
    parser = XMLParser(target=handler, encoding="utf-8")
    expat = parser.parser
    # straight to the handler: the way through ElementTree doubles the time
    expat.ordered_attributes = False
    expat.StartElementHandler = handler.start
    expat.EndElementHandler = handler.end
    expat.CharacterDataHandler = handler.data
    handler.line = lambda: int(expat.CurrentLineNumber)
    return parser


def _feed(parser: Any, chunk: bytes) -> XmlError | None:
    try:
        if chunk:
            parser.feed(chunk)
        else:
            parser.close()
    except ParseError as error:
        return XmlError(error.position[0], f"Expected well-formed XML, but got {error}; correct the file.")
    except DefusedXmlException as error:
        reason = f"Expected XML without entities, but got {type(error).__name__}; remove the DOCTYPE with its entities."
        return XmlError(int(parser.parser.CurrentLineNumber), reason)
    return None
