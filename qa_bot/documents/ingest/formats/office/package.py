"""Opens office files: zip archives of XML parts, read with the limits of `qa-bot add` and without entities."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.files.byte_budget import CountingStream, LayerBudget, LimitError
from qa_bot.documents.ingest.files.containers import UNOPENED
from qa_bot.documents.ingest.files.signatures import OLE
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.files.xml import XmlError, parse_children, parse_tree
from qa_bot.documents.ingest.formats.office.names import qualify
from qa_bot.documents.ingest.records import Item, Reject

LARGEST_PART = 8  # times the record limit: markup around the text of a record
FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg)", re.IGNORECASE)
PROGRESS = 1000  # children between two reports that the file is being read
ENCRYPTED = 1  # the flag of a zip member


class UnreadableError(Exception):
    """The office file cannot be read; the message says why and what to do."""


class Link(NamedTuple):
    """A relationship of a part: its kind (the last part of its type), and another part's name or a URL."""

    kind: str
    target: str
    is_external: bool


class Package:
    """The parts of an office file, by name."""

    def __init__(self, file: SourceFile) -> None:
        """Raises UnreadableError if the zip archive is damaged."""
        self.limits = file.limits
        self._file = file
        if file.head.startswith(OLE):
            raise UnreadableError(
                "Expected an office file without a password, but got one with a password; save it without."
            )
        self._stream = file.file()
        size = self._stream.seek(0, io.SEEK_END)
        self._stream.seek(0)
        try:
            self._archive = zipfile.ZipFile(self._stream)
        except UNOPENED as error:
            self._stream.close()
            raise UnreadableError(
                f"Expected a whole office file, but got a damaged one ({error}); open it in its program and save it "
                "again, or fetch it anew."
            ) from error
        self._budget = LayerBudget(file.raw.budget.total, packed=size)
        self.names = frozenset(self._archive.namelist())

    def __enter__(self) -> Package:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._archive.close()
        self._stream.close()

    def open(self, name: str) -> io.BufferedReader:
        """The bytes of a part; the reader raises LimitError for a decompression bomb.

        Raises UnreadableError if the part is missing, encrypted or damaged, and LimitError if it is too large.
        """
        try:
            info = self._archive.getinfo(name)
            if info.flag_bits & ENCRYPTED:
                raise UnreadableError(
                    "Expected an office file without a password, but got one with a password; save it without."
                )
            member = self._archive.open(info)
        except KeyError as error:
            raise UnreadableError(f"Expected an office file with {name}, but got none; save it anew.") from error
        except UNOPENED as error:
            raise UnreadableError(f"Expected a readable {name}, but got {error}; save the file anew.") from error
        if info.file_size > LARGEST_PART * self.limits.record_bytes:
            raise LimitError(over_record_limit(self.limits))
        budget = LayerBudget(self._budget.total, packed=info.compress_size, archive=self._budget)
        return io.BufferedReader(CountingStream(member, budget))

    def tree(self, name: str) -> Element | None:
        """A part's root with short names (`w:p`), or None if there is no such part."""
        if name not in self.names:
            return None
        with self.open(name) as stream:
            return qualify(parse_tree(stream))

    def children(self, name: str, *parents: str) -> Iterator[Element]:
        """Each child of the elements `parents` (local names) of a part, in order, freed after its turn."""
        with self.open(name) as stream:
            for number, child in enumerate(parse_children(stream, frozenset(parents)), 1):
                if number % PROGRESS == 0:
                    self._file.progress()
                yield qualify(child)

    def links(self, name: str) -> dict[str, Link]:
        """The relationships of a part by their ids; "" is the whole file."""
        folder, _, base = name.rpartition("/")
        root = self.tree(posixpath.join(folder, "_rels", f"{base}.rels"))
        links = {}
        for element in root if root is not None else ():
            target = element.get("Target", "")
            is_external = element.get("TargetMode") == "External"
            if not is_external:
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
            kind = element.get("Type", "").rpartition("/")[2]
            links[element.get("Id", "")] = Link(kind, target, is_external)
        return links

    def main_part(self, expected: str) -> str:
        """The name of the part with the document, by default `expected`."""
        targets = [link.target for link in self.links("").values() if link.kind == "officeDocument"]
        return next((target for target in targets if target in self.names), expected)


def read_package(file: SourceFile, read: Callable[[Package], Iterator[Item]]) -> Iterator[Item]:
    """The items of `read`, or a reject if the file cannot be read."""
    try:
        with Package(file) as package:
            yield from read(package)
    except (UnreadableError, XmlError) as error:
        yield Reject(file.where, str(error))
    except RecursionError:
        yield Reject(file.where, "Expected a document, but got one nested too deeply; flatten its tables and groups.")


def web_link(text: str, target: str) -> str:
    """`[text](target)` for addresses of the web and of mail; other targets are left out."""
    is_web = target.lower().startswith(("http://", "https://", "mailto:"))
    label = " ".join(text.split())
    if not is_web or not label:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    target = target.replace(" ", "%20").replace("(", "%28").replace(")", "%29").replace("|", "%7C")
    plain = target.removeprefix("mailto:")
    link = label if label in {target, plain} else f"[{label}]({target})"
    return f"{before}{link}{after}"


def picture_text(description: str) -> str:
    """What the author wrote about a picture; "" for the name of its file, which programs put there."""
    text = " ".join(description.split())
    return "" if FILE_NAME.fullmatch(text) else text
