"""Linking: which entities a question means (thesis, section 4.3.3), by salience and by what else the question says.

The thesis takes the entity with most facts. Here the length of the mention, how often its name stands for the entity,
and the words that the question shares with texts about the entity count as well. The score of a reading is a sum of
log-odds; over all readings of a question it is turned into a probability.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import log1p
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kg_index.linking.mentions import MOST, Mention, resolve
from qa_core.text.analysis import terms
from qa_core.types import IntArray

Salience = Callable[[IntArray], IntArray]
"""Entities (N,) to the number of facts with each as subject (N,)."""

Context = Callable[[int], Iterable[str]]
"""An entity to texts about it: its description, the words of its predicates, labels of its neighbours."""


class MentionTable(Protocol):
    def find(self, text: str) -> list[Mention]: ...
    def entities(self, key: int, *, most: int = MOST) -> tuple[IntArray, IntArray]: ...


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """A reading of a mention.

    `score` is the probability that the question is about this entity, among all readings of all its mentions; `share`
    is the part of this reading among those whose mentions overlap its own: what to ask before the entity is believed
    where a question holds several.
    """

    mention: Mention
    entity: int
    score: float
    share: float


@dataclass(frozen=True, slots=True)
class EntityMention:
    """What template mining asks for: `[start, end)` of a text and the entities it may name, likeliest first."""

    start: int
    end: int
    entities: Sequence[int]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign adds to the log-odds of a reading; fitted on SimpleQuestions and rounded."""

    words: float = 2.0  # each word of the mention
    characters: float = 0.2  # each character of it
    salience: float = 0.5  # log(1 + facts with the entity as subject)
    share: float = 2.0  # log of the entity's part of the counts of the name
    context: float = 2.0  # log(1 + terms of the question outside the mention that stand in the context)


class _Reading(NamedTuple):
    mention: Mention
    entity: int
    odds: float


class Linker:
    """Links questions over a table of mentions; without `context` only the mention and salience count."""

    def __init__(
        self,
        mentions: MentionTable,
        salience: Salience,
        *,
        context: Context | None = None,
        weights: Weights | None = None,
        most: int = 20,
        contexts: int = 200,
    ) -> None:
        """Of a mention the `most` best readings before any context are kept; of a question the `contexts` best ones
        are compared with it, so that time stays bounded in a long text."""
        self._mentions, self._salience, self._context = mentions, salience, context
        self._weights, self._most, self._contexts = weights or Weights(), most, contexts
        self._terms_about = lru_cache(maxsize=4096)(self._read_context)

    def link(self, question: str) -> list[LinkedEntity]:
        """The best reading of each mention, of mentions that do not overlap; best first.

        Of two that overlap the one with more words stays, then the one with the better reading.
        """
        best: dict[Mention, LinkedEntity] = {}
        for reading in self.candidates(question):
            best.setdefault(reading.mention, reading)
        kept = resolve(list(best), salience=lambda mention: best[mention].score)
        return sorted((best[mention] for mention in kept), key=lambda linked: -linked.score)

    def candidates(self, question: str) -> list[LinkedEntity]:
        """Every reading of every mention, overlapping ones too; best first, ties by place and entity."""
        readings = self._readings(question)
        if self._context is not None:
            readings.sort(key=lambda reading: -reading.odds)
            first = self._contexts
            readings = [*self._compared(question, readings[:first]), *readings[first:]]
        return sorted(_probable(readings), key=lambda r: (-r.score, r.mention.start, r.mention.end, r.entity))

    def find(self, text: str) -> list[EntityMention]:
        """Mentions that do not overlap, by start, with their `most` likeliest entities; no context is asked."""
        mentions = self._mentions.find(text)
        entities = self._best_entities(list(dict.fromkeys(mention.key for mention in mentions)))
        kept = resolve(mentions, salience=lambda mention: entities[mention.key][0][1])
        return [EntityMention(m.start, m.end, [entity for entity, _ in entities[m.key]]) for m in kept]

    def _readings(self, question: str) -> list[_Reading]:
        mentions = self._mentions.find(question)
        entities = self._best_entities(list(dict.fromkeys(mention.key for mention in mentions)))
        return [
            _Reading(mention, entity, self._length(mention) + odds)
            for mention in mentions
            for entity, odds in entities[mention.key]
        ]

    def _length(self, mention: Mention) -> float:
        return self._weights.words * mention.words + self._weights.characters * (mention.end - mention.start)

    def _best_entities(self, keys: Sequence[int]) -> dict[int, list[tuple[int, float]]]:
        """The `most` likeliest entities of each name, with what salience and share say; salience is asked once."""
        if not keys:
            return {}
        rows = [self._mentions.entities(key) for key in keys]
        facts = self._salience(np.concatenate([entities for entities, _ in rows]))
        parts = np.split(facts, np.cumsum([entities.size for entities, _ in rows])[:-1])
        return {
            key: self._likeliest(entities, counts, part)
            for key, (entities, counts), part in zip(keys, rows, parts, strict=True)
        }

    def _likeliest(self, entities: IntArray, counts: IntArray, facts: IntArray) -> list[tuple[int, float]]:
        shares = np.log(counts / counts.sum())
        odds = self._weights.salience * np.log1p(facts) + self._weights.share * shares
        order = np.lexsort((entities, -odds))[: self._most]
        return list(zip(entities[order].tolist(), odds[order].tolist(), strict=True))

    def _compared(self, question: str, readings: Iterable[_Reading]) -> Iterable[_Reading]:
        """Readings with what the question says about them outside their mentions."""
        asked = Counter(terms(question))
        for reading in readings:
            own = Counter(terms(reading.mention.text))
            shared = sum(asked[term] > own[term] for term in asked.keys() & self._terms_about(reading.entity))
            yield reading._replace(odds=reading.odds + self._weights.context * log1p(shared))

    def _read_context(self, entity: int) -> frozenset[str]:
        assert self._context is not None
        return frozenset().union(*map(_terms_of, self._context(entity)))


@lru_cache(maxsize=16_384)
def _terms_of(text: str) -> frozenset[str]:
    """Remembered, since entities share most of their predicates."""
    return frozenset(terms(text))


def _probable(readings: Sequence[_Reading]) -> list[LinkedEntity]:
    if not readings:
        return []
    odds = np.array([reading.odds for reading in readings])
    weights = np.exp(odds - odds.max())
    total = float(weights.sum())
    near = _overlapping(readings, weights)
    return [
        LinkedEntity(reading.mention, reading.entity, weight / total, min(weight / near[reading.mention], 1.0))
        for reading, weight in zip(readings, weights.tolist(), strict=True)
    ]


def _overlapping(readings: Sequence[_Reading], weights: NDArray[np.float64]) -> dict[Mention, float]:
    """The weights of all readings whose mentions overlap a mention, its own with them.

    They start within it, or before it and end behind its start: work grows with mentions times the words of a name,
    not with pairs of mentions.
    """
    own: dict[Mention, float] = {}
    for reading, weight in zip(readings, weights.tolist(), strict=True):
        own[reading.mention] = own.get(reading.mention, 0.0) + max(weight, 1e-300)
    longest = max((mention.end - mention.start for mention in own), default=0)
    starts: dict[int, list[Mention]] = {}
    for mention in sorted(own, key=lambda mention: (mention.start, -mention.end)):
        starts.setdefault(mention.start, []).append(mention)
    places = list(starts)
    reaching = {place: _Reaching(found, [own[mention] for mention in found]) for place, found in starts.items()}
    before = {
        place: sum(reaching[other].beyond(place) for other in places[bisect_right(places, place - longest) : i])
        for i, place in enumerate(places)
    }
    near = {}
    for i, place in enumerate(places):
        for mention in starts[place]:
            within = places[i : bisect_left(places, mention.end)]
            near[mention] = before[place] + sum(reaching[other].sums[-1] for other in within)
    return near


class _Reaching:
    """Mentions of one start, the longest first."""

    def __init__(self, mentions: Sequence[Mention], weights: Sequence[float]) -> None:
        self._ends = [-mention.end for mention in mentions]
        self.sums = list(accumulate(weights))

    def beyond(self, place: int) -> float:
        """The weight of those that end behind it."""
        count = bisect_left(self._ends, -place)
        return self.sums[count - 1] if count else 0.0
