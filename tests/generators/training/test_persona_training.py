import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from generators.conversation.chat_text import BARRED, ChatText
from generators.conversation.decoding import Sampling
from generators.conversation.random_stream import RandomStream
from generators.inference.acceptor import AcceptorConfig
from generators.training.chat_training import PartConfig, perplexity, train_part
from generators.training.persona_training import (
    WEIGHTS,
    MultipliedNetwork,
    Spoken,
    adapted_acceptor,
    beginning,
    known_share,
    multiplied_perplexities,
    pseudo_contexts,
    speaker_rows,
    styled_rows,
    tunable,
)
from generators.training.torch_networks import TorchNetwork
from generators.training.trainable_chat import TrainableChat
from qa_core.networks.decoder_types import END_ID
from qa_core.training.loop import Training

SPOKEN = [Spoken("my cats sleep."), Spoken("in the House?", "my cats sleep."), Spoken("!", "in the House?")]
CONFIG = PartConfig(batch=4, epochs=30, patience=30, learning_rate=0.05)


def words(model: ChatText, ids: np.ndarray) -> str:
    return " ".join(model.vocabulary.words(ids.tolist()))


def test_long_sentences_are_cut_without_an_end(trainable_chat: TrainableChat):
    assert words(trainable_chat, beginning(trainable_chat, "they are tired.")) == "they are tired . </s>"
    assert words(trainable_chat, beginning(trainable_chat, "cats " * 6)) == "cats cats cats cats cats cats </s>"
    assert words(trainable_chat, beginning(trainable_chat, "cats do " * 5)) == "cats do cats do cats do"
    assert beginning(trainable_chat, " ").tolist() == [END_ID]


def test_rows_have_drawn_contexts_or_the_previous_sentence(trainable_chat: TrainableChat):
    contexts = [("why?", "why?"), ("who sleeps?", "in the House?"), ()]
    rows = [
        (words(trainable_chat, source), words(trainable_chat, target))
        for source, target in styled_rows(trainable_chat, SPOKEN, contexts)
    ]
    assert rows[:4] == [
        ("why ?", "my cats sleep . </s>"),
        ("who sleeps ?", "in the house ? </s>"),
        ("in the house ?", "in the house ? </s>"),
        ("my cats sleep .", "in the house ? </s>"),
    ]
    assert len(rows) == 5
    assert len(speaker_rows(trainable_chat, [*SPOKEN, Spoken(" ")])) == 3


def test_share_of_known_words(trainable_chat: TrainableChat):
    assert known_share(trainable_chat, "my dogs sleep.") == 0.75
    assert known_share(trainable_chat, "") == 0


def test_contexts_are_drawn_from_the_backward_model(trainable_chat: TrainableChat):
    pairs = [("where do cats sleep?", "in the House."), ("why?", "they are tired.")]
    rows = [trainable_chat.backward_row([question], reply) for question, reply in pairs]
    module = trainable_chat.backward
    training = Training(module, torch.optim.Adam(module.parameters(), lr=0.05), seed=1)
    list(train_part(training, rows, replace(CONFIG, epochs=60, patience=60), held_out=rows))
    right: list[bool] = []
    backward = TorchNetwork(module, trainable_chat.device)
    drawn = pseudo_contexts(
        trainable_chat,
        backward,
        [reply for _, reply in pairs] * 100,
        3,
        stream=RandomStream(0),
        sampling=Sampling(temperature=0.1),
    )
    assert len(drawn) == 200
    for (question, _), texts in zip(pairs * 100, drawn, strict=True):
        assert len(texts) == 3
        right += [text.lower().rstrip("?") == question.rstrip("?") for text in texts]
    assert np.mean(right) > 0.9
    assert (
        pseudo_contexts(
            trainable_chat,
            backward,
            [],
            2,
            stream=RandomStream(0),
            sampling=Sampling(),
        )
        == []
    )


@pytest.mark.parametrize("all_words", [False, True])
def test_tuning_changes_neither_the_base_nor_by_default_its_words(trainable_chat: TrainableChat, all_words: bool):
    before = {name: tensor.clone() for name, tensor in trainable_chat.forward.state_dict().items()}
    rows = styled_rows(trainable_chat, SPOKEN[:2], [("why?",), ("who sleeps?",)])
    start = perplexity(trainable_chat.forward, rows)
    module = tunable(trainable_chat.forward, words=all_words)
    parameters = [tensor for tensor in module.parameters() if tensor.requires_grad]
    list(train_part(Training(module, torch.optim.Adam(parameters, lr=0.05), seed=1), rows, CONFIG, held_out=rows))
    assert perplexity(module, rows) < start / 3
    for name, tensor in trainable_chat.forward.state_dict().items():
        torch.testing.assert_close(tensor, before[name], rtol=0, atol=0)
    assert torch.equal(module.source.table, trainable_chat.forward.source.table) is not all_words
    assert not torch.equal(module.output.bias, trainable_chat.forward.output.bias)


def test_the_adapted_acceptor_starts_from_the_base(trainable_chat: TrainableChat):
    rows = styled_rows(trainable_chat, SPOKEN[:2], [("why?",), ("who sleeps?",)])
    features = torch.randn(4, 3)
    before = trainable_chat.acceptor(features)
    config = AcceptorConfig(hidden=4)
    adapted = adapted_acceptor(trainable_chat, trainable_chat.forward, rows * 20, config, limit=100, seed=1)
    assert not torch.equal(adapted(features), before)
    assert torch.equal(trainable_chat.acceptor(features), before)
    same = adapted_acceptor(trainable_chat, trainable_chat.forward, [], config, limit=100, seed=1)
    assert torch.equal(same(features), before)


def test_the_multiplied_network_is_the_product_of_both(trainable_chat: TrainableChat):
    rows = styled_rows(trainable_chat, SPOKEN[:1], [("why?",)])
    columns = [torch.from_numpy(array)[None] for array in (rows[0][0], rows[0][0] >= 0, rows[0][1], rows[0][1] >= 0)]
    network = MultipliedNetwork(trainable_chat.forward, trainable_chat.language, (0.5, 0.25))
    with torch.no_grad():
        p = trainable_chat.forward.token_distributions(*columns).exp() ** 0.5
        p = p * trainable_chat.language.token_distributions(*columns[2:]).exp() ** 0.25
        joint = network.token_distributions(*columns)
    torch.testing.assert_close(joint.exp(), p / p.sum(1, keepdim=True), rtol=1e-4, atol=1e-6)
    config = AcceptorConfig(hidden=4)
    adapted = [
        adapted_acceptor(trainable_chat, model, rows * 20, config, limit=100, seed=1)
        for model in (trainable_chat.forward, network)
    ]
    features = torch.randn(4, 3)
    assert not torch.equal(adapted[0](features), adapted[1](features))


def test_perplexities_of_products_by_hand(trainable_chat: TrainableChat):
    rows = styled_rows(trainable_chat, SPOKEN[:2], [("why?",), ("who sleeps?",)])
    perplexities = multiplied_perplexities(trainable_chat, trainable_chat.language, rows)
    assert len(perplexities) == len(WEIGHTS) ** 2
    total, count = 0.0, 0
    for source, target in rows:
        columns = [torch.from_numpy(array)[None] for array in (source, source >= 0, target, target >= 0)]
        with torch.no_grad():
            one = trainable_chat.forward.token_distributions(*columns)
            other = trainable_chat.language.token_distributions(*columns[2:])
        p = one.exp() ** 0.5 * other.exp() ** 0.25
        p = p / p.sum(1, keepdim=True)
        total += float(p[torch.arange(len(target)), columns[2][0]].log().sum())
        count += len(target)
    assert perplexities[0.5, 0.25] == pytest.approx(math.exp(-total / count), rel=1e-5)
    with pytest.raises(ValueError, match="Expected rows to choose the weights on"):
        multiplied_perplexities(trainable_chat, trainable_chat.language, [])


def test_contexts_have_no_special_words(trainable_chat: TrainableChat):
    backward = TorchNetwork(trainable_chat.backward, trainable_chat.device)
    drawn = pseudo_contexts(trainable_chat, backward, ["why?"], 50, stream=RandomStream(1), sampling=Sampling())
    special = set(trainable_chat.vocabulary.words(BARRED))
    assert not special & {word for texts in drawn for text in texts for word in text.split()}
