from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from generators.conversation.chat_model import ChatModel
from generators.training.trainable_chat import TrainableChat
from qa_bot.answering.models.dialogue_lines import LINES, DialogueLines
from qa_core.networks.decoder_types import END_ID, START_ID
from qa_lab.data.dialogues import Exchange
from qa_lab.errors import SettingsError, TrainingDataError
from qa_lab.train.request import Request
from qa_lab.train.speech.chat import CHAT, rows_of
from qa_lab.train.speech.chat_settings import PARTS, SMALL, THESIS

MODEL = "chat"


def test_a_run_leaves_a_model_with_card_and_curves(request_: Request, tmp_path: Path):
    outcome = CHAT.run(request_)
    model = ChatModel.load(request_.out)
    assert np.isfinite(model.log_forward([model.forward_row(["do you like my cat"], "thanks!")])).all()
    assert TrainableChat.copy_of(model).parameters == outcome.parameters
    assert "| perplexity, backward |" in (request_.out / "README.md").read_text()
    assert set(outcome.perplexity) == {"forward", "language", "backward"}
    assert 0 <= outcome.acceptor["accuracy"] <= 1
    assert {"curve-language.csv", "curve-backward.csv"} <= {path.name for path in request_.out.iterdir()}


def test_replies_that_would_be_cut_or_are_empty_teach_nothing(request_: Request):
    CHAT.run(request_)
    model = ChatModel.load(request_.out)
    sample = [
        Exchange(("a cat",), "thanks"),
        Exchange(("a cat",), ""),
        Exchange(("a cat",), "thanks " * model.config.max_target),
    ]
    for part in ("forward", "language", "backward"):
        assert len(rows_of(model, part, sample)) == 1
    assert len(rows_of(model, "language", sample)[0][0]) == 0


def test_presets(tmp_path: Path):
    assert CHAT.settings(Request((), tmp_path)) == SMALL
    path = tmp_path / "settings.toml"
    path.write_text('preset = "thesis"\n[forward]\nepochs = 1\n')
    settings = CHAT.settings(Request((), tmp_path, config=path))
    assert settings.model == THESIS.model
    assert (settings.model.network.hidden, settings.model.network.layers) == (500, 2)
    assert (settings.forward.epochs, settings.backward.epochs) == (1, 10)
    assert {(part.batch, part.schedule, part.topics) for part in map(settings.part, PARTS)} == {(200, "constant", 1.0)}
    assert settings.model.network.boundaries
    assert settings.lines


def test_boundaries_and_lines_of_a_run(request_: Request):
    assert request_.config is not None
    text = request_.config.read_text()
    assert "[model.network]" in text
    text = text.replace("[model.network]", "[model.network]\nboundaries = true")
    request_.config.write_text("lines = true\n" + text)
    CHAT.run(request_)
    model = ChatModel.load(request_.out)
    source = model.source(["a cat"])
    assert source[[0, -1]].tolist() == [START_ID, END_ID]
    assert model.backward_row(["a cat"], "thanks")[0][[0, -1]].tolist() == [START_ID, END_ID]
    assert model.target("thanks")[0] != START_ID
    lines = DialogueLines.open(request_.out / LINES)
    assert lines.search(lines.texts[0], 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[forward]\nbatch = 0\n", "Expected positive numbers, but got forward.batch = 0"),
        ("[model]\nmax_target = -1\n", "Expected positive numbers, but got model.max_target = -1"),
        ('preset = "large"\n', "preset"),
        ("[forward]\ntopics = 1.5\n", r"Expected topics from 0 to 1 in \[forward\], but got 1.5"),
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
    with pytest.raises(TrainingDataError, match="Expected replies for training and to hold out"):
        CHAT.run(replace(request_, limit=1))
