"""Parses XML as a stream of events, without entities or external references. The only file that imports defusedxml."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any, Generic, TypeVar
from xml.etree.ElementTree import Element

from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]  # it has no type hints
from defusedxml.ElementTree import (  # type: ignore[import-untyped]  # it has no type hints
    ParseError,
    XMLParser,
    iterparse,
    parse,
)

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


def parse_tree(stream: IO[bytes]) -> Element:
    """The root of a document that fits into memory.

    Raises XmlError if the XML is broken or has entities.
    """
    try:
        root: Element = parse(stream, forbid_dtd=True).getroot()
    except ParseError as error:
        raise _broken(error) from error
    except DefusedXmlException as error:
        raise _forbidden(error, 1) from error
    return root


def parse_children(stream: IO[bytes], parents: frozenset[str]) -> Iterator[Element]:
    """Each child of the elements `parents` (names without namespaces), in order; it is freed after its turn.

    Raises XmlError if the XML is broken or has entities, after the children before that.
    """
    parent: Element | None = None
    depth = 0
    try:
        for event, element in iterparse(stream, events=("start", "end"), forbid_dtd=True):
            if parent is None:
                if event == "start" and element.tag.rpartition("}")[2] in parents:
                    parent, depth = element, 0
            elif event == "start":
                depth += 1
            elif depth == 0:
                parent = None
            else:
                depth -= 1
                if depth == 0:
                    yield element
                    parent.clear()
    except ParseError as error:
        raise _broken(error) from error
    except DefusedXmlException as error:
        raise _forbidden(error, 1) from error


def _broken(error: Any) -> XmlError:
    return XmlError(error.position[0], f"Expected well-formed XML, but got {error}; correct the file.")


def _forbidden(error: Any, line: int) -> XmlError:
    reason = f"Expected XML without entities, but got {type(error).__name__}; remove the DOCTYPE with its entities."
    return XmlError(line, reason)


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
        return _broken(error)
    except DefusedXmlException as error:
        return _forbidden(error, int(parser.parser.CurrentLineNumber))
    return None
