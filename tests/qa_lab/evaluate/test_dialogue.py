import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from generators.conversation.chat_text import ChatConfig
from generators.inference.language_model import LanguageModelConfig
from generators.training.trainable_chat import TrainableChat
from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_core.networks.seq2seq import Seq2Seq
from qa_lab.evaluate import dialogue
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.dialogue import distinct, evaluate_dialogue
from qa_lab.evaluate.report import as_json

WORDS = [a + b for a in "bcdfghk" for b in ("an", "en", "in", "on", "un", "at")]


@pytest.fixture(autouse=True)
def few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialogue, "CONTEXTS", 3)
    monkeypatch.setattr(dialogue, "SAMPLES", 4)


@pytest.fixture
def data(write_lines: Callable[..., Path]) -> Path:
    """Replies repeat the word of their context."""
    return write_lines("echo.jsonl", *({"turns": [word, word]} for word in WORDS))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model whose backward part tells the word that it has read last: its decoder hears of nothing else."""
    torch.manual_seed(1)
    size = len(WORDS) + 5
    network = Seq2SeqConfig(size, dimension=size, hidden=size, layers=1, dropout=0.0, uniform=0.01)
    language = LanguageModelConfig(size, dimension=4, hidden=4, layers=1, dropout=0.0)
    made = TrainableChat.of(WORDS, ChatConfig(network, language))
    with torch.no_grad():
        copies(made.backward)
    made.inference().save(tmp_path / "model", card="# Card\n")
    return tmp_path / "model"


def copies(network: Seq2Seq) -> None:
    """Word w is dimension w of the encoder's states, of the context, and of the softmax."""
    size = network.config.hidden
    network.source.table.copy_(torch.eye(size))
    for name, parameter in network.encoder.named_parameters():
        parameter.zero_()
        if name.startswith("weight_ih"):
            parameter[2 * size : 3 * size] = 3 * torch.eye(size)  # the cell is what is read
        elif name.startswith("bias_ih"):
            parameter.fill_(5.0)  # all gates are open
            parameter[2 * size : 3 * size] = 0.0
    network.attention.W_c.weight.zero_()
    network.attention.W_c.weight[:, :size] = torch.eye(size)
    network.output.weight.copy_(12 * torch.eye(size))


def test_a_model_that_knows_finds_the_true_reply(data: Path, model: Path):
    rows = {row.engine: row for row in evaluate_dialogue(data, models=[model], limit=30)}
    assert list(rows) == ["forward", "forward/LM", "backward", "vanilla sampling", "selective sampling"]
    assert rows["backward"].scores["RR"].mean > 0.9
    assert rows["forward"].scores["RR"].mean < 0.5
    assert rows["backward"].versus is not None
    assert rows["backward"].versus.difference > 0.4
    assert rows["backward"].scores["perplexity"].mean < rows["forward"].scores["perplexity"].mean
    text_ = rows["selective sampling"].scores
    assert 0 < text_["distinct-2"].mean <= 1
    assert math.isnan(text_["RR"].mean)
    payload = as_json(list(rows.values()))
    assert payload["models"][3]["RR"] is None


def test_only_held_out_data(data: Path, model: Path):
    rows = evaluate_dialogue(data, models=[model], held_out=0.7)
    assert 20 <= rows[0].queries < len(WORDS)
    assert rows[0].split == "0.7 kept aside"


def test_too_little_to_choose_from(data: Path, model: Path):
    with pytest.raises(DatasetError, match="Expected 20 replies to rank, but got 5"):
        evaluate_dialogue(data, models=[model], limit=5)
    with pytest.raises(DatasetError, match="Expected --model DIR, a chat model, but got none"):
        evaluate_dialogue(data, models=[])


def test_distinct_by_hand():
    assert distinct([(1, 2, 3), (1, 2), (4,)]) == 2 / 3
    assert distinct([(1, 2, 1), (1,)], size=1) == 2 / 4
    assert math.isnan(distinct([(1,), ()]))


def test_on_the_command_line(qa_bot, data: Path, model: Path):
    done = qa_bot("eval", "dialogue", "--data", data, "--model", model, "--limit", "25", "--json")
    assert done.code == 0, done.err
    assert done.json["models"][2]["engine"] == "backward"
