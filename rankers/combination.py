"""Clue and passage score become one (thesis, section 7.2.3).

    S(q, a) = S_c(q, clue) · (1 + w_p · S'_p(q, passage))

`S'_p` is the passage score, min-max normalised over the candidates of this question.
"""

from __future__ import annotations

from collections.abc import Sequence

from qa_core.types import Candidate

PASSAGE_WEIGHT = 0.1
"""w_p of the thesis for a passage scorer that is less trusted than the clue."""


def min_max(scores: Sequence[float]) -> list[float]:
    """`(s − min) / (max − min)`; all 0 where every score is the same."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]


def combine(
    candidates: Sequence[Candidate], *, clue: str, passage: str, weight: float = PASSAGE_WEIGHT
) -> list[Candidate]:
    """Candidates scored by the formula from two of their features, best first.

    A candidate without the passage feature (its stage was skipped) counts as the lowest. Equal scores keep their order.
    """
    low = min((c.features[passage] for c in candidates if passage in c.features), default=0.0)
    normalised = min_max([candidate.features.get(passage, low) for candidate in candidates])
    scored = [
        candidate.scored("combined", candidate.features[clue] * (1 + weight * share))
        for candidate, share in zip(candidates, normalised, strict=True)
    ]
    return sorted(scored, key=lambda candidate: -candidate.score)
