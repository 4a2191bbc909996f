"""Scores relations without training: by cosine, by keywords first, or by a weighted sum of scorers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from kg_index.relations.keywords import KeywordMatcher, PredicateWords, RelationWords, single_best
from kg_index.relations.template_text import SLOT
from qa_core.types import FloatArray

Encode = Callable[[Sequence[str]], FloatArray]
"""From texts (N,) to vectors (N, D) of length 1, or zero for a text without words."""
KEYWORDS = 0.25
"""Weight of the Jaccard of stems in a sum with a cosine; chosen on SimpleQuestions' development questions."""
_CACHE = 50_000  # relations
_AT_ONCE = 512


class RelationScorer(Protocol):
    """Scores how well each relation of a pool fits a template; higher is better."""

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        """Finite scores (P,) for the P relations of each template's pool."""
        ...


@dataclass(frozen=True, eq=False)
class CosineScorer:
    """Cosine of the template, without its slot, and the relation's words.

    The vector of a relation is a mean of that of all its words and, weighted by `share`, of its last words.
    """

    encode: Encode
    words: RelationWords = field(default_factory=PredicateWords)
    last: RelationWords = field(default_factory=lambda: PredicateWords(last=True))
    share: float = 0.6  # relative weight of the last words; chosen on SimpleQuestions' development set
    encode_words: Encode | None = None  # encoder of relations, if it differs
    _cache: dict[str, FloatArray] = field(default_factory=dict, repr=False)

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        """Cosines (P,) for the relations of each pool."""
        scores: list[FloatArray] = []
        for start in range(0, len(templates), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            queries = self.encode([without_slot(template) for template in templates[part]])
            rows = self.relations(list(dict.fromkeys(name for pool in pools[part] for name in pool)))
            for query, pool in zip(queries, pools[part], strict=True):
                scores.append(np.array([query @ rows[name] for name in pool], dtype=np.float32))
        return scores

    def relations(self, names: Sequence[str]) -> dict[str, FloatArray]:
        """Vectors (D,) of relations; cached."""
        known = {name: row for name in names if (row := self._cache.get(name)) is not None}
        if new := [name for name in names if name not in known]:
            encode = self.encode_words or self.encode
            rows = encode([self.words(name) for name in new])
            if self.share:
                share = np.float32(self.share / (1 + self.share))
                rows = rows * (1 - share) + encode([self.last(name) for name in new]) * share
            made = dict(zip(new, rows, strict=True))
            if len(self._cache) + len(made) > _CACHE:
                self._cache.clear()
            self._cache.update(made)
            known |= made
        return known


def without_slot(template: str) -> str:
    """The template for an encoder; a placeholder word would change the vector."""
    return " ".join(word for word in template.split() if word != SLOT)


def cached(encode: Encode) -> Encode:
    """An encoder that encodes each text once, for training and evaluation."""
    seen: dict[str, FloatArray] = {}

    def call(texts: Sequence[str]) -> FloatArray:
        new = [text for text in dict.fromkeys(texts) if text not in seen]
        if new or not texts:
            rows = encode(new)
            seen.update(zip(new, rows, strict=True))
        return np.array([seen[text] for text in texts], dtype=np.float32) if texts else rows

    return call


@dataclass(frozen=True, slots=True)
class KeywordFirst:
    """Keywords decide if a single relation matches best, else the other scorer does.

    Scores are those of the other scorer, but the relation chosen by keywords gets 1 more than the highest.
    """

    other: RelationScorer
    keywords: KeywordMatcher = field(default_factory=KeywordMatcher)

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        rows = self.other.score(templates, pools)
        for scores, matches in zip(rows, self.keywords.score(templates, pools), strict=True):
            if (best := single_best(matches)) is not None:
                scores[best] = scores.max() + 1
        return rows


@dataclass(frozen=True, slots=True)
class WeightedSumScorer:
    """The weighted sum of the scores of several scorers."""

    scorers: Sequence[tuple[RelationScorer, float]]

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        rows = [[weight * row for row in scorer.score(templates, pools)] for scorer, weight in self.scorers]
        return [np.sum(scores, axis=0, dtype=np.float32) for scores in zip(*rows, strict=True)]
