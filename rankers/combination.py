"""Scores of several stages become one.

The thesis (section 7.2.3) joins clue and passage score by

    S(q, a) = S_c(q, clue) · (1 + w_p · S'_p(q, passage))

with `S'_p` the passage score, min-max normalised over the candidates of this question. In place of `S_c` alone stands
by default the evidence of everything that speaks for the document:

    E(q, a) = F + (S_c(q, clue) / S_c(q, q))² + max(0, cos(q, title))⁴

`F` is the fused score of retrieval, the middle term how much of a perfect clue's score the clue reaches, the last how
near the title is in meaning. The powers keep both silent for the loose likeness that every title of a topic has, and
let a title that asks the very same win. They were chosen on the development questions of LiveQA-Med and on known-item
search over MedQuAD.
"""

from __future__ import annotations

from collections.abc import Sequence

from qa_core.types import Candidate

LEARNED = "learned"
"""Under this name candidates keep the score of a learned fusion (`rankers.fusion`)."""
PASSAGE_WEIGHT = 0.1
"""w_p of the thesis for a passage scorer that is less trusted than the clue."""


def evidence(fused: float, clue_share: float, title_similarity: float) -> float:
    """`E` of the formula above; a share above 1 (a clue that says everything twice) counts as 1."""
    return fused + min(1.0, clue_share) ** 2 + max(0.0, title_similarity) ** 4


def min_max(scores: Sequence[float]) -> list[float]:
    """`(s − min) / (max − min)`; all 0 where every score is the same."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]


def combine(
    candidates: Sequence[Candidate],
    *,
    clue: str,
    passage: str,
    weight: float = PASSAGE_WEIGHT,
    name: str = "combined",
) -> list[Candidate]:
    """Candidates scored by the thesis' formula from two of their features, best first; the score is kept as `name`.

    A candidate without the passage feature (its stage was skipped) counts as the lowest. Equal scores keep their order.
    """
    low = min((c.features[passage] for c in candidates if passage in c.features), default=0.0)
    normalised = min_max([candidate.features.get(passage, low) for candidate in candidates])
    scored = [
        candidate.scored(name, candidate.features[clue] * (1 + weight * share))
        for candidate, share in zip(candidates, normalised, strict=True)
    ]
    return sorted(scored, key=lambda candidate: -candidate.score)
