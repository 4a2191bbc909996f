"""A follow-up that is searched in several readings."""

import time
from dataclasses import replace

import pytest

from qa_bot.answering import corridor as module
from qa_bot.answering.ask import Readings
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.stages.passages import rank_passages
from qa_core.types import Question
from tests.qa_bot.answering.small_corridor import SURE, ask


def test_leads_have_the_words_of_the_turn_and_confidence_those_of_the_topic(corridor, monkeypatch: pytest.MonkeyPatch):
    leading = []

    def noting(*args, formulation, **options):
        leading.append(formulation.text)
        return rank_passages(*args, formulation=formulation, **options)

    monkeypatch.setattr(module, "rank_passages", noting)
    texts = ("and from a pan?", "How do I remove rust from a knife? and from a pan?")
    question, opened = Question("How do I remove rust from a pan?"), corridor()
    clock = opened.start(Deadline.after(30, now=time.monotonic))
    ranking = opened.rank(question, clock, readings=Readings(texts))
    assert leading == [question.title]
    assert ranking.formulation.text == texts[1]


def test_a_turn_that_its_readings_refuse_is_answered_alone_if_that_is_sure_enough(corridor):
    texts, with_threshold = ("zxqv plomb?", "blorf? zxqv plomb?"), replace(SURE, thresholds=(0.5,))
    opened, refused = corridor(calibration=with_threshold), Readings(texts, least_alone=0.0)
    alone = ask(opened, "Why do cats purr?", readings=refused)
    assert alone.sources[0].document == "cats"
    for least, kind in ((alone.confidence - 0.01, "passage"), (alone.confidence + 0.01, "none")):
        assert ask(opened, "Why do cats purr?", readings=Readings(texts, least_alone=least)).kind == kind
    assert ask(opened, "Why do cats purr?", readings=Readings(texts)).kind == "none"
    assert ask(opened, texts[0], readings=refused).kind == "none"
