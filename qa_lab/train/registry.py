"""From the name of a model to its run; what it takes is imported only then."""

from __future__ import annotations

from collections.abc import Callable, Sized
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol

from qa_bot.documents.ingest.records import Notice, Reject
from qa_core.training.loop import Progress
from qa_lab.train.request import Request


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
        self, request: Request, *, on_read: Callable[[Read], None] = ..., on_progress: Callable[[Progress], None] = ...
    ) -> Outcome: ...


class Verb(NamedTuple):
    train: Trainer
    epochs: Callable[[Request], int]
    """At most, for a progress bar."""
    measure: str
    """Name of the development figure."""


MODELS = {
    "dense": ("retrieval.dense:train_dense", "MRR"),
    "similar": ("retrieval.similar:train_similar", "P@1"),
    "paragram": ("retrieval.paragram:train_paragram", "selection"),
    "phrases": ("phrases.phrases:train_phrases", "AUC"),
    "annotate": ("retrieval.annotate:train_annotate", "P@1"),
    "hyperqa": ("rankers.hyperqa:train_hyperqa", "MAP"),
    "blstm": ("rankers.blstm:train_blstm", "MAP"),
    "encoder-decoder": ("rankers.encoder_decoder:train_encoder_decoder_ranker", "perplexity"),
    "cross-encoder": ("rankers.cross_encoder:train_cross_encoder", "MAP"),
    "entailment": ("rankers.entailment:train_entailment", "accuracy"),
    "fusion": ("fusion.fusion:train_fusion", "AP"),
    "relations": ("relations.relations:train_relations", "accuracy"),
    "chat": ("speech.chat:train_chat", "perplexity"),
    "persona": ("speech.persona:train_persona", "perplexity"),
    "grid": ("speech.grid:train_grid", "perplexity"),
}
"""Module and function of each run, and the name of its development figure."""


def verb(model: str) -> Verb:
    """The run of a model that `train` knows."""
    if model not in MODELS:
        raise ValueError(f"Expected a model that can be trained, but got {model!r}.")
    place, measure = MODELS[model]
    name, _, train = place.partition(":")
    module = import_module(f"qa_lab.train.{name}")
    return Verb(getattr(module, train), module.epochs, measure)
