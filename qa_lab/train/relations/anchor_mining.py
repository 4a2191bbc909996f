"""`kg mine --anchors`: counts which texts link to the pages of entities (Wang (2018), ch. 4.3.3).

`<a href="https://en.wikipedia.org/wiki/Michael_Jackson">The King of Pop</a>` makes "The King of Pop" a name of the
entity with that page. HTML pages and dumps of MediaWiki are read; `kg add --mentions` takes the table.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from kg_index.linking.mention_rows import LINKS, page_title
from kg_index.relations.template_rows import CountedParts, TemplateCounts
from kg_index.triples.triple_index import TripleIndex
from qa_bot.documents.graph import GraphError, Progress, open_graph
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.exports import mediawiki, wikitext
from qa_bot.documents.ingest.formats.markup import html
from qa_bot.documents.ingest.records import Item, Record
from qa_bot.home.folder import Home
from qa_lab.data.reading import FileReader, read_records

MENTIONS_TABLE = "mentions.tsv"
"""Rows `text TAB entity TAB count`."""
LONGEST_TEXT = 100  # characters; longer anchors are sentences
_CACHE = 100_000  # addresses
_UNQUOTED = "/:;,@!$'()*~&=+"


@dataclass(frozen=True, slots=True)
class MinedAnchors:
    """Figures of a run."""

    pages: int
    links: int  # with a text
    to_entities: int
    names: int  # distinct pairs of a text and an entity
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def mine_anchors(
    home: Home,
    paths: Sequence[Path],
    out: Path,
    *,
    limit: int | None = None,
    held: int = 2_000_000,
    progress: Progress = lambda _done, _doing: None,
) -> MinedAnchors:
    """Count links to entities of the home's graph into `out`/mentions.tsv.

    Args:
        limit: maximum number of pages.
        held: names in memory before a sorted part is written beside `out`; parts are merged at the end.

    Raises GraphError if there is no graph, or the paths hold no page.
    """
    started = time.perf_counter()
    pages = links = linked = 0
    with ExitStack() as opened:
        graph, unread = opened.enter_context(open_graph(home)), read_anchors(paths)
        if (first := next(unread, None)) is None:
            raise GraphError(
                f"Expected HTML pages or dumps of MediaWiki in {', '.join(map(str, paths))}, but got none."
            )
        out.mkdir(parents=True, exist_ok=True)
        folder = opened.enter_context(tempfile.TemporaryDirectory(prefix=".anchors.", dir=out))
        entities = PageEntities(graph.triples)
        parts = CountedParts(Path(folder), held)
        for page in chain([first], unread):
            pages, links, counts = pages + 1, links + len(page), TemplateCounts()
            for text, address in page:
                if len(text) <= LONGEST_TEXT and (entity := entities.of(address)) is not None:
                    counts.add(text, entity)
                    linked += 1
            parts.take(counts)
            progress(pages, "mining")
            if pages == limit:
                break
        merged = parts.merged()
        with merged.open("rb") as rows:
            names = sum(1 for _ in rows)
        shutil.move(merged, out / MENTIONS_TABLE)
    return MinedAnchors(pages, links, linked, names, round(time.perf_counter() - started, 3))


class PageEntities:
    """Finds the entity that a web page is about."""

    def __init__(self, triples: TripleIndex) -> None:
        self._triples = triples
        self._links = frozenset(number for name in LINKS if (number := triples.id_of(name)) is not None)
        self.of = lru_cache(_CACHE)(self._of)

    def _of(self, address: str) -> str | None:
        """The entity that the graph links with the page, or whose IRI is the address; None if there is none."""
        triples = self._triples
        pages = [number for form in _forms(address) if (number := triples.id_of(form)) is not None]
        for page in pages:
            for predicates, others in (triples.facts_to(page), triples.facts(page)):
                for predicate, other in zip(predicates.tolist(), others.tolist(), strict=True):
                    if predicate in self._links:
                        return triples.term(other)
        return triples.term(pages[0]) if pages else None


def _forms(address: str) -> Iterator[str]:
    """Spellings of an address in graphs: http and https, with and without escapes, as a resource of DBpedia."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return
    if parts.scheme not in ("http", "https"):
        return
    host, path = parts.netloc.lower().replace(".m.", "."), unquote(parts.path)
    for form in dict.fromkeys((parts.path, path, quote(path, safe=_UNQUOTED))):
        yield from (f"{scheme}://{host}{form}" for scheme in ("https", "http"))
    if (title := page_title(f"https://{host}{path}")) is not None:
        yield f"http://dbpedia.org/resource/{title.replace(' ', '_')}"


Anchors = list[tuple[str, str]]
"""Texts and addresses of the links of a page."""


def read_anchors(paths: Sequence[Path]) -> Iterator[Anchors]:
    """The links of each page of files, folders and archives; what is neither HTML nor a dump has none."""
    formats: dict[str, FileReader] = {"html": _html, "mediawiki": partial(mediawiki.read, convert=_raw)}
    for item in read_records(paths, formats):
        if isinstance(item, _Page):
            yield html.anchors(item.text, address=item.url)
        elif isinstance(item, Record) and item.url and not item.markdown:
            base = item.url.removesuffix(quote(item.title.replace(" ", "_")))
            yield [(text, base + quote(title.replace(" ", "_"))) for text, title in wikitext.anchors(item.text)]


@dataclass(frozen=True, slots=True)
class _Page(Record):
    """The source of an HTML page."""


def _html(file: SourceFile) -> Iterator[Item]:
    yield _Page(file.name, "", file.text(), where=f"{file.where}:1")


def _raw(source: str) -> wikitext.WikiPage:
    return wikitext.WikiPage(source, ())
