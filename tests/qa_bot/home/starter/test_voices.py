"""The shipped personas: size, model cards, replies, and equality of NumPy and PyTorch."""

from pathlib import Path

import numpy as np
import pytest
import torch

from generators.conversation.chat_model import ChatModel
from generators.conversation.padded_batches import columns
from generators.training.torch_networks import evaluating
from generators.training.trainable_chat import TrainableChat
from qa_bot.answering.models.personas import SHIPPED, PersonaStore
from qa_bot.home.sections import StyleSection
from qa_core.networks.decoder_types import START_ID

MAX_BYTES = 40_000_000
"""Bytes of all files."""
CATS = "Why do cats sleep all day?"


@pytest.fixture(scope="module")
def voices(tmp_path_factory: pytest.TempPathFactory) -> PersonaStore:
    return PersonaStore(tmp_path_factory.mktemp("none"), StyleSection())


def test_two_small_personas(voices: PersonaStore):
    assert voices.names == ("captain", "gardener")
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < MAX_BYTES
    assert {path.suffix for path in SHIPPED.rglob("*") if path.is_file()} == {".safetensors", ".json", ".txt", ".md"}


@pytest.mark.parametrize("name", ["base", "captain", "gardener"])
def test_model_cards(name: str):
    card = (SHIPPED / name / "README.md").read_text()
    for word in ("| data |", "| seed |", "perplexity", "Apache License 2.0"):
        assert word in card


def test_replies_are_quotations_or_generated(voices: PersonaStore):
    lines = voices.say("captain", ["Good morning!"], 60).lines
    assert {line.kind for line in lines} == {"quotation", "generated"}
    sentences = (SHIPPED.parent / "personas" / "captain.txt").read_text().splitlines()
    assert {line.text for line in lines if line.kind == "quotation"} <= set(sentences)
    drawn = [line.text for line in lines if line.kind == "generated"]
    assert all(text not in sentences and text.isascii() for text in drawn)
    assert voices.chart("the sea").notice is None


def tensors(*values):
    return [torch.from_numpy(value) for value in values]


def close(value: np.ndarray, tensor: torch.Tensor) -> None:
    np.testing.assert_allclose(value, tensor.numpy(), rtol=1e-5, atol=1e-5)


def test_numpy_equals_torch():
    """Within 1e-5, for every network of the shipped base."""
    model = ChatModel.load(SHIPPED / "base")
    trainable = TrainableChat.copy_of(model)
    pairs = [(["Why do cats sleep all day?"], "They are tired."), (["Hello!", "How are you?"], "Well, thank you.")]
    for name, rows in (
        ("forward", [model.forward_row(*pair) for pair in pairs]),
        ("backward", [model.backward_row(*pair) for pair in pairs]),
    ):
        network, module, batch = getattr(model, name), getattr(trainable, name), columns(rows)
        with evaluating(module):
            close(network.log_likelihood(*batch), module.log_likelihood(*tensors(*batch)))
            logits, _ = network.step(network.start(*batch[:2]), np.full(2, START_ID))
            close(logits, module.step(module.start(*tensors(*batch[:2])), torch.full((2,), START_ID))[0])
    target, mask = columns([model.language_row(reply) for _, reply in pairs])[2:]
    with evaluating(trainable.language):
        close(model.language.log_likelihood(target, mask), trainable.language.log_likelihood(*tensors(target, mask)))
        features = np.random.default_rng(1).standard_normal((5, 2, 3)).astype(np.float32) * 3 - 4
        expected = torch.nn.functional.logsigmoid(trainable.acceptor(torch.from_numpy(features))).detach()
        close(model.acceptor(features), expected)


def test_styled_answer_on_first_run(tmp_path: Path, qa_bot_process):
    plain = qa_bot_process("ask", CATS, "--json").json
    styled = qa_bot_process("ask", CATS, "--json", "--persona", "gardener", "--deadline", "60").json
    assert (styled["kind"], styled["answered"]) == ("styled", True)
    start, end = styled["styled"]["span"]
    assert styled["answer"][start:end] == styled["styled"]["lines"][0]["text"]
    assert styled["answer"][end:] == f"\n\n{plain['answer']}"
    for source in styled["sources"]:
        if source["span"]:
            (a, b), (c, d) = source["span"], source["source_span"]
            assert styled["answer"][a:b] == source["text"][c:d]
