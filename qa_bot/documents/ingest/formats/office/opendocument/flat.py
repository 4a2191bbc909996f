"""The parts of OpenDocument files: members of a zip archive, or one XML file with all of them (FODT, FODS, FODP)."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import IO, Protocol
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.files.xml import XmlError, parse_tree
from qa_bot.documents.ingest.formats.office.names import qualify
from qa_bot.documents.ingest.formats.office.package import LARGEST_PART, UnreadableError, read_package
from qa_bot.documents.ingest.records import Item, Reject

CONTENT, STYLES, META = NAMES = ("content.xml", "styles.xml", "meta.xml")


class Parts(Protocol):
    """The parts of a file, by name."""

    def open(self, name: str) -> IO[bytes]:
        """The bytes of a part."""

    def tree(self, name: str) -> Element | None:
        """A part's root with short names, or None if there is no such part."""


class FlatFile:
    """One XML file, which is each of its parts."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._root: Element | None = None

    def open(self, name: str) -> IO[bytes]:
        """The whole file; raises UnreadableError for parts that it does not have."""
        if name not in NAMES:
            raise UnreadableError(f"Expected an OpenDocument file with {name}, but got one XML file; save it anew.")
        self._stream.seek(0)
        return io.BytesIO(self._stream.read())

    def tree(self, name: str) -> Element | None:
        """The root of the file; None for parts that it does not have."""
        if name not in NAMES:
            return None
        if self._root is None:
            self._root = qualify(parse_tree(self.open(name)))
        return self._root


def read_parts(file: SourceFile, read: Callable[[Parts], Iterator[Item]]) -> Iterator[Item]:
    """The items of `read`, or a reject if the file cannot be read."""
    if not file.head.lstrip().startswith((b"<", b"\xef\xbb\xbf<")):
        yield from read_package(file, read)
        return
    with file.file() as stream:
        if stream.seek(0, io.SEEK_END) > LARGEST_PART * file.limits.record_bytes:
            raise LimitError(over_record_limit(file.limits))
        try:
            yield from read(FlatFile(stream))
        except (UnreadableError, XmlError) as error:
            yield Reject(file.where, str(error))
        except RecursionError:
            yield Reject(file.where, "Expected a document, but got one nested too deeply; flatten its tables.")
