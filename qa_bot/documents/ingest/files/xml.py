"""Parses XML as a stream of events, without entities or external references. The only file that imports defusedxml."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any, Generic, TypeVar
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers.expat import ExpatError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import (
    ParseError,
    XMLParser,
)

from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.records import Limits

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
    # the file's stream is UTF-8, whatever the XML declaration says
    return events(file.stream, handler, file.limits, encoding="utf-8")


def events(stream: IO[bytes], handler: Handler[T], limits: Limits, *, encoding: str | None = None) -> Iterator[T]:
    """Yield the handler's results while an XML document is read; `encoding` replaces the one that it declares.

    Raises as `stream` does.
    """
    parser = _parser(handler, encoding)
    waiting = 0
    while True:
        chunk = stream.read(CHUNK)
        error = _feed(parser, chunk)
        results = handler.drain()
        yield from results
        if error is not None:
            raise error
        if not chunk:
            return
        waiting = 0 if results else waiting + len(chunk)
        if waiting > limits.record_bytes:
            raise LimitError(over_record_limit(limits))


def parse_tree(stream: IO[bytes]) -> Element:
    """The root of a document that fits into memory; names are `namespace}name`.

    Raises XmlError if the XML is broken or has a DOCTYPE.
    """
    root, error = parse_begun(stream)
    if error is not None:
        raise error
    if root is None:
        raise XmlError(1, "Expected well-formed XML, but got an empty document; correct the file.")
    return root


def parse_begun(stream: IO[bytes]) -> tuple[Element | None, XmlError | None]:
    """The root of a document with what is before the first error, and that error; the root is None if none begins."""
    root = None
    try:
        for root in _growing(stream):  # noqa: B007  # the last one has all
            pass
    except XmlError as error:
        return root, error
    return root, None


def parse_children(stream: IO[bytes], parents: frozenset[str]) -> Iterator[Element]:
    """Each child of the elements `parents`, which are the root or its children, in order; it is freed after its turn.

    Args:
        stream: the document, of any size.
        parents: names without namespaces.

    Raises XmlError if the XML is broken or has a DOCTYPE, after the children before that.
    """
    root = None
    for root in _growing(stream):
        yield from _whole_children(root, parents, is_growing=True)
    if root is not None:
        yield from _whole_children(root, parents, is_growing=False)


def _whole_children(root: Element, parents: frozenset[str], *, is_growing: bool) -> Iterator[Element]:
    """Takes the children that have ended from their parents; while the tree grows, each last one may be open."""
    is_parent = root.tag.rpartition("}")[2] in parents
    for parent in [root] if is_parent else [element for element in root if element.tag.rpartition("}")[2] in parents]:
        is_open = is_growing and (is_parent or parent is root[-1])
        end = max(0, len(parent) - is_open)
        yield from parent[:end]
        del parent[:end]


def _growing(stream: IO[bytes]) -> Iterator[Element]:
    """The root of a document after each chunk of it, and before an error is raised."""
    builder = TreeBuilder()
    roots: list[Element] = []
    parser = XMLParser(target=builder, forbid_dtd=True)
    expat = parser.parser
    # straight to the builder, which is compiled: the way through ElementTree's parser takes four times as long
    expat.ordered_attributes = False
    expat.buffer_text = True
    expat.EndElementHandler = builder.end
    expat.CharacterDataHandler = builder.data

    def start(tag: str, attributes: dict[str, str]) -> None:
        roots.append(builder.start(tag, attributes))
        expat.StartElementHandler = builder.start

    expat.StartElementHandler = start
    try:
        while chunk := stream.read(CHUNK):
            expat.Parse(chunk, False)  # its parameters have no names
            yield from roots
        expat.Parse(b"", True)
    except ExpatError as error:
        yield from roots
        raise XmlError(error.lineno, f"Expected well-formed XML, but got {error}; correct the file.") from error
    except DefusedXmlException as error:
        yield from roots
        raise _forbidden(error, expat.CurrentLineNumber) from error
    yield from roots


def _broken(error: Any) -> XmlError:
    return XmlError(error.position[0], f"Expected well-formed XML, but got {error}; correct the file.")


def _forbidden(error: Any, line: int) -> XmlError:
    reason = f"Expected XML without entities, but got {type(error).__name__}; remove the DOCTYPE with its entities."
    return XmlError(line, reason)


def _parser(handler: Handler[T], encoding: str | None) -> Any:
    parser = XMLParser(target=handler, encoding=encoding)
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
