from dataclasses import replace

import numpy as np
import pytest
import torch

from qa_core.training.loop import Training
from qa_core.training.pair_classifier import LabelledPairs
from rankers.training.paraphrase_training import (
    ParaphraseConfig,
    read_pairs,
    refresh_batch_norm,
    train_paraphrase,
    with_identical,
)

TRAINING = ParaphraseConfig(batch=6, epochs=12, patience=12, learning_rate=0.02, identical=3)


def test_a_resumed_run_ends_with_the_same_model(word_pairs, toy_pairs, assert_resumes):
    config = replace(TRAINING, epochs=3, warm_up=0.1)

    def begin():
        scorer = word_pairs(dropout=0.2)
        return scorer, Training(scorer.model, torch.optim.Adam(scorer.model.parameters(), lr=0.02), seed=1)

    assert_resumes(
        begin, lambda scorer, training: train_paraphrase(training, scorer, toy_pairs, config, report_every=1), step=5
    )


def test_identical_questions_are_further_positives(toy_pairs):
    more = with_identical(toy_pairs, 4, np.random.default_rng(0))
    assert len(more) == len(toy_pairs) + 4
    assert more.pairs[: len(toy_pairs)] == toy_pairs.pairs
    same = more.pairs[len(toy_pairs) :]
    assert all(first == second for first, second in same)
    assert len(set(same)) == 4
    assert all(more.labels[len(toy_pairs) :])
    distinct = len({text for pair in toy_pairs.pairs for text in pair})
    assert len(with_identical(toy_pairs, 20_000, np.random.default_rng(0))) == len(toy_pairs) + distinct


def test_pairs_of_one_label_are_refused(word_pairs):
    scorer, same = word_pairs(), LabelledPairs((("a", "b"),), (True,))
    training = Training(scorer.model, torch.optim.Adam(scorer.model.parameters()), seed=1)
    with pytest.raises(ValueError, match="all 1 have the label True"):
        next(train_paraphrase(training, scorer, same, TRAINING))


def test_batch_norm_takes_the_statistics_of_evaluation(word_pairs, toy_pairs):
    scorer = word_pairs(dropout=0.5)
    texts, rows = read_pairs(scorer, toy_pairs)
    norms = [layer for layer in scorer.model.modules() if isinstance(layer, torch.nn.BatchNorm1d)]
    seen = []
    hook = norms[0].register_forward_hook(lambda _layer, inputs, _outputs: seen.append(inputs[0]))
    refresh_batch_norm(scorer, texts, rows, np.random.default_rng(0))
    hook.remove()
    (states,) = seen  # (2B, H), of a single batch
    torch.testing.assert_close(norms[0].running_mean, states.mean(0))
    torch.testing.assert_close(norms[0].running_var, states.var(0))
    assert {layer.momentum for layer in norms} == {0.1}
    before = {name: value.clone() for name, value in scorer.model.state_dict().items()}
    refresh_batch_norm(scorer, texts, rows, np.random.default_rng(1))
    for name, value in scorer.model.state_dict().items():
        torch.testing.assert_close(value, before[name])
