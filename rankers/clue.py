"""Clue score: how well the title and body that lead to a passage match the question (Wang 2018, §7.2.3).

    S_c(q, c) = BM25(q_title ⊕ q_body, c_title ⊕ c_body) + w_t · BM25(q_title, c_title)

BM25 is computed over the sequential dependence model (Metzler & Croft 2005): words, ordered pairs of neighbours and
close pairs, with weights .8, .1 and .1. Synonyms of words with a single sense are added. Titles are normalised by the
mean length of titles, title and body by the mean length of both together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, Protocol

from qa_core.text.analysis import words as words_of
from qa_core.types import Candidate, Clue, Question

MAX_TERMS = 256
"""Terms of a question or clue that are used, because the cost of close pairs is quadratic."""

Field = Literal["title", "all"]
Length = Literal["title", "clue"]
"""What has a mean length: the title of a document; or its title and body, or else its title and a snippet."""
Idf = Callable[[str], float]
Analyser = Callable[[str], Sequence[str]]
Synonyms = Callable[[str], Sequence[str]]


class Statistics(Protocol):
    """Collection statistics of BM25."""

    @property
    def documents(self) -> int: ...

    def document_frequency(self, field: Field, term: str) -> int: ...

    def average_length(self, field: Length) -> float: ...


@dataclass(frozen=True, slots=True)
class ClueConfig:
    k1: float = 1.0
    b: float = 0.75
    title_weight: float = 1.0  # w_t
    unigram: float = 0.8
    ordered: float = 0.1
    proximity: float = 0.1
    window: int = 8  # words within which a pair is close


@dataclass(frozen=True, slots=True)
class Dependence:
    """Weighted words and weighted pairs of neighbours of a question."""

    words: Mapping[str, float]
    pairs: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def times(self, idf: Idf) -> Dependence:
        """The weights multiplied by idf; the idf of a pair is the mean over its words."""
        words = {word: weight * idf(word) for word, weight in self.words.items()}
        pairs = {pair: weight * (idf(pair[0]) + idf(pair[1])) / 2 for pair, weight in self.pairs.items()}
        return Dependence(words, pairs)


def damping(length: int, average: float, *, k1: float, b: float) -> float:
    """`k1 (1 − b + b · length / average)`: the frequency at which a term has half of its maximum score."""
    return k1 * (1 - b + b * length / average)


def saturation(frequency: float, damped: float, *, k1: float) -> float:
    """`f (k1 + 1) / (f + damping)`, the BM25 score of a term without idf (Robertson & Walker 1997)."""
    return frequency * (k1 + 1) / (frequency + damped)


def inverse_frequency(documents: int, containing: int) -> float:
    """`ln(1 + (N − n + .5) / (n + .5))`, the variant of Lucene, never negative."""
    return math.log(1 + (documents - containing + 0.5) / (containing + 0.5))


def rarity_of(statistics: Statistics, term: str) -> float:
    """The inverse frequency of a term in titles and bodies."""
    return inverse_frequency(statistics.documents, statistics.document_frequency("all", term))


def positions(words: Container[str], text: Sequence[str]) -> dict[str, list[int]]:
    """Positions of each word of a question in a text."""
    by_word: dict[str, list[int]] = {}
    for position, word in enumerate(text):
        if word in words:
            by_word.setdefault(word, []).append(position)
    return by_word


def bm25(
    query: Mapping[str, float], text: Sequence[str], idf: Idf, average: float, *, k1: float = 1.0, b: float = 0.75
) -> float:
    """`Σ_t weight(t) · idf(t) · saturation(f_t)` over the words of `query`."""
    score, damped = 0.0, damping(len(text), average, k1=k1, b=b)
    for word, at in positions(query, text).items():
        score += query[word] * idf(word) * saturation(len(at), damped, k1=k1)
    return score


def ordered_count(first: Sequence[int], second: Collection[int]) -> int:
    """Occurrences of a word right before another (#1 of the sequential dependence model), by their positions."""
    return sum(position + 1 in second for position in first)


def proximity_count(first: Sequence[int], second: Sequence[int], window: int) -> int:
    """Occurrences of a word with another one within `window` words, in any order (#uw8), by their positions."""
    count = 0
    for i in first:
        for j in second:
            if -window < i - j < window:
                count += 1
                break
    return count


def dependence_score(query: Dependence, text: Sequence[str], average: float, config: ClueConfig) -> float:
    """BM25 over words, ordered pairs and close pairs; the weights in `query` include idf."""
    by_word = positions(query.words, text)
    k1, damped = config.k1, damping(len(text), average, k1=config.k1, b=config.b)
    score = 0.0
    for word, at in by_word.items():
        score += query.words[word] * saturation(len(at), damped, k1=k1)
    score *= config.unigram
    for (one, other), weight in query.pairs.items():
        if one in by_word and other in by_word:
            first, second = by_word[one], by_word[other]
            ordered = saturation(ordered_count(first, second), damped, k1=k1)
            close = saturation(proximity_count(first, second, config.window), damped, k1=k1)
            score += weight * (config.ordered * ordered + config.proximity * close)
    return score


def dependence(terms: Sequence[str], synonyms: Mapping[str, Sequence[str]]) -> Dependence:
    """Distinct words with their synonyms, and distinct pairs of neighbours, each of weight 1."""
    words = dict.fromkeys(terms, 1.0)
    for term in terms:
        for other in synonyms.get(term, ()):
            words.setdefault(other, 1.0)
    return Dependence(words, {pair: 1.0 for pair in pairwise(terms) if pair[0] != pair[1]})


class ClueRanker:
    """Ranks candidates by their clue score, which their signals store as `clue`."""

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
        """Candidates, best first; one without a clue scores 0."""
        score = self.scorer(question)
        scores = [score(candidate.passage.clue) for candidate in candidates]
        scored = [c.scored(value, clue=value) for c, value in zip(candidates, scores, strict=True)]
        return sorted(scored, key=lambda candidate: -candidate.score)

    def scorer(self, question: Question) -> Callable[[Clue], float]:
        """`S_c(q, ·)`; what depends only on the question is computed once."""
        config = self._config
        title = self._dependence(question.title)
        whole = self._dependence(f"{question.title} {question.body}") if question.body else title
        average_title = self._statistics.average_length("title") or 1.0
        average_whole = self._statistics.average_length("clue") or 1.0

        def score(clue: Clue) -> float:
            c_title = self._analyse(clue.title)[:MAX_TERMS]
            c_whole = [*c_title, *self._analyse(clue.body)][:MAX_TERMS]
            in_title = dependence_score(title, c_title, average_title, config)
            return dependence_score(whole, c_whole, average_whole, config) + config.title_weight * in_title

        return score

    def _dependence(self, text: str) -> Dependence:
        terms = self._analyse(text)[:MAX_TERMS]
        synonyms = {
            term: [stem for synonym in synonyms_of_word for stem in self._analyse(synonym)]
            for word in dict.fromkeys(words_of(text))
            if (synonyms_of_word := self._synonyms(word)) and len(word_terms := self._analyse(word)) == 1
            for term in word_terms
        }
        return dependence(terms, synonyms).times(self._idf)

    def _idf(self, word: str) -> float:
        return inverse_frequency(self._statistics.documents, self._statistics.document_frequency("all", word))
