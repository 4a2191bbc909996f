"""The worst answers of an engine, each with the stage that lost it; the losses are written by hand."""

import pytest

from qa_lab.evaluate.workplace import worst as worst_answers
from qa_lab.evaluate.workplace.evaluation import GradedReply, WorkplaceResult
from qa_lab.evaluate.workplace.losses import (
    COMPOSED,
    FULL_TEXT,
    LEAD,
    ONE_PASSAGE,
    REFUSED_RIGHT,
    STAGES,
    STORED,
    TOP_ONE,
    TOP_TEN,
    Losses,
)
from qa_lab.evaluate.workplace.questions import GradedQuestion
from qa_lab.evaluate.workplace.worst import reason, worst
from qa_lab.reference.replies import Reply, Turn


def losses(*stages):
    """Losses in which the question "q" reached these stages."""
    return Losses(1, {stage: frozenset({"q"} if stage in stages else ()) for stage in STAGES}, 1, 0)


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ((), worst_answers.NOT_STORED),
        ((STORED,), worst_answers.SEVERAL_PASSAGES),
        ((STORED, ONE_PASSAGE), worst_answers.NOT_FOUND),
        ((STORED, ONE_PASSAGE, FULL_TEXT), worst_answers.OTHER_PART),
        ((STORED, ONE_PASSAGE, FULL_TEXT, TOP_TEN), worst_answers.OTHER_FIRST),
        ((STORED, ONE_PASSAGE, TOP_TEN, TOP_ONE), worst_answers.LEFT_OUT),
        ((STORED, ONE_PASSAGE, TOP_TEN, TOP_ONE, COMPOSED), worst_answers.AFTER_LEAD),
        ((STORED, ONE_PASSAGE, TOP_ONE, COMPOSED, LEAD, REFUSED_RIGHT), worst_answers.REFUSED_THOUGH_RIGHT),
    ],
)
def test_the_last_stage_with_the_gold_is_the_reason(stages, expected):
    assert reason(GradedQuestion("q", Turn("?"), "direct", (("27",),)), losses(*stages)) == expected


def test_an_answer_to_an_unanswerable_question():
    assert reason(GradedQuestion("q", Turn("?"), "direct"), losses()) == worst_answers.NOT_ANSWERED_BY_DOCUMENTS


def replied(id_, grade, confidence):
    return GradedReply(GradedQuestion(id_, Turn("?"), "direct"), Reply(True, "text", confidence=confidence), grade, 0.1)


def test_fewest_points_first_then_the_most_confident():
    replies = (
        replied("good", "3", 0.9),
        replied("partly", "1", 0.9),
        replied("wrong", "0", 0.5),
        replied("sure", "0", 0.8),
    )
    result = WorkplaceResult("data", "default", "starter", replies, losses=losses())
    assert [of.question.id for of, _ in worst(result, 2)] == ["sure", "wrong"]
    assert [of.question.id for of, _ in worst(result, 9)] == ["sure", "wrong", "partly"]


def test_losses_are_needed():
    with pytest.raises(ValueError, match="with its losses"):
        worst(WorkplaceResult("data", "default", "starter", ()), 1)
