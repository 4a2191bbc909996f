import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from generators.conversation.chat_model import ChatModel
from generators.training.trainable_chat import TrainableChat
from qa_core.networks.checkpoints import load_weights
from qa_lab.train.data.dialogues import Exchange
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError
from qa_lab.train.request import Request
from qa_lab.train.speech.chat import CHAT, rows_of
from qa_lab.train.speech.chat_settings import SMALL, THESIS

SETTINGS = """minimum = 1
examples = 50
[model.network]
vocabulary = 100
dimension = 4
hidden = 6
[model.language]
vocabulary = 100
dimension = 4
hidden = 6
[forward]
epochs = 2
batch = 20
[language]
epochs = 1
batch = 20
[backward]
epochs = 2
batch = 20
"""
ANIMALS = ("cat", "dog", "cow", "hen", "fox")


class StoppedError(Exception):
    """An interruption at a place of our choice."""


@pytest.fixture
def request_(write_lines: Callable[..., Path], tmp_path: Path) -> Request:
    rows = [
        {"turns": [f"do you like my {animal} number {n} ?", f"I like your {animal}.", "Thanks!"]}
        for n in range(4)
        for animal in ANIMALS
    ]
    settings = tmp_path / "settings.toml"
    settings.write_text(SETTINGS)
    data = write_lines("dialogues.jsonl", *rows)
    return Request((data,), tmp_path / "out", config=settings, dev="0.3", seed=3)


def test_a_run_leaves_a_model_with_card_and_curves(request_: Request, tmp_path: Path):
    read = []
    outcome = CHAT.run(request_, on_read=read.append)
    assert outcome.replies + outcome.held_out == read[0].count
    model = ChatModel.load(request_.out)
    assert np.isfinite(model.log_forward([model.forward_row(["do you like my cat"], "thanks!")])).all()
    assert TrainableChat.copy_of(model).parameters == outcome.parameters
    card = (request_.out / "README.md").read_text()
    assert all(part in card for part in ("| dialogues.jsonl |", "| seed | 3 |", "| perplexity, backward |"))
    assert str(tmp_path) not in card
    told = json.loads(json.dumps(outcome.as_dict()))
    assert set(told["perplexity"]) == {"forward", "language", "backward"}
    assert 0 <= told["acceptor"]["accuracy"] <= 1
    assert "perplexity: forward" in outcome.text(request_.out)
    assert CHAT.epochs(request_) == 2
    names = {path.name for path in request_.out.iterdir()}
    assert {"curve.csv", "curve-language.csv", "curve-backward.csv"} <= names
    assert "training" not in names


@pytest.mark.parametrize("stop", [1, 4])
def test_a_resumed_run_gives_the_same_model(request_: Request, tmp_path: Path, stop: int):
    """Within forward, and within backward, when the others are done."""
    seen = []

    def report(progress):
        seen.append(progress)
        if len(seen) == stop:
            raise StoppedError

    whole = replace(request_, out=tmp_path / "whole")
    CHAT.run(whole)
    with pytest.raises(StoppedError):
        CHAT.run(request_, on_progress=report)
    with pytest.raises(RunError, match="seed = 4 instead of 3"):
        CHAT.run(replace(request_, resume=True, seed=4))
    CHAT.run(replace(request_, resume=True))
    one, other = load_weights(whole.out), load_weights(request_.out)
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    with pytest.raises(RunError, match="a finished run"):
        CHAT.run(replace(request_, resume=True))


def test_replies_that_would_be_cut_or_are_empty_teach_nothing(request_: Request):
    CHAT.run(request_)
    model = ChatModel.load(request_.out)
    found = [
        Exchange(("a cat",), "thanks"),
        Exchange(("a cat",), ""),
        Exchange(("a cat",), "thanks " * model.config.max_target),
    ]
    for part in ("forward", "language", "backward"):
        assert len(rows_of(model, part, found)) == 1
    assert len(rows_of(model, "language", found)[0][0]) == 0


def test_presets(tmp_path: Path):
    assert CHAT.settings(Request((), tmp_path)) == SMALL
    path = tmp_path / "settings.toml"
    path.write_text('preset = "thesis"\n[forward]\nepochs = 1\n')
    settings = CHAT.settings(Request((), tmp_path, config=path))
    assert settings.model == THESIS.model
    assert (settings.model.network.hidden, settings.model.network.layers) == (500, 2)
    assert (settings.forward.epochs, settings.backward.epochs) == (1, 10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[forward]\nbatch = 0\n", "Expected positive numbers, but got forward.batch = 0"),
        ("[model]\nmax_target = -1\n", "Expected positive numbers, but got model.max_target = -1"),
        ("[foreward]\nbatch = 1\n", "the nearest is forward"),
        ('preset = "large"\n', "preset"),
        ("[model.network]\npretrained = true\ntied = false\n", "Expected pretrained = false"),
    ],
)
def test_settings_that_do_not_do(request_: Request, tmp_path: Path, text: str, message: str):
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=message):
        CHAT.run(replace(request_, config=path))


def test_nothing_to_start_from_and_nothing_to_hold_out(request_: Request, tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="Expected a model folder"):
        CHAT.run(replace(request_, base=tmp_path))
    with pytest.raises(TrainingDataError, match="Expected a share between 0 and 1"):
        CHAT.run(replace(request_, dev="2"))
    with pytest.raises(TrainingDataError, match="Expected replies for training and to hold out"):
        CHAT.run(replace(request_, limit=1))
