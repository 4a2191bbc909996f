"""Matches questions with relations by shared words (Wang (2018), ch. 4.3.5 and the baseline of table 4.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kg_index.relations.template_text import NO_PATH, SLOT, path_steps
from qa_core.text.analysis import terms
from qa_core.types import FloatArray

RelationWords = Callable[[str], str]
"""From a relation, as text of `kg_index.relations.template_text`, to words that describe it."""

_CACHE = 100_000  # relations
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PARTS = re.compile(r"[^\W_]+")
_ASKING = frozenset(
    terms("who what which when where why how whose whom name some type kind do does did has have had can could me tell")
)
"""Question words that say little about a relation."""


@dataclass(frozen=True, slots=True)
class PredicateWords:
    """Words of relations, from labels or else from the IRI.

    `…/people/person/place_of_birth` gives "people person place of birth", `…/birthPlace` "birth place". The words of
    an IRI are those of its fragment, else of its path without `skipped` parts. An inverse path has the same words; a
    path of several steps has the words of each. With `last`, only the type and the last part count ("person place of
    birth"), since all relations of an entity often share the topic.
    """

    labels: Mapping[str, str] = field(default_factory=dict)  # by predicate
    skipped: frozenset[str] = frozenset({"ns", "ontology", "property", "prop", "direct", "resource", "entity", "wiki"})
    last: bool = False

    def __call__(self, relation: str) -> str:
        if relation == NO_PATH:
            return ""
        return " ".join(self.predicate(predicate) for predicate, _ in path_steps(relation))

    def predicate(self, predicate: str) -> str:
        """Words of one predicate; `R19`, the inverse of Wikidata's `P19`, has the label of `P19`."""
        label = self.labels.get(predicate) or self.labels.get(_forward(predicate))
        iri = last_parts(predicate) if self.last else predicate
        return label if label else " ".join(iri_words(iri, skipped=self.skipped))


def iri_words(iri: str, *, skipped: frozenset[str] = frozenset()) -> list[str]:
    """Lower-case words of an IRI without its host and immediate repetitions.

    >>> iri_words("http://example.org/ns/people.person.date_of_birth", skipped=frozenset({"ns"}))
    ['people', 'person', 'date', 'of', 'birth']
    """
    words: list[str] = []
    for part in _PARTS.findall(_tail(iri)):
        for word in _CAMEL.sub(" ", part).lower().split():
            if word not in skipped and words[-1:] != [word]:
                words.append(word)
    return words


def last_parts(iri: str) -> str:
    """Type and last part of an IRI; for Freebase's paths over a mediator, `…/ns/a.b.c..d.e.f`, `b.f`."""
    tail = _tail(iri)
    first, final = (_between(part) for part in (tail.partition("..")[0], tail))
    return f"{first[-2]}.{final[-1]}" if len(first) > 1 else tail


def _tail(iri: str) -> str:
    """The fragment, else the path without the host."""
    return iri.partition("#")[2] or re.sub(r"^[a-z][a-z0-9+.-]*://[^/]*", "", iri) or iri


def _between(text: str) -> list[str]:
    return [part for part in re.split(r"[/.]", text) if part]


def _forward(predicate: str) -> str:
    """`…/P19` for its inverse `…/R19`, as some question sets over Wikidata name it."""
    return re.sub(r"(?:^|(?<=/))R(?=\d+$)", "P", predicate)


def keywords(text: str) -> frozenset[str]:
    """Stems of the content words: without the slot, stop words and question words."""
    return frozenset(terms(text.replace(SLOT, " "))) - _ASKING


@dataclass(frozen=True, eq=False)
class KeywordMatcher:
    """Scores relations by the words that they share with a template.

    The score is the Jaccard coefficient of stems without stop words. Without `jaccard` it is their number. With
    `plain`, it is the number of shared words, unstemmed and with stop words: Wang's K and keyword match.
    """

    words: RelationWords = field(default_factory=PredicateWords)
    jaccard: bool = True
    plain: bool = False
    _cache: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)

    def overlap(self, template: str, relation: str) -> int:
        """The number of words that template and relation share, or of stems without `plain`."""
        return len(self._of(template) & self._of_relation(relation))

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        """Scores (P,) for the relations of each pool; 0 without shared words."""
        return [
            np.array([self._one(self._of(template), relation) for relation in pool], dtype=np.float32)
            for template, pool in zip(templates, pools, strict=True)
        ]

    def _one(self, template: frozenset[str], relation: str) -> float:
        words = self._of_relation(relation)
        shared = len(template & words)
        return shared / len(template | words) if self.jaccard and not self.plain and shared else float(shared)

    def _of(self, text: str) -> frozenset[str]:
        return frozenset(text.split()) - {SLOT} if self.plain else keywords(text)

    def _of_relation(self, relation: str) -> frozenset[str]:
        words = self._cache.get(relation)
        if words is None:
            if len(self._cache) >= _CACHE:
                self._cache.clear()
            words = self._cache[relation] = self._of(self.words(relation))
        return words


def single_best(scores: FloatArray) -> int | None:
    """Index of the highest of scores (P,); None if it is 0 or tied."""
    if not len(scores) or scores.max() <= 0:
        return None
    best = np.flatnonzero(scores == scores.max())
    return int(best[0]) if len(best) == 1 else None
