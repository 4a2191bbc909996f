"""Links mentions in a question to entities by salience, name and context (Wang (2018), ch. 4.3.3).

Wang takes the entity with most facts. Here the length of the mention, how often its name means the entity, and the
words that the question shares with texts about the entity count as well. The score of a candidate is a sum of log-odds,
normalised to a probability over all candidates of a question.
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
from qa_core.method_cache import method_cache
from qa_core.text.analysis import terms
from qa_core.types import IntArray

Salience = Callable[[IntArray], IntArray]
"""From entities (N,) to the numbers of facts with each as subject (N,)."""

Context = Callable[[int], Iterable[str]]
"""From an entity to texts about it, such as its description and the words of its predicates."""


class MentionTable(Protocol):
    def find(self, text: str) -> list[Mention]: ...
    def entities(self, key: int, *, most: int = MOST) -> tuple[IntArray, IntArray]: ...


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """An entity that a mention may name.

    `score` is the probability of the candidate among all candidates of the question. `share` is its probability among
    those whose mentions overlap this one: the better threshold for a question with several entities.
    """

    mention: Mention
    entity: int
    score: float
    share: float


@dataclass(frozen=True, slots=True)
class EntityMention:
    """`[start, end)` of a text and the entities it may name, likeliest first."""

    start: int
    end: int
    entities: Sequence[int]


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the features in the log-odds of a candidate; fitted on SimpleQuestions and rounded."""

    words: float = 2.0  # each word of the mention
    characters: float = 0.2  # each character of it
    salience: float = 0.5  # log(1 + facts with the entity as subject)
    share: float = 2.0  # log of the entity's share of the name's counts
    context: float = 2.0  # log(1 + terms of the question outside the mention that the context has)


class _Candidate(NamedTuple):
    mention: Mention
    entity: int
    odds: float


class Linker:
    """Links questions by a table of mentions; without `context`, by mention and salience alone."""

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
        """
        Args:
            most: candidates per mention, the best ones without context.
            contexts: candidates per question that are compared with their context, to bound the time on a long text.
        """
        self._mentions, self._salience, self._context = mentions, salience, context
        self._weights, self._most, self._contexts = weights or Weights(), most, contexts
        self._terms_about = method_cache(self._read_context, maxsize=4096)

    def link(self, question: str) -> list[LinkedEntity]:
        """The best candidate of each mention, without overlapping mentions; best first.

        Of two overlapping mentions the one with more words wins, then the one with the better candidate.
        """
        best: dict[Mention, LinkedEntity] = {}
        for candidate in self.candidates(question):
            best.setdefault(candidate.mention, candidate)
        mentions = resolve(list(best), salience=lambda mention: best[mention].score)
        return sorted((best[mention] for mention in mentions), key=lambda linked: -linked.score)

    def candidates(self, question: str) -> list[LinkedEntity]:
        """All candidates of all mentions, overlapping ones too; best first, ties by position and entity."""
        candidates = self._all_candidates(question)
        if self._context is not None:
            candidates.sort(key=lambda candidate: -candidate.odds)
            first = self._contexts
            candidates = [*self._compared(question, candidates[:first]), *candidates[first:]]
        return sorted(_probable(candidates), key=lambda r: (-r.score, r.mention.start, r.mention.end, r.entity))

    def find(self, text: str) -> list[EntityMention]:
        """Mentions without overlaps, by start, with their `most` likeliest entities; context is not used."""
        mentions = self._mentions.find(text)
        entities = self._best_entities(list(dict.fromkeys(mention.key for mention in mentions)))
        mentions = resolve(mentions, salience=lambda mention: entities[mention.key][0][1])
        return [EntityMention(m.start, m.end, [entity for entity, _ in entities[m.key]]) for m in mentions]

    def _all_candidates(self, question: str) -> list[_Candidate]:
        mentions = self._mentions.find(question)
        entities = self._best_entities(list(dict.fromkeys(mention.key for mention in mentions)))
        return [
            _Candidate(mention, entity, self._length(mention) + odds)
            for mention in mentions
            for entity, odds in entities[mention.key]
        ]

    def _length(self, mention: Mention) -> float:
        return self._weights.words * mention.words + self._weights.characters * (mention.end - mention.start)

    def _best_entities(self, keys: Sequence[int]) -> dict[int, list[tuple[int, float]]]:
        """The `most` likeliest entities of each name, with their log-odds by salience and share."""
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

    def _compared(self, question: str, candidates: Iterable[_Candidate]) -> Iterable[_Candidate]:
        """Candidates with the feature of the context: terms of the question outside the mention."""
        question_terms = Counter(terms(question))
        for candidate in candidates:
            mention_terms = Counter(terms(candidate.mention.text))
            common = question_terms.keys() & self._terms_about(candidate.entity)
            shared = sum(question_terms[term] > mention_terms[term] for term in common)
            yield candidate._replace(odds=candidate.odds + self._weights.context * log1p(shared))

    def _read_context(self, entity: int) -> frozenset[str]:
        assert self._context is not None
        return frozenset().union(*map(_terms_of, self._context(entity)))


@lru_cache(maxsize=16_384)
def _terms_of(text: str) -> frozenset[str]:
    """Cached, since entities share most of their predicates."""
    return frozenset(terms(text))


def _probable(candidates: Sequence[_Candidate]) -> list[LinkedEntity]:
    if not candidates:
        return []
    odds = np.array([candidate.odds for candidate in candidates])
    weights = np.exp(odds - odds.max())
    total = float(weights.sum())
    near = _overlapping(candidates, weights)
    return [
        LinkedEntity(candidate.mention, candidate.entity, weight / total, min(weight / near[candidate.mention], 1.0))
        for candidate, weight in zip(candidates, weights.tolist(), strict=True)
    ]


def _overlapping(candidates: Sequence[_Candidate], weights: NDArray[np.float64]) -> dict[Mention, float]:
    """For each mention the total weight of the candidates of overlapping mentions, itself included.

    An overlapping mention starts within it, or before it and ends after its start. The work grows with mentions times
    the words of a name, not with pairs of mentions.
    """
    weight_of: dict[Mention, float] = {}
    for candidate, weight in zip(candidates, weights.tolist(), strict=True):
        weight_of[candidate.mention] = weight_of.get(candidate.mention, 0.0) + max(weight, 1e-300)
    longest = max((mention.end - mention.start for mention in weight_of), default=0)
    starts: dict[int, list[Mention]] = {}
    for mention in sorted(weight_of, key=lambda mention: (mention.start, -mention.end)):
        starts.setdefault(mention.start, []).append(mention)
    positions = list(starts)
    reaching = {
        start: _Reaching(mentions, [weight_of[mention] for mention in mentions]) for start, mentions in starts.items()
    }
    before = {
        position: sum(
            reaching[other].beyond(position) for other in positions[bisect_right(positions, position - longest) : i]
        )
        for i, position in enumerate(positions)
    }
    near = {}
    for i, position in enumerate(positions):
        for mention in starts[position]:
            within = positions[i : bisect_left(positions, mention.end)]
            near[mention] = before[position] + sum(reaching[other].sums[-1] for other in within)
    return near


class _Reaching:
    """Mentions with the same start, the longest first."""

    def __init__(self, mentions: Sequence[Mention], weights: Sequence[float]) -> None:
        self._ends = [-mention.end for mention in mentions]
        self.sums = list(accumulate(weights))

    def beyond(self, position: int) -> float:
        """The weight of those that end after it."""
        count = bisect_left(self._ends, -position)
        return self.sums[count - 1] if count else 0.0
