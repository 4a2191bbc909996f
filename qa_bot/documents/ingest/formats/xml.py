"""The door to defusedxml: XML as a stream of events, without entities or external references."""

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
    """Takes the parser's events and puts what it makes of them into `found`; `line()` is where the parser is."""

    def __init__(self) -> None:
        self.found: list[T] = []
        self.line: Callable[[], int] = lambda: 1

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, tag: str) -> None:
        """An element ends."""

    def data(self, text: str) -> None:
        """A piece of text, not always the whole of it."""

    def close(self) -> None:
        """The document ends."""

    def drain(self) -> list[T]:
        """What was found since the last call."""
        found, self.found = self.found, []
        return found


def stream(leaf: SourceFile, handler: Handler[T]) -> Iterator[T]:
    """What the handler finds, as soon as it is found; memory stays flat in the size of the file.

    Raises XmlError where the XML is broken or brings entities, after everything before that place, and LimitError
    where more than the record limit goes by without anything found.
    """
    parser = _parser(handler)
    waiting = 0
    while True:
        chunk = leaf.stream.read(CHUNK)
        error = _feed(parser, chunk)
        found = handler.drain()
        yield from found
        if error is not None:
            raise error
        if not chunk:
            return
        waiting = 0 if found else waiting + len(chunk)
        if waiting > leaf.limits.record_bytes:
            raise LimitError(over_record_limit(leaf.limits))


def _parser(handler: Handler[T]) -> Any:
    # the leaf's stream is UTF-8 already, whatever the XML declaration says
    parser = XMLParser(target=handler, encoding="utf-8")
    expat = parser.parser
    # straight to the handler: the tree's own way there costs as much again as the parsing
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
