"""Looks facts up by terms as people write them: IRIs, names of entities, words of predicates, values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from kg_index.linking.mention_rows import LABELS
from kg_index.linking.mentions import Mentions
from kg_index.linking.name_folding import key_of
from kg_index.triples.triple_index import TripleIndex
from kg_index.values.literals import literal
from qa_core.types import IntArray

SENSES = 20  # entities per name
_NAMES = 50  # names read per entity
_PLAIN = ('"{}"', '"{}"@en', '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>')


class UnknownTermError(ValueError):
    """A term that is not in the graph."""


@dataclass(frozen=True, slots=True)
class Fact:
    """The ids of a triple."""

    subject: int
    predicate: int
    object: int


@dataclass(frozen=True)
class Lookup:
    """Lookup in a triple index and the names of its entities."""

    triples: TripleIndex
    mentions: Mentions

    def facts(self, subject: str | None, predicate: str | None, object_: str | None) -> Iterator[Fact]:
        """Triples with the given terms; a name matches all its entities.

        Raises ValueError if no term is given, UnknownTermError for a term that the graph does not have.
        """
        if subject is None and predicate is None and object_ is None:
            raise ValueError("Expected a subject, a predicate or an object to look up, but got none of them.")
        s = self._ids(subject, self.entities, "an entity")
        p = self._ids(predicate, self.predicates, "a predicate")
        o = self._ids(object_, self.objects, "an entity or value")
        return (fact for pattern in product(s, p, o) for fact in self._facts(*pattern))

    def entities(self, text: str) -> list[int]:
        """Ids of an IRI, or of the entities of a name by descending count."""
        if (number := self.triples.id_of(_bare(text))) is not None:
            return [number]
        key = self.mentions.key(text)
        return [] if key is None else _id_list(self.mentions.entities(key, most=SENSES)[0])

    def objects(self, text: str) -> list[int]:
        """Ids of an IRI, a literal, or a name."""
        if entities := self.entities(text):
            return entities
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        ids = (self.triples.id_of(form.format(escaped)) for form in _PLAIN)
        return [number for number in ids if number is not None]

    def predicates(self, text: str) -> list[int]:
        """Ids of an IRI, or of the predicates whose label or last part of the IRI is the text."""
        if (number := self.triples.id_of(_bare(text))) is not None:
            return [number]
        return self._predicates.get(key_of(text), [])

    def label(self, number: int) -> str:
        """A literal's text, an entity's label, or the end of its IRI."""
        term = self.triples.term(number)
        if (value := literal(term)) is not None:
            return value.text
        for predicate in self._label_predicates:
            names = [literal(self.triples.term(o)) for o in self.triples.objects(number, predicate)[:_NAMES].tolist()]
            if texts := [(n.language not in ("en", ""), n.text) for n in names if n is not None and n.text.strip()]:
                return min(texts)[1]
        return last_part(term)

    @cached_property
    def _label_predicates(self) -> list[int]:
        ids = (self.triples.id_of(predicate) for predicate in sorted(LABELS, reverse=True))
        return [number for number in ids if number is not None]

    @cached_property
    def _predicates(self) -> dict[str, list[int]]:
        by_name: dict[str, list[int]] = {}
        for number in self.triples.predicate_counts()[0].tolist():
            for name in dict.fromkeys((key_of(self.label(number)), key_of(last_part(self.triples.term(number))))):
                by_name.setdefault(name, []).append(number)
        return by_name

    def _ids(self, text: str | None, find: Callable[[str], list[int]], what: str) -> list[int | None]:
        if text is None:
            return [None]
        if not (ids := find(text)):
            raise UnknownTermError(
                f"Expected {what} of the graph, but got {text!r}; give its name or IRI as the graph has it."
            )
        return [*ids]

    def _facts(self, s: int | None, p: int | None, o: int | None) -> Iterator[Fact]:
        index = self.triples
        match (s, p, o):
            case (int(), int(), int()):
                yield from (Fact(s, p, o) for _ in range(p in index.predicates(s, o)))
            case (int(), int(), None):
                yield from (Fact(s, p, value) for value in index.objects(s, p).tolist())
            case (None, int(), int()):
                yield from (Fact(value, p, o) for value in index.subjects(p, o).tolist())
            case (int(), None, int()):
                yield from (Fact(s, value, o) for value in index.predicates(s, o).tolist())
            case (int(), None, None):
                yield from (Fact(s, *pair) for pair in zip(*map(_id_list, index.facts(s)), strict=True))
            case (None, None, int()):
                into = zip(*map(_id_list, index.facts_to(o)), strict=True)
                yield from (Fact(subject, predicate, o) for predicate, subject in into)
            case (None, int(), None):
                pairs = zip(*map(_id_list, index.with_predicate(p)), strict=True)
                yield from (Fact(subject, p, object_) for subject, object_ in pairs)


def last_part(iri: str) -> str:
    """The words of the last part of an IRI: "form of government" of `…/location.country.form_of_government`."""
    return re.split(r"[/#.]", iri.rstrip("/#"))[-1].replace("_", " ") or iri


def _bare(text: str) -> str:
    return text[1:-1] if text[:1] == "<" and text[-1:] == ">" else text


def _id_list(ids: IntArray) -> list[int]:
    numbers: list[int] = ids.tolist()
    return numbers
