import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qa_core.networks.checkpoints import load_weights
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.rankers.blstm import BLSTM
from qa_lab.train.request import Request
from rankers.answer_selection.blstm import BLSTMScorer
from rankers.answer_selection.stacked import StackedRanker

NAMES = [first + last for first in ("ba", "ce", "di", "fo") for last in ("lor", "min", "tes", "von", "zar")]
SETTINGS = """pretrained = ""
[network]
dimension = 6
hidden = 4
layers = 1
[training]
learning_rate = 0.02
[training.pointwise]
epochs = 2
batch = 16
[trees]
trees = 10
least = 2
"""


class StoppedError(Exception):
    """An interruption at a place of our choice."""


@pytest.fixture
def judged(write_lines: Callable[..., Path]) -> Path:
    """Twenty questions with two answers, the right one named in the question."""
    rows = ["qid\tquestion\tanswer\tlabel"]
    for number, name in enumerate(NAMES):
        rows.append(f"{number}\twhere is {name}\t{name} is in the house {number}\t1")
        rows.append(f"{number}\twhere is {name}\t{NAMES[number - 1]} is in the house\t0")
    return write_lines("judged.tsv", *rows)


@pytest.fixture
def request_(judged: Path, tmp_path: Path) -> Request:
    settings = tmp_path / "settings.toml"
    settings.write_text(SETTINGS)
    return Request((judged,), tmp_path / "out", config=settings, dev="0.3", seed=3)


def with_settings(request: Request, text: str) -> Request:
    assert request.config is not None
    path = request.config.with_name("other.toml")
    path.write_text(text)
    return replace(request, config=path)


def test_a_run_leaves_a_ranker_with_card_and_curve(request_: Request, tmp_path: Path):
    read = []
    outcome = BLSTM.run(request_, on_read=read.append)
    assert outcome.questions + outcome.held_out == 20
    assert outcome.pairs == 2 * outcome.questions
    assert outcome.bm25.ap == 1.0
    ranker = StackedRanker.load(request_.out)
    scores = ranker.score([("where is balor", "balor is in the house"), ("where is balor", "zzz")])
    assert scores[0] >= scores[1]
    card = (request_.out / "README.md").read_text()
    assert all(part in card for part in ("| made of | stacked |", "| judged.tsv |", "| seed | 3 |", "| BM25 | 1.000 |"))
    assert str(tmp_path) not in card
    assert {path.name for path in request_.out.iterdir()} == {
        "README.md", "config.json", "curve.csv", "model.safetensors", "vocabulary.txt",
    }  # fmt: skip
    told = json.loads(json.dumps(outcome.as_dict()))
    assert told["bm25"] == {"AP": 1.0, "RR": 1.0}
    assert "BM25: MAP 1.000" in outcome.text(request_.out)
    assert BLSTM.epochs(request_) == 2


@pytest.mark.parametrize("stop", [1, 3, 5])
def test_a_resumed_run_gives_the_same_model(request_: Request, tmp_path: Path, stop: int):
    def stopping():
        seen = []

        def report(progress):
            seen.append(progress)
            if len(seen) == stop:
                raise StoppedError

        return report

    whole = replace(request_, out=tmp_path / "whole")
    BLSTM.run(whole)
    with pytest.raises(StoppedError):
        BLSTM.run(request_, on_progress=stopping())
    with pytest.raises(RunError, match="seed = 4 instead of 3"):
        BLSTM.run(replace(request_, resume=True, seed=4))
    BLSTM.run(replace(request_, resume=True))
    one, other = load_weights(whole.out), load_weights(request_.out)
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_a_network_alone_and_keywords_alone(request_: Request):
    network = BLSTM.run(with_settings(request_, f'use = "network"\n{SETTINGS}'))
    assert network.joined is None
    assert BLSTMScorer.load(request_.out).score([("a", "b")]).shape == (1,)
    keywords = BLSTM.run(with_settings(request_, 'use = "keywords"\nkeywords = "cheap"\n[trees]\nleast = 2\ntrees = 5'))
    assert (keywords.network, keywords.parameters) == (None, 0)
    assert keywords.joined is not None
    assert keywords.importances
    assert StackedRanker.load(request_.out).inputs.network is None


def test_word_vectors_are_read_from_a_file(request_: Request, tmp_path: Path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{name} {n} 1 0\n" for n, name in enumerate(NAMES)))
    BLSTM.run(with_settings(request_, SETTINGS.replace('""', f'"{vectors}"').replace("dimension = 6\n", "")))
    ranker = StackedRanker.load(request_.out)
    assert ranker.inputs.network is not None
    assert ranker.inputs.network.config.dimension == 3
    assert ranker.inputs.network.config.pretrained


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("hiden = 3", "hiden"),
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
    network = BLSTM.settings(with_settings(request_, 'preset = "paper"')).network
    assert (network.hidden, network.layers, network.bidirectional, network.gaussian) == (500, 3, True, 0.1)


def test_a_base_and_bad_shares_are_refused(request_: Request, tmp_path: Path):
    with pytest.raises(SettingsError, match="no base"):
        BLSTM.run(replace(request_, base=tmp_path))
    with pytest.raises(TrainingDataError, match="share between 0 and 1"):
        BLSTM.run(replace(request_, dev="1.5"))
    with pytest.raises(RunError, match="leave --resume out"):
        BLSTM.run(replace(request_, resume=True))


def test_data_of_one_label_is_refused(request_: Request, write_lines: Callable[..., Path], judged: Path):
    right = write_lines(
        "right.tsv", "qid\tquestion\tanswer\tlabel", *(f"{n}\twhere is {n}\tit is {n}\t1" for n in range(9))
    )
    with pytest.raises(TrainingDataError, match="right and wrong answers"):
        BLSTM.run(replace(request_, data=(right,)))
    with pytest.raises(TrainingError, match="all 9 are right"):
        BLSTM.run(replace(request_, data=(right,), dev=str(judged)))
