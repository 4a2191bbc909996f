from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.training.loop import Training, seed_everything
from retrievers.training.bi_encoder import BiEncoderConfig, loss_of, optimiser, train_bi_encoder
from retrievers.training.encoders.static_tower import StaticConfig, StaticTower
from retrievers.training.examples import Examples, Pair
from retrievers.training.slam import measured

CONFIG = BiEncoderConfig(batch=4, temperature=0.1, learning_rate=0.1, epochs=30)
R = torch.tensor([[0.5, 0.1], [0.4, 0.2]])
ALL = torch.ones(2, 2, dtype=torch.bool)


def tower(folder: Path) -> StaticTower:
    seed_everything(1)
    return StaticTower.of(folder, (), StaticConfig(dropout=0.1))


def trained(made: StaticTower, examples: Examples, config: BiEncoderConfig = CONFIG, **options) -> Training:
    training = Training(made.model, optimiser(made, config), seed=1)
    for _ in train_bi_encoder(training, made, examples, config, **options):
        pass
    return training


def test_losses_by_hand():
    # −log(e^1 / (e^1 + e^.2)) and −log(e^.4 / (e^.8 + e^.4)), at temperature ½
    softmax = np.mean([np.log1p(np.exp(0.2 - 1.0)), np.log1p(np.exp(0.8 - 0.4))])
    assert float(loss_of(replace(CONFIG, temperature=0.5), R, ALL)) == pytest.approx(softmax, abs=1e-6)
    # .5 − .5 + .1 and .5 − .2 + .4
    assert float(loss_of(replace(CONFIG, loss="triplet"), R, ALL)) == pytest.approx(0.4, abs=1e-6)


def test_the_loss_against_finite_differences():
    r = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    allowed = torch.ones(3, 3, dtype=torch.bool)
    assert torch.autograd.gradcheck(lambda cells: loss_of(CONFIG, cells, allowed), (r,))


@pytest.mark.parametrize("loss", ["softmax", "triplet"])
def test_the_toy_task_is_learned(toy: Examples, tiny_static: Path, loss):
    made = tower(tiny_static)
    assert measured(made, toy).success < 0.8
    trained(made, toy, replace(CONFIG, loss=loss, triplet_margin=1.0, epochs=60))
    assert measured(made, toy).success >= 0.8  # bamboo has no vector


def test_training_ends_with_the_weights_of_the_lowest_held_out_loss(toy: Examples, tiny_static: Path):
    shifted = Examples.of(
        Pair(question, answer) for question, answer in zip(toy.questions, np.roll(toy.answers, 1), strict=True)
    )
    made = tower(tiny_static)
    training = trained(made, toy, replace(CONFIG, epochs=10), held_out=shifted)
    losses = [progress.dev for progress in training.history if progress.dev is not None]
    assert training.best is not None
    assert training.best.dev == min(losses) < losses[-1]
    patient = trained(tower(tiny_static), toy, replace(CONFIG, epochs=10, patience=2), held_out=shifted)
    assert patient.epoch == training.best.epoch + 2


def test_a_resumed_run_ends_with_the_same_model(toy: Examples, tiny_static: Path, assert_resumes):
    config = replace(CONFIG, epochs=4)

    def begin():
        made = tower(tiny_static)
        return made, Training(made.model, optimiser(made, config), seed=1)

    assert_resumes(begin, lambda made, training: train_bi_encoder(training, made, toy, config, report_every=1), step=3)


def test_a_batch_is_at_most_all_of_the_data(toy: Examples, tiny_static: Path):
    assert trained(tower(tiny_static), toy, replace(CONFIG, batch=1000, epochs=2)).step == 2
