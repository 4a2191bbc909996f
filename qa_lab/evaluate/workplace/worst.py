"""The worst answers of an engine, each with the stage that lost it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qa_lab.evaluate.workplace.grading import POINTS
from qa_lab.evaluate.workplace.losses import (
    COMPOSED,
    FULL_TEXT,
    LEAD,
    ONE_PASSAGE,
    REFUSED_RIGHT,
    STORED,
    TOP_ONE,
    TOP_TEN,
    Losses,
)
from qa_lab.evaluate.workplace.questions import GradedQuestion

if TYPE_CHECKING:
    from qa_lab.evaluate.workplace.evaluation import GradedReply, WorkplaceResult

NOT_ANSWERED_BY_DOCUMENTS = "answered, but the documents do not answer it"
NOT_STORED = "the stored text lacks it"
REFUSED_THOUGH_RIGHT = "refused, though the answer had it"
AFTER_LEAD = "the answer has it, but not in its lead"
SEVERAL_PASSAGES = "it is in several passages, and the answer has not all of them"
NOT_FOUND = "no passage with it is among the first documents"
OTHER_PART = "its document is among the first, with another passage"
OTHER_FIRST = "another passage comes first"
LEFT_OUT = "the first passage has it, the answer leaves it out"


def worst(result: WorkplaceResult, count: int) -> list[tuple[GradedReply, str]]:
    """Up to `count` replies that lost points, the fewest points first, then the most confident; each with its reason.

    Raises:
        ValueError: the losses of the result were not measured.
    """
    if result.losses is None:
        raise ValueError("Expected a result with its losses, but got one without; measure with_losses.")
    lost = [of for of in result.replies if POINTS[of.grade] < 1]
    lost.sort(key=lambda of: (POINTS[of.grade], -of.reply.confidence))
    return [(of, reason(of.question, result.losses)) for of in lost[:count]]


def reason(question: GradedQuestion, losses: Losses) -> str:
    """Why a question lost points: the last stage that still had its gold decides."""
    if not question.gold:
        return NOT_ANSWERED_BY_DOCUMENTS

    def reached(stage: str) -> bool:
        return question.id in losses.reached[stage]

    reasons: Sequence[tuple[bool, str]] = (
        (not reached(STORED), NOT_STORED),
        (reached(REFUSED_RIGHT), REFUSED_THOUGH_RIGHT),
        (reached(COMPOSED) and not reached(LEAD), AFTER_LEAD),
        (not reached(ONE_PASSAGE), SEVERAL_PASSAGES),
        (reached(TOP_ONE), LEFT_OUT),
        (reached(TOP_TEN), OTHER_FIRST),
        (reached(FULL_TEXT), OTHER_PART),
    )
    return next((text for holds, text in reasons if holds), NOT_FOUND)
