"""The run of a counting grid on disk: its state between two steps of EM, and its progress."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict

from generators.training.grid_fitting import Fitting, GridStep
from qa_core.atomic import atomic_folder, current_folder
from qa_core.networks.checkpoints import read_weights, write_weights
from qa_core.training.loop import Progress
from qa_lab.errors import RunError
from qa_lab.train.training_run import EVERY, IDENTITY, TrainingRun

TENSORS, STATE = FILES = ("tensors.safetensors", "state.json")


def save(run: TrainingRun, fitting: Fitting) -> None:
    """An interrupted save leaves the old one."""
    state = {"step": fitting.step, "history": [asdict(report) for report in fitting.history]}
    with atomic_folder(run.state, (*FILES, IDENTITY)) as new:
        (new / STATE).write_text(json.dumps(state), encoding="utf-8")
        (new / IDENTITY).write_text(json.dumps(run.identity, indent=2) + "\n", encoding="utf-8")
        weights = {"cells": fitting.cells, "best": fitting.best, "background": fitting.background}
        write_weights(new / TENSORS, weights)


def load(run: TrainingRun, fitting: Fitting) -> None:
    """Continue `fitting` from the saved state. Raises RunError if it cannot be read."""
    run.check()
    folder = current_folder(run.state)
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        weights = read_weights(folder / TENSORS)
        fitting.step = state["step"]
        fitting.history = [GridStep(**report) for report in state["history"]]
        fitting.cells, fitting.best = weights["cells"], weights["best"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"Expected a saved run in {run.state}, but got {error}; leave --resume out.") from error


def drive(
    run: TrainingRun,
    fitting: Fitting,
    reports: Iterable[GridStep],
    on_progress: Callable[[Progress], None],
    *,
    most: int,
) -> list[Progress]:
    """Exhaust the reports of `fit`, saving the run every minute; the progress of this process and of those before."""
    history = [_progress(report, rate=0.0, eta=None) for report in fitting.history]
    saved = started = time.monotonic()
    first = fitting.step
    for report in reports:
        seconds = time.monotonic() - started
        steps = report.step - first + 1
        history.append(_progress(report, rate=steps / max(seconds, 1e-9), eta=seconds / steps * (most - report.step)))
        if time.monotonic() - saved > EVERY:
            save(run, fitting)
            saved = time.monotonic()
        on_progress(history[-1])
    return history


def _progress(report: GridStep, *, rate: float, eta: float | None) -> Progress:
    """A step as an epoch; its loss is the negative log-likelihood of a word."""
    return Progress(report.step + 1, report.step, -report.per_word, 0.0, rate, eta, report.held_out, report.best)
