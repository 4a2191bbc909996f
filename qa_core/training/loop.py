"""The training loop: a generator that yields progress; the caller prints, plots, saves and stops.

    training = Training(model, optimiser, seed=1)
    for progress in train(training, batches, loss, epochs=20, evaluate=dev_accuracy, patience=3):
        print(progress)
        save_training(folder, training)

The same seed gives the same model. A run that is saved at a yield and resumed (`qa_core/training/resume.py`) ends on
the same machine with the same model, bit for bit, as an uninterrupted run.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

Batch = TypeVar("Batch")
Batches = Callable[[int, np.random.Generator], Iterable[Batch]]
"""The batches of an epoch, counted from 0; the passed generator is the only source of randomness."""
Loss = Callable[[nn.Module, Batch], Tensor]
Evaluation = Callable[[nn.Module], float]


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a training run; `loss` is the mean since the last report."""

    epoch: int  # epoch of the last batch, from 1
    step: int  # batches done in total
    loss: float
    learning_rate: float
    examples_per_second: float  # without evaluation and the caller's work between reports
    eta_seconds: float | None  # until all epochs are done; None in the first epoch without steps_per_epoch
    dev: float | None = None  # the development measure, at the end of an epoch
    best: bool = False  # whether dev is the best so far


@dataclass(frozen=True, slots=True)
class Best:
    """The best epoch on development data, with its weights."""

    epoch: int
    dev: float
    weights: dict[str, Tensor]


@dataclass(slots=True)
class Training:
    """The complete state of a run between two steps."""

    model: nn.Module
    optimiser: torch.optim.Optimizer
    seed: int  # not negative
    epoch: int = 0  # epochs finished
    batch: int = 0  # batches done in the current epoch
    step: int = 0  # batches done in total
    best: Best | None = None
    history: list[Progress] = field(default_factory=list)
    restore_randomness: Callable[[], None] | None = None  # of a resumed run: called before its first new batch


def train(
    training: Training,
    batches: Batches[Batch],
    loss: Loss[Batch],
    *,
    epochs: int,
    evaluate: Evaluation | None = None,
    mode: Literal["max", "min"] = "max",
    patience: int | None = None,
    clip: float | None = None,
    schedule: Callable[[int], float] | None = None,
    report_every: int = 100,
    steps_per_epoch: int | None = None,
    size: Callable[[Batch], int] | None = None,
) -> Iterator[Progress]:
    """Train until `epochs` are done or the development measure has not improved for `patience` epochs.

    With `evaluate`, the model ends with the weights of its best epoch (after a `break`, call `restore_best`).

    Args:
        batches: see `Batches`.
        loss: a scalar of the model and a batch.
        evaluate: development measure, called after every epoch in evaluation mode and without gradients.
        mode: whether a higher or lower measure is better.
        clip: largest norm of the whole gradient.
        schedule: factor of the learning rate at each step, counted from 0, such as a warm-up.
        report_every: steps between reports; the end of an epoch is always reported.
        size: number of examples in a batch, for the rate; by default its length, or that of a tuple's first element.

    Raises:
        FloatingPointError: if the loss, or the norm of a clipped gradient, is NaN or infinite.
        ValueError: for an epoch without batches, or for patience without evaluation.
    """
    if patience is not None and evaluate is None:
        raise ValueError("Expected a development measure for patience, but got none; pass evaluate.")
    meter = _Meter(training, epochs, steps_per_epoch, size or _length)
    if training.step == 0:
        seed_everything(training.seed)
    while training.epoch < epochs and not _out_of_patience(training, patience):
        training.model.train()
        for batch in _remaining(training, batches):
            value = _step(training, loss, batch, clip=clip, schedule=schedule)
            meter.count(batch, value)
            if training.step % report_every == 0:
                yield meter.report()
                meter.restart()
        _finish_epoch(training)
        yield meter.report(*_evaluated(training, evaluate, mode))
        meter.restart()
    if evaluate is not None:
        restore_best(training)


def restore_best(training: Training) -> None:
    """Load the weights of the best epoch into the model, if there is one."""
    if training.best is not None:
        training.model.load_state_dict(training.best.weights)


@contextmanager
def reproducible(threads: int) -> Iterator[None]:
    """Compute with this number of threads, whatever the number of cores, and with sums in a fixed order.

    Otherwise the gradient of indexing adds in the order in which threads finish, and the number of threads decides how
    products of matrices are cut.
    """
    before, was_deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(mode=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(was_deterministic)
        torch.set_num_threads(before)


def seed_everything(seed: int) -> None:
    """Seed the global generators of Python, numpy and torch; call it before creating a model."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def _remaining(training: Training, batches: Batches[Batch]) -> Iterator[Batch]:
    """The batches of the current epoch that are not done yet."""
    rng = np.random.default_rng([training.seed, training.epoch])
    iterator = iter(batches(training.epoch, rng))
    for _ in islice(iterator, training.batch):
        pass
    if training.restore_randomness is not None:
        training.restore_randomness()
        training.restore_randomness = None
    return iterator


def _step(
    training: Training, loss: Loss[Batch], batch: Batch, *, clip: float | None, schedule: Callable[[int], float] | None
) -> float:
    optimiser = training.optimiser
    if schedule is not None:
        for group in optimiser.param_groups:
            group["lr"] = group.setdefault("initial_lr", group["lr"]) * schedule(training.step)
    optimiser.zero_grad()
    value = loss(training.model, batch)
    number = _finite(value, "loss", training)
    value.backward()  # type: ignore[no-untyped-call] # torch does not annotate it
    if clip is not None:
        weights = [weight for group in optimiser.param_groups for weight in group["params"]]
        _finite(nn.utils.clip_grad_norm_(weights, clip), "gradient norm", training)
    optimiser.step()
    training.batch += 1
    training.step += 1
    return number


def _finite(value: Tensor, name: str, training: Training) -> float:
    number = float(value.item())
    if not math.isfinite(number):
        raise FloatingPointError(
            f"Expected a finite {name}, but got {number} at step {training.step + 1} in epoch {training.epoch + 1} "
            f"with learning rate {_learning_rate(training):g}; lower the learning rate or clip the gradients."
        )
    return number


def _finish_epoch(training: Training) -> None:
    if training.batch == 0:
        raise ValueError(f"Expected batches to train on, but got none in epoch {training.epoch + 1}; check the data.")
    training.epoch += 1
    training.batch = 0


def _evaluated(training: Training, evaluate: Evaluation | None, mode: str) -> tuple[float | None, bool]:
    """The development measure after an epoch, and whether it is the best; NaN never is."""
    if evaluate is None:
        return None, False
    training.model.eval()
    with torch.no_grad():
        dev = float(evaluate(training.model))
    sign = 1 if mode == "max" else -1
    best = not math.isnan(dev) and (training.best is None or sign * dev > sign * training.best.dev)
    if best:
        weights = {name: tensor.detach().cpu().clone() for name, tensor in training.model.state_dict().items()}
        training.best = Best(training.epoch, dev, weights)
    return dev, best


def _out_of_patience(training: Training, patience: int | None) -> bool:
    best_epoch = training.best.epoch if training.best else 0
    return patience is not None and training.epoch - best_epoch >= patience


def _learning_rate(training: Training) -> float:
    return float(training.optimiser.param_groups[0]["lr"])


def _length(batch: Any) -> int:
    return len(batch[0]) if isinstance(batch, tuple) else len(batch)


@dataclass(slots=True)
class _Meter:
    """Counts since the last report, and totals of this process for the remaining time."""

    training: Training
    epochs: int
    steps_per_epoch: int | None
    size: Callable[[Any], int]
    losses: list[float] = field(default_factory=list)
    examples: int = 0
    seconds: float = 0.0
    all_steps: int = 0
    all_seconds: float = 0.0
    since: float = field(default_factory=time.perf_counter)

    def count(self, batch: Any, loss: float) -> None:
        self.losses.append(loss)
        self.examples += self.size(batch)
        now = time.perf_counter()
        self.seconds += now - self.since
        self.since = now

    def restart(self) -> None:
        self.all_steps += len(self.losses)
        self.all_seconds += self.seconds
        self.losses.clear()
        self.examples, self.seconds, self.since = 0, 0.0, time.perf_counter()

    def report(self, dev: float | None = None, best: bool = False) -> Progress:
        """Progress, appended to the history; without new batches, loss and rate are those of the last report."""
        training = self.training
        if self.losses:
            loss, rate = sum(self.losses) / len(self.losses), self.examples / max(self.seconds, 1e-9)
        else:
            loss, rate = training.history[-1].loss, training.history[-1].examples_per_second
        epoch = training.epoch + (training.batch > 0)
        progress = Progress(epoch, training.step, loss, _learning_rate(training), rate, self.eta(), dev, best)
        training.history.append(progress)
        return progress

    def eta(self) -> float | None:
        training, steps = self.training, self.all_steps + len(self.losses)
        an_epoch = (training.step - training.batch) / training.epoch if training.epoch else self.steps_per_epoch
        if an_epoch is None or steps == 0:
            return None
        return max(0.0, an_epoch * self.epochs - training.step) * (self.all_seconds + self.seconds) / steps
