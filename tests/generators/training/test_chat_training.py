from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from generators.conversation.chat_model import BARRED, ChatModel
from generators.training.chat_training import (
    PartConfig,
    acceptor_examples,
    barred,
    begin_from,
    optimiser,
    perplexity,
    train_part,
)
from qa_core.training.loop import Training
from qa_core.training.resume import load_training, save_training

PAIRS = [
    ("where do cats sleep?", "in the House."),
    ("who sleeps in the House?", "my cats do."),
    ("why?", "they are tired."),
]
CONFIG = PartConfig(batch=2, epochs=25, patience=25, learning_rate=0.05)


@pytest.mark.parametrize("part", ["forward", "language", "backward"])
def test_each_part_learns_its_targets(chat_model: ChatModel, part: str):
    make = chat_model.backward_row if part == "backward" else chat_model.forward_row
    rows = [make([said], reply) for said, reply in PAIRS]
    module = getattr(chat_model, part)
    before = perplexity(module, rows)
    training = Training(module, optimiser(module.parameters(), CONFIG), seed=1)
    reports = list(train_part(training, rows, CONFIG, held_out=rows))
    assert perplexity(module, rows) < 5 < 10 < before
    assert perplexity(module, rows) == pytest.approx(min(r.dev for r in reports if r.dev is not None))
    assert reports[-1].learning_rate < 0.05 * CONFIG.learning_rate


def test_perplexity_by_hand(chat_model: ChatModel):
    rows = [chat_model.forward_row([said], reply) for said, reply in PAIRS]
    tokens = sum(len(target) for _, target in rows)
    expected = np.exp(-chat_model.log_forward(rows).sum(dtype=np.float64) / tokens)
    assert perplexity(chat_model.forward, rows) == pytest.approx(expected, rel=1e-6)


def test_an_epoch_may_be_a_part_of_the_rows(chat_model: ChatModel):
    rows = [chat_model.forward_row([said], reply) for said, reply in PAIRS]
    config = replace(CONFIG, epochs=3, rows=1)
    training = Training(chat_model.forward, optimiser(chat_model.forward.parameters(), config), seed=1)
    list(train_part(training, rows, config, held_out=rows))
    assert training.step == 3


def test_a_resumed_part_ends_as_an_uninterrupted_one(chat_model: ChatModel, tmp_path: Path):
    rows = [chat_model.forward_row([said], reply) for said, reply in PAIRS]
    config = replace(CONFIG, epochs=4, batch=1)
    start = {name: tensor.clone() for name, tensor in chat_model.forward.state_dict().items()}

    def run(stop: int | None = None) -> dict[str, torch.Tensor]:
        training = Training(chat_model.forward, optimiser(chat_model.forward.parameters(), config), seed=1)
        if (tmp_path / "run").exists():
            load_training(tmp_path / "run", training)
        for number, _ in enumerate(train_part(training, rows, config, held_out=rows, report_every=1), 1):
            if number == stop:
                save_training(tmp_path / "run", training)
                break
        return {name: tensor.clone() for name, tensor in chat_model.forward.state_dict().items()}

    whole = run()
    chat_model.forward.load_state_dict(start)
    run(stop=6)
    chat_model.forward.load_state_dict(start)
    resumed = run()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_nothing_to_learn_from_is_refused(chat_model: ChatModel):
    training = Training(chat_model.forward, optimiser(chat_model.forward.parameters(), CONFIG), seed=1)
    with pytest.raises(ValueError, match="Expected rows to train on and to hold out, but got 0 and 0"):
        next(train_part(training, [], CONFIG, held_out=[]))


def test_later_parts_begin_with_the_words_of_forward(chat_model: ChatModel):
    copied = begin_from(chat_model.language, chat_model.forward)
    assert set(copied) == {name for name, _ in chat_model.language.named_parameters()}
    torch.testing.assert_close(chat_model.language.words.E_tune, chat_model.forward.target.E_tune)
    torch.testing.assert_close(chat_model.language.lstm.weight_hh_l1, chat_model.forward.decoder.weight_hh_l1)
    # without a source the decoder's own state alone is heard
    with torch.no_grad():
        target, mask = torch.tensor([[7, 8, 3]]), torch.ones(1, 3, dtype=torch.bool)
        nothing = torch.zeros(1, 1, dtype=torch.int64)
        told = chat_model.forward.token_log_likelihood(nothing, nothing > 0, target, mask)
        torch.testing.assert_close(chat_model.language.token_log_likelihood(target, mask), told)
    begin_from(chat_model.backward, chat_model.forward)
    rows = [chat_model.forward_row(["why?"], "they are tired.")]
    assert chat_model.log_backward(rows).tolist() == chat_model.log_forward(rows).tolist()


def test_examples_are_true_words_beside_drawn_ones(chat_model: ChatModel):
    rows = [chat_model.forward_row([said], reply) for said, reply in PAIRS]
    words = sum(len(target) for _, target in rows)
    examples = acceptor_examples(chat_model, rows, generator=torch.Generator().manual_seed(1))
    assert examples.features.shape == (2 * words, 3)
    assert examples.right.tolist() == [1.0, 0.0] * words
    assert examples.features.isfinite().all()
    torch.testing.assert_close(examples.features[0::2, 1], examples.features[1::2, 1])  # one step's entropy
    again = acceptor_examples(chat_model, rows, generator=torch.Generator().manual_seed(1))
    assert torch.equal(examples.features, again.features)
    assert len(acceptor_examples(chat_model, rows, generator=torch.Generator(), limit=4)) == 8
    assert len(acceptor_examples(chat_model, [], generator=torch.Generator())) == 0


def test_unknown_words_are_no_examples(chat_model: ChatModel):
    rows = [chat_model.forward_row(["why?"], "zebras are tired")]
    assert len(acceptor_examples(chat_model, rows, generator=torch.Generator())) == 2 * 3


def test_barred_words_leave_their_probability_to_the_others():
    log_p = barred(torch.zeros(2, 9).log_softmax(1))
    assert (log_p[:, list(BARRED)] == -torch.inf).all()
    torch.testing.assert_close(log_p.exp().sum(1), torch.ones(2))
