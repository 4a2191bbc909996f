from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.answering.models.ranker_loading import inputs_of
from qa_lab.errors import SettingsError, TrainingDataError, TrainingError
from qa_lab.train.rankers.blstm import BLSTM
from qa_lab.train.request import Request
from rankers.answer_selection.blstm import BLSTMScorer
from rankers.answer_selection.stacked import FAITHFUL, StackedRanker

MODEL = "blstm"


def with_settings(request: Request, text: str) -> Request:
    assert request.config is not None
    path = request.config.with_name("other.toml")
    path.write_text(text)
    return replace(request, config=path)


def test_a_run_leaves_a_ranker_with_card_and_curve(request_: Request, tmp_path: Path):
    outcome = BLSTM.run(request_)
    assert outcome.questions + outcome.held_out == 20
    assert outcome.pairs == 2 * outcome.questions
    assert outcome.bm25.ap == 1.0
    ranker = StackedRanker.load(request_.out)
    scores = ranker.score([("where is balor", "balor is in the house"), ("where is balor", "zzz")])
    assert scores[0] >= scores[1]
    card = (request_.out / "README.md").read_text()
    assert all(part in card for part in ("| made of | stacked |", "| BM25 | 1.000 |"))
    assert {path.name for path in request_.out.iterdir()} == {
        "README.md", "config.json", "curve.csv", "model.safetensors", "vocabulary.txt",
    }  # fmt: skip
    assert inputs_of(request_.out) == ("title", "text")
    assert outcome.as_dict()["bm25"] == {"AP": 1.0, "RR": 1.0}
    assert "BM25: MAP 1.000" in outcome.text(request_.out)


def test_a_network_alone_and_keywords_alone(request_: Request):
    network = BLSTM.run(with_settings(request_, f'use = "network"\n{request_.config.read_text()}'))
    assert network.joined is None
    assert BLSTMScorer.load(request_.out).score([("a", "b")]).shape == (1,)
    keywords = BLSTM.run(with_settings(request_, 'use = "keywords"\nkeywords = "cheap"\n[trees]\nleast = 2\ntrees = 5'))
    assert (keywords.network, keywords.parameters) == (None, 0)
    assert keywords.joined is not None
    assert keywords.importances
    assert StackedRanker.load(request_.out).inputs.network is None


def test_word_vectors_are_read_from_a_file(request_: Request, tmp_path: Path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{name} {n} 1 0\n" for n, name in enumerate(("balor", "bamin", "house"))))
    usual = request_.config.read_text()
    BLSTM.run(with_settings(request_, usual.replace('""', f'"{vectors}"').replace("dimension = 6\n", "")))
    ranker = StackedRanker.load(request_.out)
    assert ranker.inputs.network is not None
    assert ranker.inputs.network.config.dimension == 3
    assert ranker.inputs.network.config.pretrained


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[network]\nhidden = 0", "network.hidden = 0"),
        ("parts = 1", "parts = 1"),
        ('keywords = "none"\nuse = "keywords"', "Expected features"),
        ("[trees]\nleaves = 1", "leaves"),
        ('[training]\noptimiser = "lbfgs"', "optimiser"),
    ],
)
def test_settings_that_do_not_do_are_told(request_: Request, text: str, error: str):
    with pytest.raises(SettingsError, match=error):
        BLSTM.settings(with_settings(request_, text))


def test_the_paper_preset_has_the_sizes_of_the_thesis(request_: Request):
    config = BLSTM.settings(with_settings(request_, 'preset = "paper"'))
    network, training = config.network, config.training
    assert (training.optimiser, training.momentum, training.pointwise.balanced) == ("sgd", 0.9, False)
    assert (config.trees.objective, config.names) == ("regression", FAITHFUL)
    assert (network.hidden, network.layers, network.bidirectional, network.gaussian) == (500, 3, True, 0.1)


def test_data_of_one_label_is_refused(request_: Request, write_lines: Callable[..., Path]):
    right = write_lines(
        "right.tsv", "qid\tquestion\tanswer\tlabel", *(f"{n}\twhere is {n}\tit is {n}\t1" for n in range(9))
    )
    with pytest.raises(TrainingDataError, match="right and wrong answers"):
        BLSTM.run(replace(request_, data=(right,)))
    with pytest.raises(TrainingError, match="all 9 are right"):
        BLSTM.run(replace(request_, data=(right,), dev=str(request_.data[0])))
