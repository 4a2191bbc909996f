"""Passages are scored once, the first ones alone if they surely answer; a model that cannot be opened is left out."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import orjson
import pytest

from qa_bot.answering.confidence.calibration import Calibration
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.relevance.passage_scorer import (
    CALIBRATIONS,
    PassageScorer,
    Relevance,
    Scorers,
    calibrations_in,
    scorer_of,
)
from qa_bot.home.config import ConfigError


class HandMadeScores:
    """The score of a text is written in it."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def score(self, pairs):
        self.pairs += pairs
        return np.array([float(text) for _, text in pairs], np.float32)


def relevance(scores, *texts, seconds=9.0):
    scorer = PassageScorer(lambda: scores)
    assert scorer.ready()
    return Relevance(scorer, ["why?"], texts, Deadline(seconds, now=lambda: 0.0))


def test_a_folder_without_a_model_is_left_out(tmp_path: Path) -> None:
    assert scorer_of("") is None
    scorer = scorer_of(str(tmp_path / "nowhere"))
    assert scorer is not None
    assert not scorer.ready()
    assert scorer_of(str(tmp_path / "nowhere")) is scorer, "shared in a process"


def test_the_calibrations_of_a_folder_are_read(tmp_path: Path) -> None:
    assert calibrations_in("") == calibrations_in(str(tmp_path)) == {}
    calibration = Calibration(("relevance",), (0.0,), (2.0,), (1.0,), 0.0, (0.5,), (0.9,))
    (tmp_path / CALIBRATIONS).write_bytes(orjson.dumps({"hybrid": calibration}))
    assert calibrations_in(str(tmp_path)) == {"hybrid": calibration}


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"hybrid": 3}', '{"hybrid": {"features": ["relevance"]}}'])
def test_damaged_calibrations_are_named(tmp_path: Path, text: str) -> None:
    (tmp_path / CALIBRATIONS).write_text(text)
    with pytest.raises(ConfigError, match=r"ranking\.cross_encoder: expected calibrations in .*fit them again"):
        calibrations_in(str(tmp_path))


def test_a_model_that_cannot_be_opened_is_left_out_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    def damaged():
        raise ValueError("Expected an ONNX graph")

    scorer = PassageScorer(damaged)
    with caplog.at_level(logging.WARNING):
        assert (scorer.ready(), scorer.ready()) == (False, False)
    assert [record.message for record in caplog.records] == [
        "Passages are not scored, because the model cannot be opened: Expected an ONNX graph"
    ]


def test_no_other_passage_is_scored_if_the_first_surely_answers() -> None:
    scores = HandMadeScores()
    judged = relevance(scores, "-3", "2.5", "2")
    judged.score_in_order([1, 0, 2])
    assert judged.known == {1: 2.5}
    judged.score([2, 1])
    assert judged.known == {1: 2.5, 2: 2.0}
    assert len(scores.pairs) == 2, "each is scored once"


def test_all_are_scored_if_the_first_may_not_answer() -> None:
    judged = relevance(HandMadeScores(), "0.5", "-4", "2")
    judged.score_in_order([0, 1, 2])
    assert judged.known == {0: 0.5, 1: -4.0, 2: 2.0}


def test_the_score_is_the_mean_over_the_readings() -> None:
    class ByReading:
        def score(self, pairs):
            return np.array([len(question) + float(text) for question, text in pairs], np.float32)

    scorer = PassageScorer(ByReading)
    assert scorer.ready()
    assert scorer.scores(["a", "abc"], ["10", "20"]) == [12.0, 22.0]
    late = Relevance(scorer, ["a", "abc"], ["10"], Deadline(0.05, now=lambda: 0.0))
    late.score([0])
    assert late.known == {}, "two pairs need more time"


def test_without_time_or_model_nothing_is_scored() -> None:
    late = relevance(HandMadeScores(), "-1", "2", "2", seconds=0.05)
    late.score_in_order([0, 1, 2])
    assert late.known == {0: -1.0}, "there is time for one pair"
    without = Relevance(None, ["why?"], ["1"], Deadline.after(9))
    without.score_in_order([0])
    assert without.known == {}


def test_passages_in_other_languages_are_scored_by_another_model() -> None:
    def damaged():
        raise ValueError("damaged")

    english, multilingual = PassageScorer(HandMadeScores), PassageScorer(HandMadeScores)
    both = Scorers(english, multilingual)
    assert both.of(["", "en", "de"]) is both.of([]) is english
    assert both.of(["de", "fr", "en"]) is multilingual
    assert both.of(["ja", "ar"]) is english, "languages whose words it lacks"
    assert Scorers(english).of(["de"]) is english
    assert Scorers(english, PassageScorer(damaged)).of(["de"]) is english
    assert Scorers().of(["de"]) is None
