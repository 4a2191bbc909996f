"""Relation detection without a network of its own: by keywords first, by vectors of words, by several together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from kg_index.relations.keywords import KeywordMatcher, PredicateWords, RelationWords, matched
from kg_index.relations.template_text import SLOT
from qa_core.types import FloatArray

Encode = Callable[[Sequence[str]], FloatArray]
"""Texts to vectors (N, D) of length 1, or zero."""
KEYWORDS = 0.25
"""Weight of the Jaccard of stems beside a cosine; chosen on SimpleQuestions' development questions."""
_REMEMBERED = 50_000  # relations
_AT_ONCE = 512


class RelationScorer(Protocol):
    """How well each relation of a pool fits a template; a higher score is better, and beside it nothing counts."""

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        """Finite scores (P,) for the P relations of each template's pool."""
        ...


@dataclass(frozen=True, eq=False)
class CosineScorer:
    """Cosine of the template, without its slot, and the relation's words, all of them and its last ones.

    Any encoder serves as it is; one that is trained on pseudo-labels or annotated pools serves better.
    """

    encode: Encode
    words: RelationWords = field(default_factory=PredicateWords)
    last: RelationWords = field(default_factory=lambda: PredicateWords(last=True))
    share: float = 0.6  # of the last words beside all of them, which have 1; chosen on SimpleQuestions' development set
    encode_words: Encode | None = None  # of relations, where the two sides differ
    _seen: dict[str, FloatArray] = field(default_factory=dict, repr=False)

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        """Cosines (P,) of each pool's relations; what stands in other pools counts for nothing."""
        found: list[FloatArray] = []
        for start in range(0, len(templates), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            asked = self.encode([without_slot(template) for template in templates[part]])
            rows = self.relations(list(dict.fromkeys(name for pool in pools[part] for name in pool)))
            for vector, pool in zip(asked, pools[part], strict=True):
                found.append(np.array([vector @ rows[name] for name in pool], dtype=np.float32))
        return found

    def relations(self, names: Sequence[str]) -> dict[str, FloatArray]:
        """Vectors (D,) of relations; they are remembered."""
        known = {name: row for name in names if (row := self._seen.get(name)) is not None}
        if new := [name for name in names if name not in known]:
            encode = self.encode_words or self.encode
            rows = encode([self.words(name) for name in new])
            if self.share:
                share = np.float32(self.share / (1 + self.share))
                rows = rows * (1 - share) + encode([self.last(name) for name in new]) * share
            made = dict(zip(new, rows, strict=True))
            if len(self._seen) + len(made) > _REMEMBERED:
                self._seen.clear()
            self._seen.update(made)
            known |= made
        return known


def without_slot(template: str) -> str:
    """The template as an encoder reads it. Any word in the slot's place takes part in the vector: without is best."""
    return " ".join(word for word in template.split() if word != SLOT)


def remembering(encode: Encode) -> Encode:
    """Encodes a text once, however often it is asked for: for training and measuring, whose texts come again."""
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
    """Keywords decide where one relation matches best; where they are silent or tie, the other scorer does.

    Scores are the other's, and 1 more than its highest for the relation that keywords chose.
    """

    other: RelationScorer
    keywords: KeywordMatcher = field(default_factory=KeywordMatcher)

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        found = self.other.score(templates, pools)
        for scores, own in zip(found, self.keywords.score(templates, pools), strict=True):
            if (place := matched(own)) is not None:
                scores[place] = scores.max() + 1
        return found


@dataclass(frozen=True, slots=True)
class WeightedSumScorer:
    """The weighted sum of several scorers' scores."""

    scorers: Sequence[tuple[RelationScorer, float]]

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        rows = [[weight * row for row in scorer.score(templates, pools)] for scorer, weight in self.scorers]
        return [np.sum(each, axis=0, dtype=np.float32) for each in zip(*rows, strict=True)]
