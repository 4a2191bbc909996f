"""Words of relations, and questions matched with them (thesis, ch. 4.3.5 and the baseline of table 4.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kg_index.relations.template_text import NO_PATH, SLOT, path_steps
from qa_core.text.analysis import STOP_TERMS, terms
from qa_core.types import FloatArray

RelationWords = Callable[[str], str]
"""From a relation, as `kg_index.relations.template_text` writes it, to words that say what it is."""

_REMEMBERED = 100_000  # relations
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PARTS = re.compile(r"[^\W_]+")
_ASKING = frozenset(
    terms("who what which when where why how whose whom name some type kind do does did has have had can could me tell")
)
"""Words of questions that say little about a relation; "where" and its like are never words of one."""


@dataclass(frozen=True, slots=True)
class PredicateWords:
    """Words of relations from labels where there are any, else from the IRI.

    `…/people/person/place_of_birth` gives "people person place of birth", `…/birthPlace` "birth place". Of an IRI
    counts the part that tells predicates of one graph apart: its fragment, else its path without `skipped` parts.
    An inverse path has the same words; of a longer path each step has its own. With `last` only its type and its last
    part count, "person place of birth", since the topic before them is often the same for all relations of an entity.
    """

    labels: Mapping[str, str] = field(default_factory=dict)  # by predicate
    skipped: frozenset[str] = frozenset({"ns", "ontology", "property", "prop", "direct", "resource", "entity", "wiki"})
    last: bool = False

    def __call__(self, relation: str) -> str:
        if relation == NO_PATH:
            return ""
        return " ".join(self.predicate(predicate) for predicate, _ in path_steps(relation))

    def predicate(self, predicate: str) -> str:
        """Words of one predicate; wikidata's `R19`, the inverse of `P19`, takes the label of that one."""
        label = self.labels.get(predicate) or self.labels.get(_forward(predicate))
        iri = last_parts(predicate) if self.last else predicate
        return label if label else " ".join(iri_words(iri, skipped=self.skipped))


def iri_words(iri: str, *, skipped: frozenset[str] = frozenset()) -> list[str]:
    """Lower-case words of an IRI without its host; a word that follows itself is left out.

    >>> iri_words("http://example.org/ns/people.person.date_of_birth", skipped=frozenset({"ns"}))
    ['people', 'person', 'date', 'of', 'birth']
    """
    found: list[str] = []
    for part in _PARTS.findall(_tail(iri)):
        for word in _CAMEL.sub(" ", part).lower().split():
            if word not in skipped and found[-1:] != [word]:
                found.append(word)
    return found


def last_parts(iri: str) -> str:
    """Type and last part of an IRI: of Freebase's paths over a mediator, `…/ns/a.b.c..d.e.f`, this is `b.f`."""
    tail = _tail(iri)
    first, final = (_between(part) for part in (tail.partition("..")[0], tail))
    return f"{first[-2]}.{final[-1]}" if len(first) > 1 else tail


def _tail(iri: str) -> str:
    """Without the host, or the fragment alone."""
    return iri.partition("#")[2] or re.sub(r"^[a-z][a-z0-9+.-]*://[^/]*", "", iri) or iri


def _between(text: str) -> list[str]:
    return [part for part in re.split(r"[/.]", text) if part]


def _forward(predicate: str) -> str:
    """`…/R19` names the inverse of `…/P19` in some sets of questions over Wikidata."""
    return re.sub(r"(?:^|(?<=/))R(?=\d+$)", "P", predicate)


def keywords(text: str) -> frozenset[str]:
    """Stems of a text's words that say something: no slot, no stop words, no words of asking."""
    return frozenset(terms(text.replace(SLOT, " "))) - _ASKING


@dataclass(frozen=True, eq=False)
class KeywordMatcher:
    """How far the words of a template and of a relation are the same.

    `jaccard` divides what is shared by what either has: of two relations with as many shared words the shorter one
    wins. Without it the score is the number of shared words, the thesis' K.
    """

    words: RelationWords = field(default_factory=PredicateWords)
    jaccard: bool = True
    stemmed: bool = True
    _seen: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)

    def overlap(self, template: str, relation: str) -> int:
        """`K`: the number of words that template and relation share."""
        return len(self._of(template) & self._of_relation(relation))

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        """A score for each relation of each pool; 0 where nothing is shared."""
        return [
            np.array([self._one(self._of(template), relation) for relation in pool], dtype=np.float32)
            for template, pool in zip(templates, pools, strict=True)
        ]

    def _one(self, asked: frozenset[str], relation: str) -> float:
        own = self._of_relation(relation)
        shared = len(asked & own)
        return shared / len(asked | own) if self.jaccard and shared else float(shared)

    def _of(self, text: str) -> frozenset[str]:
        return keywords(text) if self.stemmed else frozenset(text.split()) - STOP_TERMS - {SLOT}

    def _of_relation(self, relation: str) -> frozenset[str]:
        found = self._seen.get(relation)
        if found is None:
            if len(self._seen) >= _REMEMBERED:
                self._seen.clear()
            found = self._seen[relation] = self._of(self.words(relation))
        return found


def matched(scores: FloatArray) -> int | None:
    """The place of the one highest score above 0 (P,); None where keywords are silent or tie."""
    if not len(scores) or scores.max() <= 0:
        return None
    best = np.flatnonzero(scores == scores.max())
    return int(best[0]) if len(best) == 1 else None
