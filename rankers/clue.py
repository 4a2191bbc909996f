"""Clue score: how well the title and body that point at a passage match the question (thesis, section 7.2.3).

    S_c(q, c) = BM25(q_title ⊕ q_body, c_title ⊕ c_body) + w_t · BM25(q_title, c_title)

BM25 is taken over the sequential dependence model (Metzler & Croft 2005): words, ordered pairs of neighbours, and pairs
close to each other, with weights .8, .1 and .1. Words with a single sense bring their synonyms along.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, Protocol

from qa_core.types import Candidate, Clue, Question

MAX_TERMS = 256
"""Terms of a question or clue that are looked at: counting close pairs grows with the square."""

Field = Literal["title", "all"]
Idf = Callable[[str], float]
Analyser = Callable[[str], Sequence[str]]
Synonyms = Callable[[str], Sequence[str]]


class Statistics(Protocol):
    """What BM25 needs to know of the whole collection."""

    @property
    def documents(self) -> int: ...

    def document_frequency(self, field: Field, term: str) -> int: ...

    def average_length(self, field: Field) -> float: ...


@dataclass(frozen=True, slots=True)
class ClueConfig:
    k1: float = 1.0
    b: float = 0.75
    title_weight: float = 1.0  # w_t
    unigram: float = 0.8
    ordered: float = 0.1
    proximity: float = 0.1
    window: int = 8  # a pair counts as close within so many words


@dataclass(frozen=True, slots=True)
class Dependence:
    """A question's words, its neighbouring pairs, and what each weighs."""

    words: Mapping[str, float]
    pairs: Mapping[tuple[str, str], float] = field(default_factory=dict)


def saturation(frequency: float, length: int, average: float, *, k1: float, b: float) -> float:
    """`f (k1 + 1) / (f + k1 (1 − b + b · length / average))`, BM25's share of one term (Robertson & Walker 1997)."""
    return frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * length / average))


def inverse_frequency(documents: int, containing: int) -> float:
    """`ln(1 + (N − n + .5) / (n + .5))`: Lucene's variant, never negative."""
    return math.log(1 + (documents - containing + 0.5) / (containing + 0.5))


def positions(words: Container[str], text: Sequence[str]) -> dict[str, list[int]]:
    """Where the words of a question stand in a text."""
    found: dict[str, list[int]] = {}
    for place, word in enumerate(text):
        if word in words:
            found.setdefault(word, []).append(place)
    return found


def bm25(
    query: Mapping[str, float], text: Sequence[str], idf: Idf, average: float, *, k1: float = 1.0, b: float = 0.75
) -> float:
    """`Σ_t weight(t) · idf(t) · saturation(f_t)` over the words of `query`."""
    score = 0.0
    for word, places in positions(query, text).items():
        score += query[word] * idf(word) * saturation(len(places), len(text), average, k1=k1, b=b)
    return score


def ordered_count(first: Sequence[int], second: Collection[int]) -> int:
    """How often a word stands right before another one (#1 of the sequential dependence model), by their places."""
    return sum(place + 1 in second for place in first)


def proximity_count(first: Sequence[int], second: Sequence[int], window: int) -> int:
    """How often a word has another within `window` words, in any order, its nearest only (#uw8), by their places."""
    return sum(any(abs(i - j) < window for j in second) for i in first)


def dependence_score(query: Dependence, text: Sequence[str], idf: Idf, average: float, config: ClueConfig) -> float:
    """BM25 over words, ordered pairs and close pairs; a pair's idf is the mean of its two words'."""
    found = positions(query.words, text)
    length, k1, b = len(text), config.k1, config.b
    score = 0.0
    for word, places in found.items():
        score += query.words[word] * idf(word) * saturation(len(places), length, average, k1=k1, b=b)
    score *= config.unigram
    for pair, weight in query.pairs.items():
        if pair[0] in found and pair[1] in found:
            first, second = found[pair[0]], found[pair[1]]
            rarity = weight * (idf(pair[0]) + idf(pair[1])) / 2
            ordered = saturation(ordered_count(first, second), length, average, k1=k1, b=b)
            close = saturation(proximity_count(first, second, config.window), length, average, k1=k1, b=b)
            score += rarity * (config.ordered * ordered + config.proximity * close)
    return score


def dependence(terms: Sequence[str], synonyms: Mapping[str, Sequence[str]]) -> Dependence:
    """Each distinct word once, with its synonyms; each distinct pair of neighbours once."""
    words = dict.fromkeys(terms, 1.0)
    for term in terms:
        for other in synonyms.get(term, ()):
            words.setdefault(other, 1.0)
    return Dependence(words, {pair: 1.0 for pair in pairwise(terms) if pair[0] != pair[1]})


class ClueRanker:
    """Scores candidates by their clue; the feature is called `clue`."""

    def __init__(
        self,
        statistics: Statistics,
        *,
        analyse: Analyser,
        synonyms: Synonyms = lambda _: (),
        config: ClueConfig | None = None,
    ) -> None:
        self._analyse, self._synonyms = analyse, synonyms
        self._config = config or ClueConfig()
        self._statistics = statistics

    def rank(self, question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Best first; a candidate without any clue text scores 0."""
        score = self.scorer(question)
        scored = [candidate.scored("clue", score(candidate.passage.clue)) for candidate in candidates]
        return sorted(scored, key=lambda candidate: -candidate.score)

    def scorer(self, question: Question) -> Callable[[Clue], float]:
        """`S_c(q, ·)`, with everything that depends on the question alone computed once."""
        config, statistics = self._config, self._statistics
        title = self._dependence(question.title)
        whole = self._dependence(f"{question.title} {question.body}") if question.body else title
        average_title = statistics.average_length("title") or 1.0
        known: dict[str, float] = {}

        def idf(word: str) -> float:
            if word not in known:
                known[word] = inverse_frequency(statistics.documents, statistics.document_frequency("all", word))
            return known[word]

        def score(clue: Clue) -> float:
            c_title = self._analyse(clue.title)[:MAX_TERMS]
            in_title = dependence_score(title, c_title, idf, average_title, config)
            if title is whole and not clue.body:
                return (1 + config.title_weight) * in_title
            c_whole = [*c_title, *self._analyse(clue.body)][:MAX_TERMS]
            return dependence_score(whole, c_whole, idf, average_title, config) + config.title_weight * in_title

        return score

    def _dependence(self, text: str) -> Dependence:
        terms = self._analyse(text)[:MAX_TERMS]
        synonyms = {
            term: [stem for other in found for stem in self._analyse(other)]
            for word in set(text.split())
            if (found := self._synonyms(word)) and len(found_terms := self._analyse(word)) == 1
            for term in found_terms
        }
        return dependence(terms, synonyms)
