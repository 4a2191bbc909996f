from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch

from generators.conversation.chat_model import PARTS
from generators.conversation.chat_text import BARRED
from generators.conversation.padded_batches import SourceTarget
from generators.training.acceptor_training import Examples
from generators.training.chat_training import (
    PartConfig,
    acceptor_examples,
    barred,
    begin_from,
    optimiser,
    perplexity,
    train_part,
)
from generators.training.trainable_chat import TrainableChat
from qa_core.training.loop import Training

PAIRS = [
    ("where do cats sleep?", "in the House."),
    ("who sleeps in the House?", "my cats do."),
    ("why?", "they are tired."),
]
CONFIG = PartConfig(batch=2, epochs=25, patience=25, learning_rate=0.05)


@pytest.mark.parametrize("part", ["forward", "language", "backward"])
def test_each_part_learns_its_targets(trainable_chat: TrainableChat, part: str):
    make = trainable_chat.backward_row if part == "backward" else trainable_chat.forward_row
    rows = [make([question], reply) for question, reply in PAIRS]
    module = getattr(trainable_chat, part)
    before = perplexity(module, rows)
    training = Training(module, optimiser(module.parameters(), CONFIG), seed=1)
    reports = list(train_part(training, rows, CONFIG, held_out=rows))
    assert perplexity(module, rows) < 5 < 10 < before
    assert perplexity(module, rows) == pytest.approx(min(r.dev for r in reports if r.dev is not None))
    assert reports[-1].learning_rate < 0.05 * CONFIG.learning_rate


def test_perplexity_by_hand(trainable_chat: TrainableChat):
    rows = [trainable_chat.forward_row([question], reply) for question, reply in PAIRS]
    tokens = sum(len(target) for _, target in rows)
    expected = np.exp(-trainable_chat.inference().log_forward(rows).sum(dtype=np.float64) / tokens)
    assert perplexity(trainable_chat.forward, rows) == pytest.approx(expected, rel=1e-6)


def test_an_epoch_may_use_a_part_of_the_rows(trainable_chat: TrainableChat):
    rows = [trainable_chat.forward_row([question], reply) for question, reply in PAIRS]
    config = replace(CONFIG, epochs=3, rows=1)
    training = Training(trainable_chat.forward, optimiser(trainable_chat.forward.parameters(), config), seed=1)
    list(train_part(training, rows, config, held_out=rows))
    assert training.step == 3


def test_a_resumed_training_equals_an_uninterrupted_one(trainable_chat: TrainableChat, assert_resumes):
    rows = [trainable_chat.forward_row([question], reply) for question, reply in PAIRS]
    config = replace(CONFIG, epochs=4, batch=1)

    def begin():
        module = deepcopy(trainable_chat.forward)
        return module, Training(module, optimiser(module.parameters(), config), seed=1)

    def run(_, training):
        return train_part(training, rows, config, held_out=rows, report_every=1)

    assert_resumes(begin, run, step=6)


def test_training_without_examples_is_refused(trainable_chat: TrainableChat):
    training = Training(trainable_chat.forward, optimiser(trainable_chat.forward.parameters(), CONFIG), seed=1)
    with pytest.raises(ValueError, match="Expected rows to train on and to hold out, but got 0 and 0"):
        next(train_part(training, [], CONFIG, held_out=[]))


def test_later_parts_begin_from_forward(trainable_chat: TrainableChat):
    copied = begin_from(trainable_chat.language, trainable_chat.forward)
    assert set(copied) == {name for name, _ in trainable_chat.language.named_parameters()}
    torch.testing.assert_close(trainable_chat.language.words.E_tune, trainable_chat.forward.target.E_tune)
    torch.testing.assert_close(trainable_chat.language.lstm.weight_hh_l1, trainable_chat.forward.decoder.weight_hh_l1)
    # without a source, only the decoder's state affects the result
    with torch.no_grad():
        target, mask = torch.tensor([[7, 8, 3]]), torch.ones(1, 3, dtype=torch.bool)
        nothing = torch.zeros(1, 1, dtype=torch.int64)
        expected = trainable_chat.forward.token_distributions(nothing, nothing > 0, target, mask)
        torch.testing.assert_close(trainable_chat.language.token_distributions(target, mask), expected)
    begin_from(trainable_chat.backward, trainable_chat.forward)
    rows = [trainable_chat.forward_row(["why?"], "they are tired.")]
    model = trainable_chat.inference()
    assert model.log_backward(rows).tolist() == model.log_forward(rows).tolist()


def examples_of(model: TrainableChat, rows: list[SourceTarget], **options: int) -> Examples:
    generator = torch.Generator().manual_seed(1)
    return acceptor_examples(model.forward, model.language, rows, generator=generator, **options)


def test_examples_are_pairs_of_true_and_drawn_words(trainable_chat: TrainableChat):
    rows = [trainable_chat.forward_row([question], reply) for question, reply in PAIRS]
    words = sum(len(target) for _, target in rows)
    examples = examples_of(trainable_chat, rows)
    assert examples.features.shape == (2 * words, 3)
    assert examples.right.tolist() == [1.0, 0.0] * words
    assert examples.features.isfinite().all()
    torch.testing.assert_close(examples.features[0::2, 1], examples.features[1::2, 1])  # one step's entropy
    again = examples_of(trainable_chat, rows)
    assert torch.equal(examples.features, again.features)
    assert len(examples_of(trainable_chat, rows, limit=4)) == 8
    assert len(examples_of(trainable_chat, [])) == 0


def test_unknown_words_are_not_examples(trainable_chat: TrainableChat):
    rows = [trainable_chat.forward_row(["why?"], "zebras are tired")]
    assert len(examples_of(trainable_chat, rows)) == 2 * 3


def test_the_probability_of_barred_words_goes_to_the_others():
    log_p = barred(torch.zeros(2, 9).log_softmax(1))
    assert (log_p[:, list(BARRED)] == -torch.inf).all()
    torch.testing.assert_close(log_p.exp().sum(1), torch.ones(2))


def test_the_acceptor_stays_beside_its_features(trainable_chat: TrainableChat):
    moved = trainable_chat.to(torch.device("meta"))
    networks = {name: next(getattr(moved, name).parameters()).device.type for name in PARTS}
    assert networks == {"forward": "meta", "backward": "meta", "language": "meta", "acceptor": "cpu"}
    assert moved.device.type == "meta"
