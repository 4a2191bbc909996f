"""Where mentions come from: labels, aliases and links of a graph, and tables of texts, entities and counts."""

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
"""A text, the entity it may stand for, and how often it does."""

Triple = tuple[str, str, str]
IdOf = Callable[[str], int | None]

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
"""What a label or the title of a page counts; an alias counts once. Tables of real counts soon outweigh both."""

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
    """Mentions of the entities that `id_of` knows; triples with other predicates pass by.

    A label is a literal that names its subject. An alias is either the same or leads from another name, as a redirect
    does: then the last part of the subject's IRI names the object. It is followed one step and no further, so that
    names that lead round in a circle, or to themselves, end where they are. A link ties an entity to a page of
    Wikipedia, in either direction; the title is the name. "Mercury (planet)" is also "Mercury".

    Args:
        languages: of literals with a language tag, by its first part; those without one always count. None: all.
    """
    for subject, predicate, obj in triples:
        if predicate in links:
            found = _linked(subject, obj)
            count = LABEL_COUNT
        elif predicate in labels or predicate in aliases:
            found = _named(subject, obj, languages)
            count = LABEL_COUNT if predicate in labels else 1
        else:
            continue
        if found is not None and (entity := id_of(found[0])) is not None:
            yield from ((name, entity, count) for name in _variants(found[1]))


def read_table(path: Path, id_of: IdOf, *, report: Callable[[str], None] | None = None) -> Iterator[Row]:
    """Rows of a file `text TAB entity TAB count` (plain, .gz or .bz2); entities that `id_of` lacks are left out.

    Args:
        report: takes the message on a malformed line, which is then skipped.

    Raises:
        ValueError: on the first malformed line, where there is no `report`.
    """
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.isspace():
                continue
            try:
                text, term, count = _fields(line)
            except ValueError as error:
                message = f"{path}:{number}: {error}"
                if report is None:
                    raise ValueError(message) from None
                report(message)
                continue
            if (entity := id_of(term)) is not None:
                yield text, entity, count


def literal_text(term: str, languages: Collection[str] | None = None) -> str | None:
    """The text of a literal, None for another term and for a tag of none of the `languages`."""
    found = literal(term)
    if found is None or (found.language and languages is not None and _language(found) not in languages):
        return None
    return found.text


def _language(found: Literal) -> str:
    return found.language.partition("-")[0].lower()


def page_title(iri: str) -> str | None:
    """The title of a page of Wikipedia or resource of DBpedia: ".../wiki/Denton,_Texas" is "Denton, Texas"."""
    found = _WIKI.match(iri)
    return None if found is None else unquote(found[1] or found[2], errors="replace").replace("_", " ").strip()


def _linked(subject: str, obj: str) -> tuple[str, str] | None:
    """Which of the two is the entity, and the title of the other."""
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
    """The name, without what stands in brackets at its end, and without apostrophes, which questions often drop."""
    bare = _BRACKETS.sub("", name) or name
    return dict.fromkeys((name, bare, _APOSTROPHES.sub("", bare)))


def _fields(line: bytes) -> tuple[str, str, int]:
    try:
        fields = line.decode("utf-8").rstrip("\r\n").split("\t")
    except UnicodeDecodeError as error:
        raise ValueError(f"Expected UTF-8, but got {error}; convert the file.") from None
    if len(fields) != 3 or not fields[0].strip():
        raise ValueError(f"Expected text TAB entity TAB count, but got {line[:80]!r}; mend or remove the line.")
    text, term, count = fields
    if not (count.strip().isascii() and count.strip().isdigit()) or int(count) == 0:
        raise ValueError(f"Expected a count of 1 or more, but got {count[:40]!r}; mend or remove the line.")
    return text, term.strip().removeprefix("<").removesuffix(">"), int(count)


def _opened(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return cast(BinaryIO, bz2.open(path, "rb")) if path.suffix == ".bz2" else path.open("rb")
