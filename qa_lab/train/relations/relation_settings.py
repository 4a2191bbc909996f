"""Settings of `train relations`, for questions with pools and for mined templates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kg_index.training.compared_training import ComparedTraining
from kg_index.training.head_training import HeadTraining
from kg_index.training.question_tuning import TuningConfig
from kg_index.training.relation_training import Phase
from kg_index.training.self_training import GENTLE
from qa_bot.home.encoders import STARTER
from qa_lab.errors import SettingsError
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, in_table, load_settings, source_of

Preset = Literal["default", "paper"]
Weighting = Literal["uniform", "F", "F+K", "F+K+S"]
PHASES: dict[Weighting, tuple[Phase, ...]] = {
    "uniform": ("uniform",),
    "F": ("F",),
    "F+K": ("F×K",),
    "F+K+S": ("F×K", "F×(l+α)"),
}
"""The rows of Wang (2018), table 4.2, and the phases of training for each."""


@dataclass(frozen=True, slots=True)
class MinedSettings:
    """Settings for mined templates, used without --relations."""

    weights: Weighting = "F+K+S"
    steps: int = 1  # maximum of a path
    words: int = 12  # maximum of a template
    hidden: int = 300  # size per direction of the network
    epochs: int = 4  # of each phase
    batch: int = 128  # mappings; Wang uses 2,000 for millions of mappings
    learning_rate: float = 0.001
    alpha: float = 0.1
    plain_words: bool = False  # K counts words as written, as Wang does, else stems without stop words
    even: float = 0.5  # how far the prior of frequently mined relations is reduced; 0: Wang's network
    silent: float = 0.5  # mappings to "no path found" per other mapping, at most
    device: Literal["auto", "cpu", "cuda"] = "auto"  # of the network


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """Settings of Wang's network on questions with pools."""

    hidden: int = 300  # size per direction
    epochs: int = 12
    batch: int = 64  # questions
    learning_rate: float = 0.001


@dataclass(frozen=True, slots=True)
class RelationSettings:
    """Keys of `--config`."""

    preset: Preset = "default"  # default settings; "paper" are those of Wang (2018), ch. 4.4.1
    encoder: str = STARTER  # `starter`, a folder or a hub id; several separated by commas
    # a head over vectors of questions, Wang's network over vectors of words, a tuned transformer plus a head, or one of
    # the networks that Wang compares with
    model: Literal["head", "network", "transformer", "bilstm", "bicnn", "ampcnn", "hr-bilstm"] = "head"
    hidden: int = 512  # of the head
    context: bool = True  # whether the head reads the other relations of the pool
    training: HeadTraining = field(default_factory=lambda: HeadTraining(epochs=6))
    self_training: HeadTraining = field(default_factory=lambda: GENTLE)  # of the head on mined templates
    mined: MinedSettings = field(default_factory=MinedSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    tuning: TuningConfig = field(default_factory=TuningConfig)  # of the transformer
    compared: ComparedTraining = field(default_factory=ComparedTraining)  # of a compared network


PRESETS: dict[Preset, RelationSettings] = {
    "default": RelationSettings(),
    "paper": RelationSettings(
        preset="paper",
        model="network",
        mined=MinedSettings(steps=2, words=40, batch=2_000, plain_words=True, even=0.0, silent=1e9),
    ),
}


def settings(request: Request) -> RelationSettings:
    """The preset that the settings name, and the settings over it."""
    config = load_settings(request.config, RelationSettings(), preset=lambda c: PRESETS[c.preset])
    source = source_of(request.config)
    if request.base is not None:
        raise SettingsError(f"Expected no base to start from, but got {request.base}; name vectors by `encoder`.")
    if config.model not in {"head", "network"} and request.relations is None:
        raise SettingsError(f"{source}: Expected questions with pools for model = {config.model!r}; name --relations.")
    tables = ("training", "self_training", "mined", "network", "tuning", "compared")
    rates = [key for name in tables for key in in_table(name, "epochs", "batch", "learning_rate")]
    check_positive(
        config, "hidden", "mined.words", "mined.hidden", "network.hidden", *rates, "tuning.clip", "compared.hidden",
        "compared.margin", source=request.config,
    )  # fmt: skip
    least = {f"mined.{key}": getattr(config.mined, key) for key in ("alpha", "silent", "even")}
    least |= {f"tuning.{key}": getattr(config.tuning, key) for key in ("warm_up", "frozen", "every", "decay")}
    if wrong := [f"{name} = {value}" for name, value in least.items() if not value >= 0]:
        raise SettingsError(f"{source}: Expected numbers of 0 or more, but got {', '.join(wrong)}.")
    if config.mined.steps not in (1, 2):
        raise SettingsError(f"{source}: Expected mined.steps of 1 or 2, but got {config.mined.steps}.")
    return config


def most_epochs(config: RelationSettings, request: Request) -> int:
    if config.model == "network":
        mined = config.mined
        return mined.epochs * len(PHASES[mined.weights]) if request.relations is None else config.network.epochs
    if config.model == "transformer":
        return config.tuning.epochs
    if config.model != "head":
        return config.compared.epochs
    return (config.self_training if request.relations is None else config.training).epochs
