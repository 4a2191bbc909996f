from pathlib import Path

import numpy as np
import pytest

from generators.conversation.chat_model import ChatModel
from generators.conversation.chat_text import BARRED, CHAT_SPECIALS, TURN, ChatConfig
from generators.training.trainable_chat import TrainableChat
from qa_core.networks.checkpoints import load_weights
from qa_core.networks.decoder_types import END_ID
from qa_core.networks.vocabulary import UNKNOWN


def words(model: ChatModel, ids: np.ndarray) -> str:
    return " ".join(model.vocabulary.words(ids.tolist()))


def test_sources_keep_the_last_turns_and_their_last_words(chat_model: ChatModel):
    assert words(chat_model, chat_model.source(["why?", "my cats do.", "who?"])) == f"my cats do . {TURN} who ?"
    cut = chat_model.source(["Who sleeps in the House?", "my dogs."])
    assert words(chat_model, cut) == f"in the house ? {TURN} my {UNKNOWN} ."
    assert chat_model.source([]).shape == (0,)
    assert len(chat_model.source(["cats " * 10_000])) == 8


def test_replies_keep_their_first_words_and_end(chat_model: ChatModel):
    assert words(chat_model, chat_model.target("They ARE tired.")) == "they are tired . </s>"
    assert words(chat_model, chat_model.target("cats do cats do cats do cats do")) == "cats do cats do cats do </s>"
    assert chat_model.target("").tolist() == [END_ID]


def test_rows_of_both_directions(chat_model: ChatModel):
    turns = ["why?", "my cats do."]
    source, target = chat_model.backward_row(turns, "they are tired.")
    assert (words(chat_model, source), words(chat_model, target)) == ("they are tired .", "my cats do . </s>")
    source, target = chat_model.forward_row(turns, "they are tired.")
    assert (words(chat_model, source), words(chat_model, target)) == (
        f"why ? {TURN} my cats do .",
        "they are tired . </s>",
    )
    assert chat_model.backward_row([], "why?")[1].tolist() == [END_ID]


def test_config_casing_and_acceptor_are_saved(chat_model: ChatModel, tmp_path: Path):
    chat_model.save(tmp_path / "model", card="# Card\n")
    loaded = ChatModel.load(tmp_path / "model")
    assert (loaded.config, loaded.casing) == (chat_model.config, chat_model.casing)
    features = np.random.default_rng(1).standard_normal((5, 3)).astype(np.float32)
    assert loaded.acceptor(features).tolist() == chat_model.acceptor(features).tolist()
    assert loaded.text(loaded.target("in the house.")[:-1].tolist()) == "In the House."


def test_shared_weights_are_written_once(chat_model: ChatModel, tmp_path: Path):
    chat_model.save(tmp_path / "model", card="# Card\n")
    names = load_weights(tmp_path / "model").keys()
    assert "forward.source.E_tune" in names
    assert not {"forward.target.E_tune", "forward.output.weight", "language.output.weight"} & names


def test_half_precision_scores_nearly_the_same(chat_model: ChatModel, tmp_path: Path):
    chat_model.save(tmp_path / "model", card="# Card\n", half=True)
    rows = [chat_model.forward_row(["why?"], "they are tired.")]
    loaded = ChatModel.load(tmp_path / "model")
    assert loaded.forward.output.bias.dtype == np.float32
    assert loaded.log_forward(rows) == pytest.approx(chat_model.log_forward(rows), rel=1e-2)


def test_only_the_end_is_a_special_word_of_replies():
    assert sorted([*BARRED, END_ID]) == list(range(len(CHAT_SPECIALS)))


def test_texts_without_frequent_words_are_refused(chat_config: ChatConfig):
    with pytest.raises(ValueError, match="Expected words that stand in the texts 2 times, but got none"):
        TrainableChat.of(["each word once"], chat_config, minimum=2)
