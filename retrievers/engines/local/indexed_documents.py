"""Documents as they go into a segment: their passages, the texts that are encoded, and what filters look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import NamedTuple

from qa_core.text.markdown_text import context, plain_text, unit_text
from qa_core.types import NO_DETAILS, NO_PLACE, Details, Place, Span
from retrievers.engines.local.facets import Facets


class IndexedPassage(NamedTuple):
    """`units` are spans of `text` that are searched one by one."""

    key: int
    text: str
    place: Place = NO_PLACE
    units: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document to index, with its passages in reading order."""

    key: int
    id: str
    title: str
    body: str
    url: str
    collection: str
    passages: tuple[IndexedPassage, ...]
    details: Details = NO_DETAILS


class EncodedTexts(NamedTuple):
    """What is encoded of documents: titles as questions; passages with their context, then units, as answers."""

    titles: list[str]
    answers: list[str]


def encoded_texts(documents: Sequence[IndexedDocument]) -> EncodedTexts:
    """The texts whose vectors a segment holds for documents."""
    bodies = [
        "" if p.place.kind == "boilerplate" else body_text(d.title, p.place.heading, p.text)
        for d in documents
        for p in d.passages
    ]
    units = [unit_text(p.text, unit) for d in documents for p in d.passages for unit in p.units]
    return EncodedTexts([document.title for document in documents], bodies + units)


def body_text(title: str, heading: Sequence[str], passage: str) -> str:
    """The text that is encoded for a passage; the names above say what one that begins with "It is …" is about."""
    above, plain = context(title, heading), plain_text(passage)
    return f"{above}\n{plain}" if above else plain


def facets_of(document: IndexedDocument) -> Facets:
    """What filters look at; the folders are those of the document's id and of its file."""
    file = "" if document.details.path.startswith("/") else document.details.path  # absolute ones are of old homes
    folders = list(dict.fromkeys(chain(_paths_to(document.id), _paths_to(file), [file.partition("!")[0]])))
    digits = document.details.date[:10].replace("-", "")
    date = int(digits.ljust(8, "1")) if digits.isdigit() and len(digits) in {4, 6, 8} else 0
    return Facets(document.collection, [path for path in folders if path], date, document.details.language)


def _paths_to(path: str) -> Iterator[str]:
    """The folders above a path, outermost first, and the path itself."""
    return accumulate(path.split("/"), lambda above, name: f"{above}/{name}")
