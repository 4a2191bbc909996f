"""One run of `train`: settings, data, a folder that can be resumed, errors and the outcome.

Each model describes what differs as a `TrainVerb`:

    DENSE = TrainVerb(train=_train, settings=settings, epochs=lambda config, _: config.slam.epochs, measure="MRR")
    outcome = DENSE.run(request, on_read=show_read, on_progress=bar)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from torch import nn

from qa_core.training.loop import Progress, Training
from qa_lab.data.reading import TrainingData
from qa_lab.errors import TrainingError
from qa_lab.train.request import Request
from qa_lab.train.training_run import TrainingRun, drive

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")
R = TypeVar("R", bound="Outcome")
Examples = TypeVar("Examples")
OnRead = Callable[[TrainingData[Any]], None]
OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class Outcome:
    """Result of a run. The fields of a model's own outcome are the keys of its JSON."""

    def as_dict(self) -> dict[str, object]:
        """For JSON; figures have the names of ir-measures."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        plain = asdict(self)
        return {name: v.as_dict() if hasattr(v, "as_dict") else plain[name] for name, v in values.items()}

    def text(self, out: Path) -> str:
        """For people: figures, and the command that uses or measures the model."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Job(Generic[S]):
    """A request with its settings and its listeners, while it runs."""

    request: Request
    settings: S
    measure: str
    on_read: OnRead = lambda _: None
    on_progress: OnProgress = lambda _: None
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self.started

    def read(self, reader: Callable[..., TrainingData[Examples]]) -> TrainingData[Examples]:
        """The data of the request; it is reported."""
        data = reader(self.request.data, limit=self.request.limit)
        self.on_read(data)
        return data

    def identity(self, **sizes: object) -> dict[str, object]:
        """What must be equal for a saved run to be resumed."""
        return {"config": asdict(self.settings), "seed": self.request.seed, **sizes}

    def begin(self, training: Training, **sizes: object) -> TrainingRun:
        """The folder of the run; a resumed run loads its state into `training`. Raises RunError."""
        run = TrainingRun(self.request.out, self.identity(**sizes))
        run.start(training, resume=self.request.resume)
        return run

    def drive(self, run: TrainingRun, training: Training, reports: Iterable[Progress]) -> None:
        """Exhaust the reports of a training loop, saving the run as it goes."""
        drive(run, training, reports, self.on_progress)

    def fit(self, training: Training, reports: Iterable[Progress], **sizes: object) -> TrainingRun:
        """`begin` and `drive`; `reports` must be a generator, which starts after the saved state was loaded."""
        run = self.begin(training, **sizes)
        self.drive(run, training, reports)
        return run

    def finish(self, run: TrainingRun, training: Training) -> None:
        """Write the learning curve and remove the state."""
        run.finish(training, plots=self.request.plots, measure=self.measure)


@dataclass(frozen=True, slots=True)
class TrainVerb(Generic[S, R]):
    """What differs between the models that `train` knows."""

    train: Callable[[Job[S]], R]  # reads the data, trains, measures and writes `request.out`
    settings: Callable[[Request], S]  # raises SettingsError
    most_epochs: Callable[[S, Request], int]
    measure: str  # name of the development figure

    def epochs(self, request: Request) -> int:
        """The largest number of epochs, for a progress bar."""
        return self.most_epochs(self.settings(request), request)

    def run(self, request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None) -> R:
        """Train and write `request.out`: the model, its card, `curve.csv`, and `curve.png` if requested.

        Args:
            on_read: called with the data and its rejects before training begins.
            on_progress: called with every progress report.

        Raises:
            TrainingError: data, settings or folders cannot be used.
            FileNotFoundError: a path does not exist.
        """
        settings = self.settings(request)
        try:
            return self.train(Job(request, settings, self.measure, on_read, on_progress))
        except TrainingError:
            raise
        except (ValueError, FloatingPointError, ModuleNotFoundError) as error:
            raise TrainingError(str(error)) from error


def best_epoch(training: Training) -> int:
    """The epoch whose weights were kept."""
    return training.best.epoch if training.best else training.epoch


def trained_parameters(*modules: nn.Module) -> int:
    return sum(weight.numel() for module in modules for weight in module.parameters() if weight.requires_grad)
