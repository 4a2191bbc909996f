"""The numpy networks equal the torch networks within 1e-5."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from generators.conversation.chat_model import ChatModel, shapes_of
from generators.conversation.padded_batches import columns
from generators.inference.activations import log_softmax
from generators.inference.encoder_decoder import EncoderDecoder
from generators.inference.language_model import LanguageModel, LanguageModelConfig
from generators.training.language_network import LanguageNetwork
from generators.training.torch_networks import arrays
from qa_core.networks.decoder_types import END_ID, START_ID, Seq2SeqConfig
from qa_core.networks.seq2seq import Seq2Seq

SMALL = Seq2SeqConfig(9, dimension=4, hidden=6, layers=2, dropout=0.3, uniform=0.6)
KINDS = {
    "plain": SMALL,
    "tied": replace(SMALL, tied=True, layers=1),
    "bidirectional": replace(SMALL, bidirectional=True),
    "pretrained": replace(SMALL, pretrained=True),
    "topics": replace(SMALL, topics=5),
    "mapped topics": replace(SMALL, topics=5, topic_width=3),
}
ROWS = [
    (np.array([5, 6, 7]), np.array([8, 4, END_ID])),
    (np.array([], dtype=np.int64), np.array([5, END_ID])),
    (np.array([8]), np.array([END_ID])),
]
LANGUAGE = LanguageModelConfig(9, dimension=4, hidden=6, layers=2, dropout=0.3, uniform=0.6)


def both(config: Seq2SeqConfig) -> tuple[Seq2Seq, EncoderDecoder]:
    torch.manual_seed(3)
    module = Seq2Seq(config).eval()
    for name, buffer in module.named_buffers():
        assert name.endswith("E_pre")
        buffer.normal_()
    return module, EncoderDecoder(config, arrays(module))


def tensors(*values):
    return [torch.from_numpy(value) for value in values]


def close(value: np.ndarray, tensor: torch.Tensor) -> None:
    np.testing.assert_allclose(value, tensor.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
def test_the_encoder_decoder_equals_its_torch_network(config: Seq2SeqConfig):
    module, network = both(config)
    batch, topic = columns(ROWS), None
    if config.topics:
        topic = np.random.default_rng(1).dirichlet([1.0] * config.topics, size=len(ROWS)).astype(np.float32)
    extra = [] if topic is None else tensors(topic)
    with torch.no_grad():
        close(network.log_likelihood(*batch, topic), module.log_likelihood(*tensors(*batch), *extra))
        close(network.before_softmax(*batch), module.before_softmax(*tensors(*batch)))
        state, torch_state = network.start(*batch[:2], topic), module.start(*tensors(*batch[:2]), *extra)
        picked, tokens = np.array([2, 0, 0, 1]), np.array([START_ID, 4, 5, 8])
        state, torch_state = state.select(picked), torch_state.select(*tensors(picked))
        for _ in range(2):
            logits, state = network.step(state, tokens)
            expected, torch_state = module.step(torch_state, *tensors(tokens))
            close(logits, expected)


@pytest.mark.parametrize("tied", [False, True])
def test_the_language_model_equals_its_torch_network(tied: bool):
    torch.manual_seed(3)
    config = replace(LANGUAGE, tied=tied)
    module = LanguageNetwork(config).eval()
    network = LanguageModel(config, arrays(module))
    target, mask = columns(ROWS)[2:]
    with torch.no_grad():
        close(network.log_likelihood(target, mask), module.log_likelihood(*tensors(target, mask)))
        dense = module.token_distributions(*tensors(target[:1], mask[:1]))
    state, before = network.start(2), START_ID
    for position, word in enumerate(ROWS[0][1].tolist()):
        logits, state = network.step(state, np.array([before, before]))
        close(log_softmax(logits)[1], dense[position])
        before = word
        state = state.select(np.array([1, 1]))


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
def test_scores_do_not_depend_on_the_batch(config: Seq2SeqConfig):
    _, network = both(config)
    alone = [network.log_likelihood(*columns([row]))[0] for row in ROWS]
    assert network.log_likelihood(*columns(ROWS)).tolist() == pytest.approx(alone, abs=1e-5)


def test_a_topic_distribution_of_wrong_size_is_refused():
    _, network = both(KINDS["topics"])
    source, mask = columns(ROWS)[:2]
    with pytest.raises(ValueError, match=r"Expected a distribution over topics of shape \(3, 5\), but got \(3, 4\)"):
        network.start(source, mask, np.full((3, 4), 0.25, dtype=np.float32))


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
def test_expected_shapes_equal_those_of_the_torch_networks(chat_model: ChatModel, config: Seq2SeqConfig):
    text = replace(chat_model.config, network=config, language=LANGUAGE)
    parts = {"forward": Seq2Seq(config), "backward": Seq2Seq(replace(config, topics=0, topic_width=0))}
    parts |= {"language": LanguageNetwork(LANGUAGE)}
    shapes = {name: shape for name, shape in shapes_of(text).items() if not name.startswith("acceptor")}
    assert shapes == {f"{part}.{name}": a.shape for part, module in parts.items() for name, a in arrays(module).items()}
    assert shapes_of(chat_model.config) == {name: array.shape for name, array in chat_model.weights().items()}


def test_a_vocabulary_of_special_words_only_is_refused():
    with pytest.raises(ValueError, match="Expected words beside the 4 special ones, but got a vocabulary of 4"):
        LanguageModelConfig(4)
