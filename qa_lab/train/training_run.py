"""A run on disk, inside the folder of the model it will become: saved as it goes, cleared when it is done."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qa_core.measures.plots import draw_curve, write_curve
from qa_core.training.loop import Progress, Training
from qa_core.training.resume import save_training
from qa_lab.train.errors import RunError

STATE, IDENTITY, CURVE, PICTURE = "training", "run.json", "curve.csv", "curve.png"
EVERY = 60.0
"""Seconds between two saves within an epoch."""


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """The folder of a run, and what has to be the same for it to go on."""

    out: Path
    identity: Mapping[str, Any]

    @property
    def state(self) -> Path:
        return self.out / STATE

    def begin(self) -> None:
        """Make the folder. Raises RunError where it holds what no run has written."""
        if (
            self.out.is_dir()
            and any(self.out.iterdir())
            and not any((self.out / name).exists() for name in (CURVE, STATE))
        ):
            raise RunError(
                f"Expected an empty folder or an earlier run in {self.out}, but got other files; name another."
            )
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir(parents=True)

    def check(self) -> None:
        """Raises RunError where there is nothing to go on with, or it was another run."""
        path = self.state / IDENTITY
        if not path.is_file():
            done = (self.out / CURVE).is_file() and (self.out / "config.json").is_file()
            finished = "a finished run" if done else "no run that was begun"
            raise RunError(f"Expected an unfinished run in {self.out}, but got {finished}; leave --resume out.")
        before = json.loads(path.read_text(encoding="utf-8"))
        now = json.loads(json.dumps(self.identity))
        if before != now:
            raise RunError(
                f"Expected the run in {self.out} to be asked for as before, but got {_difference(before, now)}; ask "
                "for it in the same way, or leave --resume out to begin anew."
            )

    def save(self, training: Training) -> None:
        save_training(self.state, training)
        (self.state / IDENTITY).write_text(json.dumps(self.identity, indent=2) + "\n", encoding="utf-8")
        write_curve(self.out / CURVE, training.history)

    def finish(self, training: Training, *, plots: bool, measure: str = "MRR") -> None:
        """The learning curve, and no more state; `measure` is the development figure's name."""
        write_curve(self.out / CURVE, training.history)
        if plots:
            draw_curve(self.out / PICTURE, training.history, measure=measure)
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
