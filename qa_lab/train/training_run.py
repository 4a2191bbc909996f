"""A run on disk: its state is saved inside the folder of the future model, and removed at the end."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qa_core.measures.plots import draw_curve, write_curve
from qa_core.training.loop import Progress, Training
from qa_core.training.resume import load_training, save_training
from qa_lab.errors import RunError

STATE, IDENTITY, CURVE, PICTURE = "training", "run.json", "curve.csv", "curve.png"
EVERY = 60.0
"""Seconds between two saves within an epoch."""


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """The folder of a run, and what must be equal for it to be resumed."""

    out: Path
    identity: Mapping[str, Any]

    @property
    def state(self) -> Path:
        return self.out / STATE

    @property
    def saved(self) -> bool:
        """Whether there is a state to resume from."""
        return (self.state / IDENTITY).is_file()

    def start(self, training: Training, *, resume: bool) -> None:
        """Begin the run, or load its saved state into `training`. Raises RunError."""
        if not resume:
            self.begin()
            return
        self.check()
        load_training(self.state, training)

    def begin(self) -> None:
        """Make the folder. Raises RunError if it holds files that are not from a run."""
        files = self.out.is_dir() and any(self.out.iterdir())
        if files and not any((self.out / name).exists() for name in (CURVE, STATE)):
            raise RunError(
                f"Expected an empty folder or an earlier run in {self.out}, but got other files; name another."
            )
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir(parents=True)

    def check(self) -> None:
        """Raises RunError if there is no saved state, or the state of a run with another identity."""
        path = self.state / IDENTITY
        if not self.saved:
            done = (self.out / CURVE).is_file() and (self.out / "config.json").is_file()
            status = "a finished run" if done else "no saved run"
            raise RunError(f"Expected an unfinished run in {self.out}, but got {status}; leave --resume out.")
        before = json.loads(path.read_text(encoding="utf-8"))
        now = json.loads(json.dumps(self.identity))
        if before != now:
            raise RunError(
                f"Expected the same options and settings as before for the run in {self.out}, but got "
                f"{_difference(before, now)}; repeat them, or leave --resume out to begin anew."
            )

    def save(self, training: Training) -> None:
        save_training(self.state, training)
        self.write_identity()
        write_curve(self.out / CURVE, training.history)

    def write_identity(self) -> None:
        (self.state / IDENTITY).write_text(json.dumps(self.identity, indent=2) + "\n", encoding="utf-8")

    def finish(self, training: Training, *, plots: bool, measure: str = "MRR") -> None:
        """Write the learning curve and remove the state; `measure` is the development figure's name."""
        self.finish_with(training.history, plots=plots, measure=measure)

    def finish_with(self, history: Sequence[Progress], *, plots: bool, measure: str) -> None:
        """The same with a history of reports."""
        write_curve(self.out / CURVE, history)
        if plots:
            draw_curve(self.out / PICTURE, history, measure=measure)
        self.remove_state()

    def remove(self) -> None:
        """Remove the whole folder."""
        shutil.rmtree(self.out, ignore_errors=True)

    def remove_state(self) -> None:
        shutil.rmtree(self.state, ignore_errors=True)


def drive(
    run: TrainingRun, training: Training, reports: Iterable[Progress], on_progress: Callable[[Progress], None]
) -> None:
    """Exhaust the reports of `train`, saving the run after every epoch and every minute."""
    saved = time.monotonic()
    for progress in reports:
        if progress.dev is not None or time.monotonic() - saved > EVERY:
            run.save(training)
            saved = time.monotonic()
        on_progress(progress)


def _difference(before: Mapping[str, Any], now: Mapping[str, Any], prefix: str = "") -> str:
    """The first setting that differs."""
    for key in (*before, *now):
        old, new = before.get(key), now.get(key)
        if old != new:
            if isinstance(old, dict) and isinstance(new, dict):
                return _difference(old, new, f"{prefix}{key}.")
            return f"{prefix}{key} = {new!r} instead of {old!r}"
    return "the same"
