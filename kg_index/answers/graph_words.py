"""Names of predicates and kinds, units of numbers, and texts about entities, read from a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kg_index.answers.lookup import last_part
from kg_index.linking.mention_rows import ALIASES, LABELS, LINKS
from kg_index.relations.keywords import iri_words, keywords
from kg_index.triples.triple_index import TripleIndex
from kg_index.values.literals import literal
from qa_core.method_cache import method_cache

TYPES = ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "http://www.wikidata.org/prop/direct/P31")
DESCRIPTIONS = (
    "http://schema.org/description",
    "https://schema.org/description",
    "http://www.w3.org/2000/01/rdf-schema#comment",
    "http://dbpedia.org/ontology/abstract",
)
UNITS = ("https://qa-bot.org/kg/p/unit", "http://qudt.org/schema/qudt/unit", "https://schema.org/unitText")
_NAMES = 20  # names read per term
_PREDICATES = 200  # predicates read per entity
_DESCRIBED = 300  # characters of a description
_SKIPPED = frozenset({"ns", "ontology", "property", "prop", "direct", "resource", "entity", "wiki", "kg", "p"})


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a predicate or kind, best first, with the content stems of each."""

    texts: tuple[str, ...]
    stems: tuple[frozenset[str], ...]
    all_stems: frozenset[str]
    from_graph: bool  # False if read from the IRI


class Vocabulary:
    """Names and texts of one generation of a graph, cached."""

    def __init__(self, triples: TripleIndex) -> None:
        self._triples = triples
        self.types, self._descriptions, self._units = map(self._known, (TYPES, DESCRIPTIONS, UNITS))
        self._labels = self._known([*sorted(LABELS, reverse=True), *sorted(ALIASES)])
        self.hidden = frozenset({*self._known([*LABELS, *ALIASES, *LINKS]), *self.types, *self._descriptions})
        """Predicates of names, kinds and descriptions, which no question asks for."""
        self.names = method_cache(self._names, maxsize=65_536)
        self.unit = method_cache(self._unit, maxsize=65_536)
        self.is_kind = method_cache(self._is_kind, maxsize=65_536)

    def kinds(self, entity: int) -> frozenset[int]:
        """The classes of an entity."""
        return frozenset(o for p in self.types for o in self._triples.objects(entity, p).tolist())

    def description(self, entity: int) -> str:
        """The beginning of its description, which mostly says what it is."""
        return next(iter(self._texts(entity, self._descriptions)), "")[:_DESCRIBED]

    def about(self, entity: int) -> Iterator[str]:
        """Texts about an entity for the linker: its description, and names of its kinds and predicates."""
        yield self.description(entity)
        for kind in self.kinds(entity):
            yield from self.names(kind).texts
        around = [
            *self._triples.predicates_of(entity)[:_PREDICATES],
            *self._triples.predicates_to(entity)[:_PREDICATES],
        ]
        for predicate in dict.fromkeys(map(int, around)):
            if predicate not in self.hidden:
                yield from self.names(predicate).texts

    def _names(self, number: int) -> Names:
        """Labels and aliases, or else the words of the IRI: of its last part and of all parts."""
        iri = self._triples.term(number)
        labels = list(filter(str.strip, self._texts(number, self._labels)))
        words = (last_part(iri).lower(), " ".join(iri_words(iri, skipped=_SKIPPED)))
        texts = tuple(dict.fromkeys(filter(str.strip, labels or words))) or (iri,)
        stems = tuple(map(keywords, texts))
        return Names(texts, stems, frozenset[str]().union(*stems), bool(labels))

    def _unit(self, predicate: int) -> str:
        """The unit of a predicate's numbers, empty without one."""
        return next(iter(self._texts(predicate, self._units)), "")

    def _is_kind(self, entity: int) -> bool:
        return any(len(self._triples.subjects(p, entity)) for p in self.types)

    def _texts(self, number: int, predicates: Sequence[int]) -> list[str]:
        """English and untagged literals of a term, in the order of the predicates."""
        literals = (
            literal(self._triples.term(o))
            for p in predicates
            for o in np.sort(self._triples.objects(number, p))[:_NAMES].tolist()
        )
        return [text.text for text in literals if text is not None and text.language[:2].lower() in ("", "en")]

    def _known(self, iris: Sequence[str]) -> list[int]:
        ids = map(self._triples.id_of, iris)
        return [number for number in ids if number is not None]
