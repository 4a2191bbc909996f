"""The language of the labels around an answer."""

from qa_bot.answering.wording.refusals import REFUSALS
from qa_bot.terminal.answer_labels import ENGLISH, LABELS, labels_for
from qa_core.types import Answer


def test_labels_of_an_undecided_question_have_the_language_of_its_reason() -> None:
    reason = REFUSALS["de"].nothing_found
    refused = Answer("Was kostet die Schraube M4?", "", "none", answered=False, confidence=0.0, reason=reason)
    assert labels_for(refused) is LABELS["de"]
    assert labels_for(Answer("M4 M5 M6", "", "none", answered=False, confidence=0.0)) is ENGLISH
