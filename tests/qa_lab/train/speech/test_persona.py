import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from generators.conversation.chat_model import ChatModel
from generators.conversation.random_stream import RandomStream
from generators.conversation.ranking import GenerationConfig
from generators.personas.persona import Persona
from generators.personas.persona_replies import Share, Styling, styled
from qa_bot.answering.models.personas import BASE, SHIPPED
from qa_core.networks.checkpoints import load_weights
from qa_lab.errors import SettingsError, TrainingDataError, TrainingError
from qa_lab.train.registry import verb
from qa_lab.train.request import Request
from qa_lab.train.speech.persona import PERSONA

MODEL = "persona"
WORDS = ["sea", "wind", "sail", "ship", "storm", "calm", "harbour", "captain", "rope", "anchor", "wave", "is", "was"]
SETTINGS = """examples = 200
[speaker]
epochs = 4
batch = 16
learning_rate = 0.05
[forward]
epochs = 3
batch = 16
learning_rate = 0.05
"""


def sentences(count: int) -> list[str]:
    rng = np.random.default_rng(0)
    return [f"The {' '.join(rng.choice(WORDS, size=4))} {number}." for number in range(count)]


def test_a_run_leaves_a_persona_with_card_and_curves(request_: Request):
    read, progress = [], []
    outcome = PERSONA.run(request_, on_read=read.append, on_progress=progress.append)
    assert read[0].count == 60
    assert (outcome.sentences, outcome.held_out, outcome.rejected) == (54, 6, 0)
    for change in outcome.changes.values():
        assert change.tuned < change.base
    assert len([report for report in progress if report.dev is not None]) <= 7
    model = ChatModel.load(request_.base)
    persona = Persona.load(request_.out, model)
    assert persona.config.name == "sailor"
    assert persona.config.base == outcome.fingerprint == model.fingerprint
    assert persona.config.weights == outcome.weights
    assert len(persona.quotations) == 54
    assert (request_.out / "curve-speaker.csv").is_file()
    card = (request_.out / "README.md").read_text()
    assert "# Persona sailor" in card
    assert outcome.fingerprint in card
    assert (
        json.loads(json.dumps(outcome.as_dict()))["perplexity"]["forward"]["tuned"] == outcome.changes["forward"].tuned
    )
    assert "only 54 sentences" in outcome.text(request_.out)
    for style in ("rank", "multiply", "finetune", "hybrid"):
        replies = styled(
            [Share(persona)],
            ["who are you?"],
            3,
            stream=RandomStream(0),
            styling=Styling(style),
            generation=GenerationConfig(candidates=20, length=8),
        )
        assert replies, style


def test_words_stay_those_of_the_base_unless_they_are_tuned(request_: Request):
    assert request_.config is not None
    request_.config.write_text("words = []\n" + SETTINGS)
    PERSONA.run(request_)
    names = load_weights(request_.out).keys()
    assert not {"forward.source.E_tune", "speaker.words.E_tune"} & names
    assert {"forward.output.bias", "speaker.output.bias", "sentences"} < names
    request_.config.write_text("half = false\n" + SETTINGS)
    PERSONA.run(request_)
    written = load_weights(request_.out)
    assert written["forward.source.E_tune"].dtype == np.float32
    assert "speaker.words.E_tune" not in written
    request_.config.write_text('words = ["nobody"]\n' + SETTINGS)
    with pytest.raises(SettingsError, match="Expected words of speaker and forward, but got nobody"):
        PERSONA.run(request_)


def test_ten_sentences_are_enough_to_begin_with(request_: Request):
    request_.data[0].write_text("\n".join(sentences(10)))
    outcome = PERSONA.run(request_)
    assert (outcome.sentences, outcome.held_out) == (9, 1)
    assert "only 9 sentences: expect quotations more than a voice" in outcome.text(request_.out)


def test_a_file_may_be_held_out(request_: Request, tmp_path: Path):
    held = tmp_path / "held.txt"
    held.write_text("\n".join(sentences(5)))  # also in the data
    outcome = PERSONA.run(replace(request_, dev=str(held)))
    assert (outcome.sentences, outcome.held_out) == (55, 5)


def test_a_sentence_alone_is_too_little(request_: Request):
    request_.data[0].write_text("The sea is calm.\n")
    with pytest.raises(TrainingDataError, match=r"to hold out, but got 0 and 1; give more sentences"):
        PERSONA.run(request_)


@pytest.mark.parametrize("text", ["", "The sea.\n", "Слова на языке\nкоторого нет\nздесь совсем\n"])
def test_too_little_to_learn_from_is_told(request_: Request, text: str):
    request_.data[0].write_text(text)
    with pytest.raises(TrainingDataError, match="Expected sentences "):
        PERSONA.run(request_)
    assert not (request_.out / "config.json").exists()


@pytest.mark.slow
def test_without_a_base_it_stands_on_the_shipped_one(request_: Request):
    request_.data[0].write_text(
        "\n".join(f"I like my {word} and the sea, friend." for word in WORDS * 2) + "\nHello.\n"
    )
    outcome = PERSONA.run(replace(request_, base=None))
    assert outcome.fingerprint == ChatModel.load(SHIPPED / BASE).fingerprint


def test_what_cannot_be_asked_is_refused(request_: Request, tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        PERSONA.run(replace(request_, base=tmp_path / "nothing"))
    for dev in ("0", "1.5"):
        with pytest.raises(TrainingDataError, match="Expected a share between 0 and 1"):
            PERSONA.run(replace(request_, dev=dev))
    with pytest.raises(TrainingError, match="Expected a persona's name"):
        PERSONA.run(replace(request_, out=tmp_path / "a b"))
    assert not (tmp_path / "a b").exists()


@pytest.mark.parametrize(
    "text", ["context = 3", "contexts = 0", "[forward]\nbatch = 0", "[sampling]\ntemperature = 0.0"]
)
def test_settings_that_do_not_do_are_told(request_: Request, text: str):
    assert request_.config is not None
    request_.config.write_text(text)
    with pytest.raises(SettingsError, match="Expected"):
        PERSONA.settings(request_)


def test_the_verb_is_known(request_: Request):
    assert verb("persona") is PERSONA
    assert PERSONA.epochs(request_) == 4
