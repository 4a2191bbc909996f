"""Dumps of MediaWiki (XML): one document for each article, without templates and redirects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import quote

from qa_bot.documents.ingest.dates import iso_date
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.files.xml import Handler, XmlError, stream
from qa_bot.documents.ingest.formats.exports.wikitext import WikiPage, wikitext
from qa_bot.documents.ingest.records import Item, Record, Reject

ARTICLES = "0"  # the namespace of articles
FIELDS = {"title", "ns", "text", "timestamp", "base"}


class _Pages(Handler[Record]):
    """Collects the fields of each `<page>`; of several revisions the last counts."""

    def __init__(self, file: SourceFile, convert: Callable[[str], WikiPage]) -> None:
        super().__init__()
        self._convert = convert
        self.root = ""
        self._file = file
        self._first_line = 1
        self._fields: dict[str, str] = {}
        self._field: str | None = None
        self._pieces: list[str] = []
        self._base = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:  # noqa: ARG002  # of the protocol
        tag = _local_name(tag)
        self.root = self.root or tag
        if tag == "page":
            self._fields, self._first_line = {}, self.line()
        elif tag == "redirect":
            self._fields["redirect"] = "yes"
        elif tag in FIELDS:
            self._field, self._pieces = tag, []

    def data(self, text: str) -> None:
        if self._field is not None:
            self._pieces.append(text)

    def end(self, tag: str) -> None:
        tag = _local_name(tag)
        if tag == self._field:
            self._fields[tag], self._field = "".join(self._pieces), None
        if tag == "base":
            self._base = self._fields.get("base", "").rpartition("/")[0]
        elif tag == "page" and (record := self._record()) is not None:
            self.results.append(record)

    def _record(self) -> Record | None:
        fields, clean = self._fields, self._file.repairs.clean
        title = fields.get("title", "").strip()
        if fields.get("ns", ARTICLES) != ARTICLES or "redirect" in fields or not title:
            return None
        page = self._convert(fields.get("text", ""))
        if not page.markdown:
            return None
        return Record(
            clean(f"{self._file.name}#{title}"),
            clean(title),
            clean(page.markdown),
            url=f"{self._base}/{quote(title.replace(' ', '_'))}" if self._base.startswith("http") else "",
            where=f"{self._file.where}:{self._first_line}",
            markdown=self._convert is wikitext,
            date=iso_date(fields.get("timestamp", "")),
            tags=tuple(map(clean, page.categories)),
        )


def _local_name(tag: str) -> str:
    """The name without its namespace: each version of MediaWiki writes another one, such as `…/export-0.11/`."""
    return tag.rpartition("}")[2]


def read(file: SourceFile, *, convert: Callable[[str], WikiPage] = wikitext) -> Iterator[Item]:
    """A record for each article, in the order of the file; articles before an XML error are kept.

    Args:
        convert: from wikitext to the text of the record.
    """
    pages = _Pages(file, convert)
    try:
        yield from stream(file, pages)
    except XmlError as error:
        yield Reject(f"{file.where}:{error.line}", f"{error} The articles before this line are kept.")
        return
    if pages.root != "mediawiki":
        yield Reject(
            f"{file.where}:1", f"Expected the root <mediawiki>, but got <{pages.root}>; add a dump with pages."
        )
