from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qa_bot.answering.models.ranker_loading import RankerError, open_ranker
from qa_lab.data.paraphrase_pairs import kept_aside, labelled
from qa_lab.data.question_pairs import read_question_pairs
from qa_lab.errors import SettingsError, TrainingDataError, TrainingError
from qa_lab.evaluate.words.paraphrase import best_threshold, evaluate_paraphrase, jaccard, logistic
from qa_lab.train.rankers.entailment import ENTAILMENT
from qa_lab.train.request import Request
from rankers.paraphrase.baselines import DecomposableConfig, SiameseConfig
from rankers.paraphrase.bilateral_matching import MatchingConfig
from rankers.paraphrase.decomposition import DecompositionConfig
from rankers.paraphrase.word_pairs import WordPairs

MODEL = "entailment"
NAMES = [first + last for first in ("ba", "ce", "di", "fo") for last in ("lor", "min", "tes", "von", "zar")]
SETTINGS = "test = 0.3\n[words]\ndimension = 8\nhidden = 8\n[training]\nepochs = 3\nbatch = 8\nidentical = 4\n"


def test_a_run_leaves_a_scorer_with_card_and_curve_and_is_measured(request_: Request, tmp_path: Path):
    outcome = ENTAILMENT.run(request_)
    assert outcome.pairs + outcome.held_out < 40  # some are kept aside
    scorer = WordPairs.load(request_.out)
    assert scorer.config.dimension == 8
    card = (request_.out / "README.md").read_text()
    assert all(part in card for part in ("| started from | starter |", f"{outcome.accuracy:.3f}"))
    rows = evaluate_paraphrase(request_.data[0], models=[request_.out], held_out=0.3)
    engines = ["out", "Jaccard", "cosine", "logistic regression", "more frequent label"]
    assert [row.engine for row in rows] == engines
    assert [row.encoder for row in rows] == ["", "", "starter", "", ""]
    aside = kept_aside(read_question_pairs(request_.data).examples, 0.3)[1]
    assert {row.queries for row in rows} == {len(labelled(aside)[0])}
    assert rows[3].scores["accuracy"].mean == 1  # the overlap alone tells them apart
    other = evaluate_paraphrase(request_.data[0], train=request_.data[0], limit=10)
    assert other[0].queries == 10
    assert [evaluate_paraphrase(request_.data[0], limit=limit)[0].queries for limit in (11, 20)] == [11, 20]
    whole = evaluate_paraphrase(request_.data[0])
    assert whole[0].queries > rows[0].queries
    assert [row.engine for row in whole] == engines[1:]
    assert whole[2].scores["accuracy"].mean == 1


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("siamese", SiameseConfig),
        ("decomposable", DecomposableConfig),
        ("bimpm", MatchingConfig),
        ("ldc", DecompositionConfig),
    ],
)
def test_peers_take_the_same_path(request_: Request, model: str, kind: type):
    request_.config.write_text(f"model = '{model}'\npretrained = ''\n" + SETTINGS)
    ENTAILMENT.run(request_)
    scorer = open_ranker(request_.out)
    assert isinstance(scorer, WordPairs)
    assert isinstance(scorer.config, kind)


def test_words_in_context_come_from_a_transformer_where_it_lies(request_: Request, tiny_bert: Path):
    settings = f"pretrained = '{tiny_bert}'\n" + SETTINGS
    request_.config.write_text(settings)
    outcome = ENTAILMENT.run(request_)
    scorer = open_ranker(request_.out)
    assert isinstance(scorer, WordPairs)
    assert scorer.config.context.size == 8
    assert scorer.config.vocabulary == 0
    rows = evaluate_paraphrase(request_.data[0], models=[request_.out], held_out=0.3)
    assert 0 <= rows[0].scores["accuracy"].mean <= 1
    assert np.isfinite(scorer.score([("", "cats"), ("cats sleep", "do cats sleep")])).all()
    assert str(tiny_bert) not in (request_.out / "README.md").read_text()
    assert outcome.accuracy >= 0
    tiny_bert.rename(tiny_bert.parent / "away")
    with pytest.raises(RankerError, match="there is no such folder"):
        open_ranker(request_.out)


def test_settings(request_: Request, tmp_path: Path):
    request_.config.write_text("preset = 'paper'\n")
    assert ENTAILMENT.settings(request_).training.batch == 1000
    assert ENTAILMENT.settings(request_).training.identical == 20_000
    assert ENTAILMENT.settings(request_).words.dimension == 300
    for line, message in (
        ("model = 'cross-encoder'", "--base DIR"),
        ("test = 1.0", "a share of the questions"),
        ("scale = 0.0", "scale = 0.0"),
        ("[training]\nbatch = 0", "training.batch = 0"),
    ):
        request_.config.write_text(line)
        with pytest.raises(SettingsError, match=message):
            ENTAILMENT.settings(request_)
    request_.config.write_text("")
    with pytest.raises(SettingsError, match="no --base for the model entailment"):
        ENTAILMENT.settings(replace(request_, base=tmp_path))


def test_data_that_does_not_do(request_: Request, write_lines: Callable[..., Path]):
    same = write_lines("same.tsv", *(f"1\twhere is {name}\tplace of {name}\t{n}" for n, name in enumerate(NAMES)))
    with pytest.raises(TrainingDataError, match="pairs that do not"):
        ENTAILMENT.run(replace(request_, data=(same,)))
    with pytest.raises(TrainingDataError, match="both labels to choose thresholds by"):
        evaluate_paraphrase(same)
    request_.config.write_text("[words]\ndimension = 7\n")
    with pytest.raises(TrainingError, match="an even dimension"):
        ENTAILMENT.run(request_)


def test_thresholds_worked_by_hand():
    scores = np.array([0.9, 0.5, 0.5, 0.1], dtype=np.float32)
    assert best_threshold(scores, np.array([True, True, True, False])) == pytest.approx(0.3)
    assert best_threshold(scores, np.array([True, True, False, False])) in (pytest.approx(0.7), pytest.approx(0.3))
    assert best_threshold(scores, np.array([False, False, False, False])) == np.inf
    assert best_threshold(scores, np.array([True, True, True, True])) == pytest.approx(0.1)
    assert jaccard([("a b c", "b c d"), ("", ""), ("a", "A")]).tolist() == [0.5, 0.0, 1.0]


def test_logistic_regression_finds_the_slope_that_made_the_data():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(20_000, 2)).astype(np.float32)
    chances = 1 / (1 + np.exp(-(0.5 + 2 * inputs[:, 0] - inputs[:, 1])))
    points = np.array([[0, 0], [1, 0], [0, 1]], dtype=np.float32)
    estimates = logistic(inputs, rng.random(20_000) < chances, points)
    np.testing.assert_allclose(estimates, [0.5, 2.5, -0.5], atol=0.1)
    same = np.ones((4, 1), dtype=np.float32)
    assert np.isfinite(logistic(same, np.array([True, False, True, True]), same)).all()
