import json

import pytest
import torch
from torch import nn

from qa_core.training.loop import Training, train
from qa_core.training.resume import STATE, TENSORS, load_training, save_training


def made(size=2, seed=3):
    model = nn.Linear(size, 1)
    return Training(model, torch.optim.Adam(model.parameters()), seed=seed)


@pytest.fixture
def saved(tmp_path):
    training = made()
    batches, loss = [torch.ones(4, 2)], lambda model, x: model(x).square().mean()
    for _ in train(training, lambda *_: batches, loss, epochs=2, evaluate=lambda _: 1.0):
        save_training(tmp_path / "run", training)
    return tmp_path / "run"


def test_the_seed_is_recorded(saved):
    assert json.loads((saved / STATE).read_text())["seed"] == 3


def test_everything_comes_back(saved):
    training = made()
    load_training(saved, training)
    assert (training.epoch, training.batch, training.step) == (2, 0, 2)
    assert training.best.epoch == 1
    assert set(training.best.weights) == {"weight", "bias"}
    assert [progress.epoch for progress in training.history] == [1, 2]
    moments = training.optimiser.state_dict()["state"]
    assert set(moments[0]) == {"step", "exp_avg", "exp_avg_sq"}
    assert training.optimiser.state_dict()["param_groups"][0]["betas"] == (0.9, 0.999)


def test_another_seed_or_model_is_refused(saved):
    with pytest.raises(ValueError, match="Expected a run with seed 4, but got 3"):
        load_training(saved, made(seed=4))
    with pytest.raises(ValueError, match=r"Expected a run of this model and optimiser(.|\n)*size mismatch for weight"):
        load_training(saved, made(size=5))


def test_missing_and_damaged_runs_have_different_errors(saved, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"Expected a saved run with state\.json"):
        load_training(tmp_path / "none", made())
    (saved / TENSORS).write_bytes((saved / TENSORS).read_bytes()[:50])
    with pytest.raises(ValueError, match="damaged file"):
        load_training(saved, made())
    (saved / STATE).write_text("{")
    with pytest.raises(ValueError, match="Expected JSON"):
        load_training(saved, made())
    (saved / STATE).write_text('{"format": 99}')
    with pytest.raises(ValueError, match="Expected a run of format 1"):
        load_training(saved, made())
