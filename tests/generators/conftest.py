"""A model of a few words, for tests of what is made of it."""

import pytest
import torch

from generators.acceptor import AcceptorConfig
from generators.chat_model import ChatConfig, ChatModel
from generators.language_model import LanguageModelConfig
from generators.persona import Persona, PersonaConfig, changed, fingerprint
from generators.quotations import Quotations
from generators.wording import Casing
from qa_core.seq2seq import END_ID, Seq2SeqConfig


@pytest.fixture
def texts() -> list[str]:
    return [
        "where do cats sleep?",
        "in the House.",
        "who sleeps in the House?",
        "my cats do.",
        "why?",
        "they are tired.",
    ]


@pytest.fixture
def chat_config() -> ChatConfig:
    """Tied word vectors, two layers, no dropout."""
    network = Seq2SeqConfig(60, dimension=6, hidden=8, layers=2, dropout=0.0, tied=True, uniform=0.5)
    language = LanguageModelConfig(60, dimension=6, hidden=8, layers=2, dropout=0.0, tied=True, uniform=0.5)
    return ChatConfig(network, language, AcceptorConfig(hidden=4), max_source=8, max_target=6)


@pytest.fixture
def chat_model(texts: list[str], chat_config: ChatConfig) -> ChatModel:
    """Random weights."""
    torch.manual_seed(2)
    return ChatModel.of(texts * 3, chat_config)


@pytest.fixture
def persona(chat_model: ChatModel) -> Persona:
    """Likes other words than its base, whose other weights it shares."""
    torch.manual_seed(5)
    bias = torch.randn(len(chat_model.vocabulary))
    bias[END_ID] = 1.5
    sentences = ["Cats sleep .", "my House ?", "who do they do ?"]
    return Persona(
        PersonaConfig("sailor", fingerprint(chat_model), weights=(1.0, 0.5)),
        chat_model,
        changed(chat_model.forward, {"output.bias": bias}),
        changed(chat_model.acceptor, {"layers.2.bias": torch.tensor([0.3])}),
        changed(chat_model.language, {"output.bias": bias.roll(-9).index_fill(0, torch.tensor(END_ID), 1.5)}),
        Quotations.of(chat_model, sentences, [("why?",)] * 3),
        Casing({"cats": "Cats"}),
    )
