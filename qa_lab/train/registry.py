"""Finds the verb of a model by its name; its module is imported only then."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qa_lab.train.verb import TrainVerb

MODELS = {
    "dense": "retrieval.dense:DENSE",
    "expansion": "retrieval.expansion:EXPANSION",
    "similar": "retrieval.similar:SIMILAR",
    "words": "retrieval.word_vectors:WORDS",
    "paragram": "retrieval.paragram:PARAGRAM",
    "phrases": "phrases.phrases:PHRASES",
    "annotate": "retrieval.annotate:ANNOTATE",
    "hyperqa": "rankers.hyperqa:HYPERQA",
    "blstm": "rankers.blstm:BLSTM",
    "encoder-decoder": "rankers.encoder_decoder:ENCODER_DECODER",
    "cross-encoder": "rankers.cross_encoder:CROSS_ENCODER",
    "entailment": "rankers.entailment:ENTAILMENT",
    "fusion": "fusion.fusion:FUSION",
    "relations": "relations.relations:RELATIONS",
    "chat": "speech.chat:CHAT",
    "persona": "speech.persona:PERSONA",
    "grid": "speech.grid:GRID",
}
"""Module and verb of each model."""


def verb(model: str) -> TrainVerb[Any, Any]:
    """Raises ValueError for a model that `train` does not know."""
    if model not in MODELS:
        raise ValueError(f"Expected a model that can be trained, but got {model!r}.")
    module, _, name = MODELS[model].partition(":")
    train_verb: TrainVerb[Any, Any] = getattr(import_module(f"qa_lab.train.{module}"), name)
    return train_verb
