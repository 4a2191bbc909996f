import math
import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from qa_core.training.loop import Training, restore_best, seed_everything, train
from qa_core.training.resume import load_training, save_training

X = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = torch.tensor([0.0, 1.0, 1.0, 0.0])


def made(seed=1, *, dropout=0.0, rate=0.05):
    seed_everything(seed)
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Dropout(dropout), nn.Linear(16, 1))
    return Training(model, torch.optim.Adam(model.parameters(), lr=rate), seed=seed)


def shuffled(_epoch, rng):
    for _ in range(5):
        order = torch.from_numpy(rng.permutation(4))
        yield X[order], Y[order]


def loss(model, batch):
    x, y = batch
    return functional.binary_cross_entropy_with_logits(model(x).squeeze(-1), y)


def accuracy(model):
    assert not model.training
    assert not torch.is_grad_enabled()
    return float(((model(X).squeeze(-1) > 0) == (Y > 0)).float().mean())


def weights(training):
    return torch.cat([parameter.detach().flatten() for parameter in training.model.parameters()]).clone()


def test_overfits_a_toy_task():
    training = made()
    reports = list(train(training, shuffled, loss, epochs=40, evaluate=accuracy, clip=5.0))
    assert accuracy_of(training) == 1.0
    assert reports[-1].loss < 0.1 < reports[0].loss
    assert (reports[-1].epoch, reports[-1].step) == (40, 200)
    assert training.history == reports


def accuracy_of(training):
    training.model.eval()
    with torch.no_grad():
        return accuracy(training.model)


def test_reports_every_so_many_steps_and_at_the_end_of_an_epoch():
    reports = list(train(made(), shuffled, loss, epochs=2, report_every=2, evaluate=accuracy))
    assert [(r.epoch, r.step, r.dev is not None) for r in reports] == [
        *((1, 2, False), (1, 4, False), (1, 5, True)),
        *((2, 6, False), (2, 8, False), (2, 10, False), (2, 10, True)),
    ]
    assert reports[-1].loss == reports[-2].loss
    assert all(r.examples_per_second > 0 for r in reports)
    assert reports[0].eta_seconds is None
    assert reports[2].eta_seconds > 0
    assert reports[-1].eta_seconds == 0


def test_loss_is_the_mean_since_the_last_report():
    values = iter([1.0, 3.0, 5.0])

    def falling(model, _batch):
        return model[0].weight.sum() * 0 + next(values)

    batches = [[X]] * 3
    reports = list(train(made(), lambda *_: batches, falling, epochs=1, report_every=2))
    assert [r.loss for r in reports] == [2.0, 5.0]


def test_eta_is_known_from_the_start_where_the_length_is():
    first = next(train(made(), shuffled, loss, epochs=2, report_every=1, steps_per_epoch=5, size=lambda _: 4))
    assert first.eta_seconds > 0


def scripted(measures, mode="max", patience=2):
    training, measured, seen = made(), iter(measures), []

    def evaluate(_model):
        seen.append(weights(training))
        return next(measured)

    reports = list(train(training, shuffled, loss, epochs=6, evaluate=evaluate, mode=mode, patience=patience))
    return training, reports, seen


@pytest.mark.parametrize(
    ("measures", "mode", "best", "last"),
    [
        ([0.1, 0.5, 0.4, 0.5, 0.9, 0.9], "max", 2, 4),  # no better than epoch 2 for two epochs
        ([0.1, 0.5, 0.4, 0.6, 0.6, 0.7], "max", 6, 6),
        ([3.0, 1.0, 2.0, 0.5, 0.7, 0.6], "min", 4, 6),
        ([math.nan, 0.2, math.nan, 0.1], "max", 2, 4),
    ],
)
def test_early_stopping_keeps_the_best_epoch(measures, mode, best, last):
    training, reports, seen = scripted(measures, mode)
    assert training.best.epoch == best
    assert reports[-1].epoch == last
    assert weights(training).equal(seen[best - 1])
    assert [r.epoch for r in reports if r.best][-1] == best


def test_a_measure_that_is_never_a_number_stops_too():
    training, reports, _ = scripted([math.nan] * 6)
    assert reports[-1].epoch == 2
    assert training.best is None


def test_best_weights_can_be_restored_after_a_break():
    training, measured = made(), iter([1.0, 0.0])
    for progress in train(training, shuffled, loss, epochs=9, evaluate=lambda _: next(measured)):
        if progress.best:
            best = weights(training)
        else:
            break
    assert not weights(training).equal(best)
    restore_best(training)
    assert weights(training).equal(best)


def test_seeds_reproduce_and_differ():
    def run(seed):
        training = made(seed, dropout=0.3)
        return [r.loss for r in train(training, shuffled, loss, epochs=3)], weights(training)

    (losses, trained), (again, trained_again), (other, _) = run(1), run(1), run(2)
    assert losses == again
    assert trained.equal(trained_again)
    assert losses != other


@pytest.mark.parametrize("stop_at", [1, 4, 5, 7, 10, 13])
@pytest.mark.parametrize("optimiser", [torch.optim.Adam, torch.optim.Adagrad, torch.optim.SGD])
def test_a_resumed_run_is_the_uninterrupted_run(tmp_path, stop_at, optimiser):
    def fresh():
        training = made(dropout=0.3)
        momentum = {"momentum": 0.9} if optimiser is torch.optim.SGD else {}
        training.optimiser = optimiser(training.model.parameters(), lr=0.05, **momentum)
        return training

    def run(training):
        options = {"evaluate": accuracy, "schedule": lambda step: 1 / (step + 1), "clip": 1.0, "report_every": 1}
        return train(training, shuffled, noisy, epochs=3, **options)

    def noisy(model, batch):
        return loss(model, batch) * (random.random() + np.random.random() + 0.1)

    whole, part, rest = fresh(), fresh(), fresh()
    expected = list(run(whole))
    for progress in run(part):
        if progress.step == stop_at:
            save_training(tmp_path / "run", part)
            break
    seed_everything(99)
    load_training(tmp_path / "run", rest)
    list(run(rest))
    assert weights(rest).equal(weights(whole))
    same = [(r.step, r.loss, r.learning_rate, r.dev, r.best) for r in rest.history]
    assert same == [(r.step, r.loss, r.learning_rate, r.dev, r.best) for r in expected]
    assert rest.best.epoch == whole.best.epoch


def test_a_run_out_of_patience_stays_so_when_resumed(tmp_path):
    training, measured = made(), iter([1.0, 0.0])
    for _ in train(training, shuffled, loss, epochs=9, evaluate=lambda _: next(measured), patience=1):
        save_training(tmp_path, training)
    resumed = made()
    load_training(tmp_path, resumed)
    assert list(train(resumed, shuffled, loss, epochs=9, evaluate=accuracy, patience=1)) == []
    assert weights(resumed).equal(weights(training))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_no_number_stops_with_its_place(bad):
    values = iter([1.0] * 6 + [bad])

    def breaking(model, batch):
        return loss(model, batch) * next(values)

    with pytest.raises(FloatingPointError, match=f"finite loss, but got {bad} at step 7 in epoch 2 with .* rate 0.05"):
        list(train(made(), shuffled, breaking, epochs=2))


def test_a_gradient_that_is_no_number_stops_before_it_is_applied():
    def steep(model, _batch):
        return torch.sqrt(model[0].weight.sum() * 0)  # 0 with an infinite slope, times 0

    training = made()
    before = weights(training)
    with pytest.raises(FloatingPointError, match="finite gradient norm, but got nan at step 1"):
        list(train(training, shuffled, steep, epochs=1, clip=1.0))
    assert weights(training).equal(before)


def test_clipping_bounds_the_step():
    model = nn.Linear(1, 1, bias=False)
    training = Training(model, torch.optim.SGD(model.parameters(), lr=1.0), seed=0)
    before = weights(training)
    list(train(training, lambda *_: [[0]], lambda m, _: m.weight.sum() * 1000, epochs=1, clip=0.5))
    torch.testing.assert_close(weights(training), before - 0.5)


def test_no_batches_and_no_measure_are_named():
    with pytest.raises(ValueError, match="got none in epoch 1"):
        list(train(made(), lambda *_: [], loss, epochs=1))
    with pytest.raises(ValueError, match="pass evaluate"):
        list(train(made(), shuffled, loss, epochs=1, patience=3))
