from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qa_lab.errors import SettingsError, TrainingDataError
from qa_lab.train.rankers.encoder_decoder import ENCODER_DECODER, right_pairs
from qa_lab.train.rankers.likelihood_measures import among, chosen
from qa_lab.train.request import Request
from rankers.answer_selection.encoder_decoder import EncoderDecoderRanker
from rankers.training.answer_pool import AnswerSet

MODEL = "encoder-decoder"


def test_a_run_leaves_a_ranker_with_card_and_curve(request_: Request, tmp_path: Path):
    outcome = ENCODER_DECODER.run(request_)
    assert outcome.pairs + outcome.held_out == 30
    ranker = EncoderDecoderRanker.load(request_.out)
    assert ranker.config.direction == "backward"
    assert np.isfinite(ranker.score([("where does balor live", "the house of balor")])).all()
    assert "| scores | backward |" in (request_.out / "README.md").read_text()
    assert outcome.as_dict()["perplexity"] == outcome.perplexity > 1
    assert outcome.judged is None


def test_wrong_answers_are_for_measuring_only(request_: Request, write_lines: Callable[..., Path]):
    rows = [
        {"question": f"where is {n}", "answers": [f"it is {n}"], "negatives": [f"who knows {n}"]} for n in range(20)
    ]
    outcome = ENCODER_DECODER.run(replace(request_, data=(write_lines("judged.jsonl", *rows),)))
    assert outcome.pairs + outcome.held_out == 20
    assert outcome.judged is not None
    assert 0.5 <= outcome.judged[0] <= 1
    assert "judged answers: MAP" in outcome.text(request_.out)
    assert "knows" not in EncoderDecoderRanker.load(request_.out).translator.vocabulary.tokens


def test_right_pairs_are_the_right_ones():
    sets = [AnswerSet("q", ("a", "b", "c"), (True, False, True)), AnswerSet("r", ("d",), (False,))]
    assert right_pairs(sets) == [("q", "a"), ("q", "c")]


def test_among_draws_answers_of_other_questions():
    pairs = [("q", "a"), ("q", "b"), *((f"r{n}", f"c{n}") for n in range(5))]
    lists = among(pairs, np.random.default_rng(0), size=6)
    for pair, listed in zip(pairs, lists, strict=True):
        assert listed[0] == pair
        assert len(set(listed)) == len(listed) == 6
        assert {question for question, _ in listed} == {pair[0]}
    assert ("q", "b") not in lists[0]
    with pytest.raises(ValueError, match="Expected 9 answers of other questions, but got 5"):
        among(pairs, np.random.default_rng(0), size=10)


def test_chosen_by_hand_and_by_chance():
    lists = [[("q", str(index)) for index in range(4)] for _ in range(400)]
    assert chosen(lists, lambda listed: [1.0, 0.0, 2.0, 0.0]) == (0.5, 0.0)
    assert chosen(lists, lambda listed: [3.0, 0.0, 2.0, 0.0]) == (1.0, 1.0)
    rr, success = chosen(lists, lambda listed: [0.0] * 4)  # no favour for the first of equals
    assert rr < 0.7
    assert success < 0.5


@pytest.mark.parametrize("text", ["[training]\nbatch = 0", "minimum = 0", '[model]\ndirection = "up"'])
def test_settings_that_do_not_do_are_told(request_: Request, text: str):
    assert request_.config is not None
    request_.config.write_text(text)
    with pytest.raises(SettingsError, match="Expected"):
        ENCODER_DECODER.settings(request_)


def test_the_paper_preset_has_the_sizes_of_the_thesis(request_: Request):
    assert request_.config is not None
    request_.config.write_text('preset = "paper"')
    settings = ENCODER_DECODER.settings(request_)
    assert (settings.model.network.hidden, settings.model.network.layers) == (500, 2)
    assert (settings.training.learning_rate, settings.training.batch, settings.training.clip) == (0.002, 200, 5.0)


def test_what_cannot_be_trained_is_told(request_: Request, tmp_path: Path):
    with pytest.raises(SettingsError, match="no base"):
        ENCODER_DECODER.run(replace(request_, base=tmp_path))
    with pytest.raises(TrainingDataError, match="got 30 and 0"):
        ENCODER_DECODER.run(replace(request_, dev="0.0001"))
