"""Combination of the scores of several stages into one.

Wang (2018, §7.2.3) combines clue and passage score by

    S(q, a) = S_c(q, clue) · (1 + w_p · S'_p(q, passage))

with `S'_p` the passage score, min-max normalised over the candidates of the question. By default, the evidence of the
document replaces `S_c`:

    E(q, a) = F + (S_c(q, clue) / S_c(q, q))² + max(0, cos(q, title))⁴

`F` is the fused score of retrieval, the second term the share of the score of a perfect clue, the third the similarity
of the title. The powers suppress the loose similarity of all titles of a topic and let a title that asks the same
question win. They were chosen on the development questions of LiveQA-Med and on known-item search over MedQuAD.
"""

from __future__ import annotations

from collections.abc import Sequence

LEARNED = "learned"
"""Name of the stage that applies a learned fusion (`rankers.fusion`), and of its score in traces."""
PASSAGE_WEIGHT = 0.1
"""w_p for a passage scorer that is less reliable than the clue."""


def evidence(fused: float, clue_share: float, title_similarity: float) -> float:
    """`E` of the formula above; a share above 1 (a clue that repeats words) counts as 1."""
    return fused + min(1.0, clue_share) ** 2 + max(0.0, title_similarity) ** 4


def min_max(scores: Sequence[float]) -> list[float]:
    """`(s − min) / (max − min)`; all 0 if all scores are equal."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]


def combine(clue: Sequence[float], passage: Sequence[float | None], *, weight: float = PASSAGE_WEIGHT) -> list[float]:
    """Combined scores of N candidates by the formula above.

    Args:
        clue: clue scores or evidence (N).
        passage: passage scores (N); None (a skipped stage) counts as the lowest of the others.
        weight: w_p.
    """
    low = min((score for score in passage if score is not None), default=0.0)
    shares = min_max([low if score is None else score for score in passage])
    return [score * (1 + weight * share) for score, share in zip(clue, shares, strict=True)]
