"""Words of a graph: names of its predicates and kinds, units of its numbers, and texts about its entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kg_index.answers.lookup import last_part
from kg_index.linking.mention_rows import ALIASES, LABELS, LINKS
from kg_index.relations.keywords import iri_words, keywords
from kg_index.triples.triple_index import TripleIndex
from kg_index.values.literals import literal

TYPES = ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "http://www.wikidata.org/prop/direct/P31")
DESCRIPTIONS = (
    "http://schema.org/description",
    "https://schema.org/description",
    "http://www.w3.org/2000/01/rdf-schema#comment",
    "http://dbpedia.org/ontology/abstract",
)
UNITS = ("https://qa-bot.org/kg/p/unit", "http://qudt.org/schema/qudt/unit", "https://schema.org/unitText")
_NAMES = 20  # of a term that are looked at
_PREDICATES = 200  # of an entity whose words are read
_DESCRIBED = 300  # characters of a description
_SKIPPED = frozenset({"ns", "ontology", "property", "prop", "direct", "resource", "entity", "wiki", "kg", "p"})


@dataclass(frozen=True, slots=True)
class Names:
    """What a predicate or kind is called, the best name first, and the stems that say something in each."""

    texts: tuple[str, ...]
    stems: tuple[frozenset[str], ...]
    all_stems: frozenset[str]
    from_graph: bool  # False if read from the IRI


class Vocabulary:
    """Over one generation of an index; what was read is remembered."""

    def __init__(self, triples: TripleIndex) -> None:
        self._triples = triples
        self.types, self._descriptions, self._units = map(self._known, (TYPES, DESCRIPTIONS, UNITS))
        self._labels = self._known([*sorted(LABELS, reverse=True), *sorted(ALIASES)])
        self.hidden = frozenset({*self._known([*LABELS, *ALIASES, *LINKS]), *self.types, *self._descriptions})
        """Predicates that tell names, kinds and descriptions: no question is about them."""
        self.names = lru_cache(maxsize=65_536)(self._names)
        self.unit = lru_cache(maxsize=65_536)(self._unit)
        self.is_kind = lru_cache(maxsize=65_536)(self._is_kind)

    def kinds(self, entity: int) -> frozenset[int]:
        """What the graph says that an entity is."""
        return frozenset(o for p in self.types for o in self._triples.objects(entity, p).tolist())

    def description(self, entity: int) -> str:
        """Its beginning: what tells senses apart stands first."""
        return next(iter(self._texts(entity, self._descriptions)), "")[:_DESCRIBED]

    def about(self, entity: int) -> Iterator[str]:
        """Texts about an entity, for the linker: its description, names of its kinds and of its predicates."""
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
        """Labels and aliases, then the words of the IRI: its end, and all that tells it from others."""
        iri = self._triples.term(number)
        told = list(filter(str.strip, self._texts(number, self._labels)))
        words = (last_part(iri).lower(), " ".join(iri_words(iri, skipped=_SKIPPED)))
        texts = tuple(dict.fromkeys(filter(str.strip, told or words))) or (iri,)
        stems = tuple(map(keywords, texts))
        return Names(texts, stems, frozenset[str]().union(*stems), bool(told))

    def _unit(self, predicate: int) -> str:
        """The unit of a predicate's numbers, empty where the graph names none."""
        return next(iter(self._texts(predicate, self._units)), "")

    def _is_kind(self, entity: int) -> bool:
        return any(len(self._triples.subjects(p, entity)) for p in self.types)

    def _texts(self, number: int, predicates: Sequence[int]) -> list[str]:
        """English and untagged literals of a term, in the order of the predicates."""
        found = (
            literal(self._triples.term(o))
            for p in predicates
            for o in np.sort(self._triples.objects(number, p))[:_NAMES].tolist()
        )
        return [each.text for each in found if each is not None and each.language[:2].lower() in ("", "en")]

    def _known(self, iris: Sequence[str]) -> list[int]:
        ids = map(self._triples.id_of, iris)
        return [number for number in ids if number is not None]
