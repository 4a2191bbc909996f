"""From the name of a model to its run; what it takes is imported only then."""

from __future__ import annotations

from collections.abc import Callable, Sized
from pathlib import Path
from typing import NamedTuple, Protocol

from qa_bot.ingest.records import Notice, Reject
from qa_bot.training.request import Request
from qa_core.training import Progress


class Read(Protocol):
    """What came of reading the data."""

    @property
    def pairs(self) -> Sized: ...

    @property
    def rejects(self) -> tuple[Reject, ...]: ...

    @property
    def notices(self) -> tuple[Notice, ...]: ...

    @property
    def repeated(self) -> int: ...


class Outcome(Protocol):
    """What came of a run."""

    def as_dict(self) -> dict[str, object]:
        """For JSON, with the names of ir-measures."""
        ...

    def text(self, out: Path) -> str:
        """For people: figures, and the command that puts the model to use."""
        ...


class Trainer(Protocol):
    def __call__(
        self, request: Request, *, told: Callable[[Read], None] = ..., reported: Callable[[Progress], None] = ...
    ) -> Outcome: ...


class Verb(NamedTuple):
    train: Trainer
    epochs: Callable[[Request], int]
    """At most, for a progress bar."""
    measure: str
    """Name of the development figure."""


def verb(model: str) -> Verb:
    """The run of a model that `train` knows."""
    match model:
        case "dense":
            from qa_bot.training.dense import epochs, train_dense

            return Verb(train_dense, epochs, "MRR")
        case "similar":
            from qa_bot.training.similar import epochs, train_similar

            return Verb(train_similar, epochs, "P@1")
        case "paragram":
            from qa_bot.training.paragram import epochs, train_paragram

            return Verb(train_paragram, epochs, "selection")
        case "phrases":
            from qa_bot.training.phrases import epochs, train_phrases

            return Verb(train_phrases, epochs, "AUC")
        case "annotate":
            from qa_bot.training.annotate import epochs, train_annotate

            return Verb(train_annotate, epochs, "P@1")
    raise ValueError(f"Expected a model that can be trained, but got {model!r}.")
