"""Features of confidence by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from qa_bot.answering.confidence.calibration import Calibration, Features
from qa_bot.answering.stages.decide import Calibrations, agreement, confidence_features, decide_passage
from qa_bot.answering.stages.rank import Ranking
from qa_bot.answering.verification.verify import WEAK, Cover
from qa_core.types import Candidate, Clue, Passage, Question, Signals, Source
from retrievers.formulate import formulate


class Counts:
    """A collection in which each word is in as many passages, by default one."""

    def __init__(self, documents: int, frequency: int = 1) -> None:
        self.documents, self._frequency = documents, frequency

    def document_frequency(self, _field: str, _term: str) -> int:
        return self._frequency

    def average_length(self, _field: str) -> float:
        return 10.0


def test_a_lead_means_the_same_in_every_large_collection() -> None:
    assert agreement(2.25, 100) == agreement(2.25, 100_000) == pytest.approx(1.5)
    assert agreement(-1.0, 1000) == agreement(0.1, 1000) == pytest.approx(0.5), "many passages of one matter"
    assert agreement(-1.0, 0) == 0.0


def test_most_rivals_that_do_not_exist_count_as_equal_ones() -> None:
    alone = 3 / 12 * math.sqrt(math.log(2) / math.log(101))
    assert agreement(2.25, 1) == pytest.approx(1.5 * math.sqrt(alone))
    assert agreement(2.25, 0) == 0.0
    assert agreement(2.25, 4) == pytest.approx(math.sqrt(2.25 * 6 / 12 * math.sqrt(math.log(5) / math.log(101))))
    in_homes = [agreement(2.25, passages) for passages in range(120)]
    assert in_homes == sorted(in_homes), "a lead never means less because there are more passages"


def test_the_covers_of_all_passages_that_were_read_are_averaged() -> None:
    first = Candidate(Passage("a", "Dogs bark.", Clue(), Source("a")), 2.0, Signals(combined=2.0))
    ranking = Ranking(Question("dogs"), formulate(Question("dogs")), (first,), separation=1.0)
    read = Ranking(
        Question("dogs"),
        formulate(Question("dogs")),
        (first,),
        separation=1.0,
        covers={"a": Cover(0.9), "b": Cover(0.4), "c": Cover(0.2)},
    )
    features = confidence_features(read, Counts(1000))
    assert features["covered"] == pytest.approx(0.9)
    assert features["mean_covered"] == pytest.approx(0.3)  # two of five passages are missing
    assert features["agreement"] == pytest.approx(1.0)
    assert confidence_features(ranking, Counts(1000))["mean_covered"] == 0.0
    all_cover = replace(read, covers={name: Cover(0.9) for name in "abcde"})
    assert confidence_features(all_cover, Counts(1000))["mean_covered"] == 0.5


def test_what_a_story_says_besides_its_question_may_be_missing() -> None:
    story = f"{'It rained in Portland. ' * 7}Do dogs bark?"
    first = Candidate(Passage("a", "Dogs bark.", Clue(), Source("a")), 2.0, Signals(combined=2.0))

    def features_of(title: str) -> Features:
        question = Question(title)
        return confidence_features(Ranking(question, formulate(question), (first,), separation=1.0), Counts(1000))

    features = features_of(story)
    assert features["coverage"] == pytest.approx(2 / (2 + 2 * WEAK)), "“rained” and “Portland” are missing"
    assert features["missing_name"] == 0.0
    short = features_of("It rained in Portland. Do dogs bark?")
    assert short["coverage"] == pytest.approx(2 / 4)
    assert short["missing_name"] > 0.0


@pytest.mark.parametrize(
    ("cover", "is_answered"),
    [
        (Cover(0.4), False),
        (Cover(0.5), True),
        (Cover(0.4, relevance=0.9), False),
        (Cover(0.4, relevance=1.0), True),
        (None, False),
    ],
)
def test_a_passage_answers_in_other_words_only_if_it_covers_them_or_likely_answers(
    cover: Cover | None, is_answered: bool
) -> None:
    question, constant = Question("poodle"), Calibration((), (), (), (), 0.0, (0.0,), (1.0,))
    first = Candidate(Passage("a", "Dogs bark.", Clue(), Source("a")), 2.0, Signals(combined=2.0))
    ranking = Ranking(question, formulate(question), (first,), separation=1.0, covers={"a": cover} if cover else {})
    decision = decide_passage(ranking, Counts(1000, 0), Calibrations(*[constant] * 8), 0.8)
    assert decision.confidence == (0.5 if is_answered else 0.0)
