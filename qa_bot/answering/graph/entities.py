"""Entities of the knowledge graph that a text names, each with the words for its kind ("Ottawa": city, town)."""

from __future__ import annotations

from typing import NamedTuple

from kg_index.answers.graph_words import Vocabulary
from kg_index.answers.lookup import Lookup
from kg_index.linking.linker import Linker
from qa_core.method_cache import method_cache

LONGEST = 1_000
"""Characters of a text that are searched."""


class Entity(NamedTuple):
    """A name that the graph knows, as written, and the words for its kind in lower case."""

    text: str
    classes: frozenset[str]


class Entities:
    """Finds entities of one generation of a graph; safe to share between threads."""

    def __init__(self, lookup: Lookup) -> None:
        self._linker = Linker(lookup.mentions, lookup.triples.salience)
        self._vocabulary = Vocabulary(lookup.triples)
        self._classes = method_cache(self._read_classes, maxsize=4096)
        self.find = method_cache(self._find, maxsize=1024)

    def _find(self, text: str) -> tuple[Entity, ...]:
        """Capitalised names in the text, each once, with the kinds of its likeliest entity."""
        searched = text[:LONGEST]
        entities: dict[str, Entity] = {}
        for mention in self._linker.find(searched):
            name = searched[mention.start : mention.end]
            if name[:1].isupper() and name not in entities:
                entities[name] = Entity(name, self._classes(mention.entities[0]))
        return tuple(entities.values())

    def _read_classes(self, entity: int) -> frozenset[str]:
        kinds = self._vocabulary.kinds(entity)
        return frozenset(word.casefold() for kind in kinds for word in self._vocabulary.names(kind).texts)
