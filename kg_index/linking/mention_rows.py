"""Collects the names of entities: from labels, aliases and links of a graph, and from tables of counts."""

from __future__ import annotations

import bz2
import gzip
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import unquote

from kg_index.values.literals import Literal, literal

Row = tuple[str, int, int]
"""A name, an entity that it may mean, and how often it does."""

Triple = tuple[str, str, str]
IdOf = Callable[[str], int | None]
Report = Callable[[int, str], None]

LABELS = frozenset({"http://www.w3.org/2000/01/rdf-schema#label", "http://xmlns.com/foaf/0.1/name"})
ALIASES = frozenset({
    "http://www.w3.org/2004/02/skos/core#altLabel",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://dbpedia.org/ontology/wikiPageWikiLinkText",
    "http://dbpedia.org/ontology/wikiPageRedirects",
})  # fmt: skip
LINKS = frozenset({
    "http://xmlns.com/foaf/0.1/isPrimaryTopicOf",
    "http://xmlns.com/foaf/0.1/primaryTopic",
    "http://schema.org/about",
})  # fmt: skip
LABEL_COUNT = 3
"""The count of a label or page title; an alias counts once. Tables of real counts soon outweigh both."""

_WIKI = re.compile(r"https?://(?:[\w-]+\.)*wikipedia\.org/wiki/([^?#]+)|https?://(?:\w+\.)?dbpedia\.org/resource/(.+)")
_APOSTROPHES = re.compile(r"(?<=\w)['’](?=\w)")
_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")


def rows_of(
    triples: Iterable[Triple],
    id_of: IdOf,
    *,
    labels: Collection[str] = LABELS,
    aliases: Collection[str] = ALIASES,
    links: Collection[str] = LINKS,
    languages: Collection[str] | None = ("en",),
) -> Iterator[Row]:
    """Names of the entities that `id_of` knows; triples with other predicates are ignored.

    A label is a literal that names its subject. An alias is a literal too, or a redirect: then the last part of the
    subject's IRI names the object. Redirects are followed one step, so cycles do no harm. A link connects an entity
    with a page of Wikipedia, in either direction; the title is the name. "Mercury (planet)" is also "Mercury".

    Args:
        languages: primary tags of the literals to use, None for all; untagged literals are always used.
    """
    for subject, predicate, obj in triples:
        if predicate in links:
            named = _linked(subject, obj)
            count = LABEL_COUNT
        elif predicate in labels or predicate in aliases:
            named = _named(subject, obj, languages)
            count = LABEL_COUNT if predicate in labels else 1
        else:
            continue
        if named is not None and (entity := id_of(named[0])) is not None:
            yield from ((name, entity, count) for name in _variants(named[1]))


def read_table(path: Path, id_of: IdOf, *, report: Report | None = None) -> Iterator[Row]:
    """Rows of a file `text TAB entity TAB count` (plain, .gz or .bz2), without entities unknown to `id_of`.

    Args:
        report: called with the number and the fault of each malformed line, which is skipped.

    Raises ValueError on the first malformed line if there is no `report`.
    """
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.isspace():
                continue
            try:
                text, term, count = _fields(line)
            except ValueError as error:
                if report is None:
                    raise ValueError(f"{path}:{number}: {error}") from None
                report(number, str(error))
                continue
            if (entity := id_of(term)) is not None:
                yield text, entity, count


def literal_text(term: str, languages: Collection[str] | None = None) -> str | None:
    """The text of a literal; None for another term or another language."""
    parts = literal(term)
    if parts is None or (parts.language and languages is not None and _language(parts) not in languages):
        return None
    return parts.text


def _language(parts: Literal) -> str:
    return parts.language.partition("-")[0].lower()


def page_title(iri: str) -> str | None:
    """The title of a page of Wikipedia or resource of DBpedia: ".../wiki/Denton,_Texas" is "Denton, Texas"."""
    page = _WIKI.match(iri)
    return None if page is None else unquote(page[1] or page[2], errors="replace").replace("_", " ").strip()


def _linked(subject: str, obj: str) -> tuple[str, str] | None:
    """The entity of the two, and the title of the other."""
    if (title := page_title(obj)) is not None:
        return subject, title
    return None if (title := page_title(subject)) is None else (obj, title)


def _named(subject: str, obj: str, languages: Collection[str] | None) -> tuple[str, str] | None:
    if obj.startswith('"'):
        name = literal_text(obj, languages)
        return None if name is None else (subject, name)
    name = page_title(subject)
    return None if name is None else (obj, name)


def _variants(name: str) -> Iterable[str]:
    """The name, also without its final brackets and without apostrophes, which questions often drop."""
    bare = _BRACKETS.sub("", name) or name
    return dict.fromkeys((name, bare, _APOSTROPHES.sub("", bare)))


def _fields(line: bytes) -> tuple[str, str, int]:
    try:
        row = line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"Expected UTF-8, but got {error}; convert the file.") from None
    fields = row.split("\t")
    if len(fields) != 3 or not fields[0].strip():
        raise ValueError(f"Expected text TAB entity TAB count, but got {row[:80]!r}; correct or remove the line.")
    text, term, count = fields
    if not (count.strip().isascii() and count.strip().isdigit()) or int(count) == 0:
        raise ValueError(f"Expected a count of 1 or more, but got {count[:40]!r}; correct or remove the line.")
    return text, term.strip().removeprefix("<").removesuffix(">"), int(count)


def _opened(path: Path) -> BinaryIO:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return cast(BinaryIO, bz2.open(path, "rb")) if suffix == ".bz2" else path.open("rb")
