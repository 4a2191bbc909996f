"""Settings of `train annotate`, and the models that they require."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from qa_bot.home.encoders import STARTER
from qa_core.encoders.pair_tokens import PairConfig
from qa_core.training.pair_classifier import PairTuning
from qa_lab.errors import SettingsError
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, in_table, load_settings, source_of
from retrievers.training.annotation import THRESHOLD
from retrievers.training.bi_encoder import BiEncoderConfig
from retrievers.training.encoders.static_tower import StaticConfig
from retrievers.training.encoders.transformer_tower import TransformerConfig

BASE = "base"
"""Value of `start` besides `starter` and a folder: the transformer of the cross-encoder."""
KNOWN_BI, KNOWN_CROSS = "known-bi", "known-cross"
IMPROVED_BI, IMPROVED_CROSS = "improved-bi", "improved-cross"
GIVEN, INTERSECTION, TOP, CROSS = "given", "intersection", "top-1", "cross-encoder"
"""Ways to label; the first two need given labels."""


@dataclass(frozen=True, slots=True)
class AnnotateConfig:
    """Keys of `--config`; these defaults are the paper's, and a preset overrides them."""

    preset: Literal["cpu", "paper"] = "cpu"
    start: str = BASE  # what bi-encoders start from: `starter`, `base`, or the folder of an encoder
    known: str = ""  # encoder used as the known bi-encoder: `starter`, `base`, or a folder; else one is trained
    questions: str = ""  # a file with a question a line: the new queries, without labels
    top: int = 50  # candidates of a query
    threshold: float = THRESHOLD  # probability above which a pair is a match
    queries: int = 0  # for training in each of the three sets, at most; 0 means all
    development: float = 1 / 11  # share of each set
    cross_pairs: int = 0  # candidates for training the cross-encoder, at most; 0 means all
    minimum_positives: float = 0.0  # share of matches among them, at least
    improve: bool = False  # feed the new labels back into the known models too
    device: Literal["auto", "cpu", "cuda"] = "auto"
    bi: BiEncoderConfig = field(default_factory=BiEncoderConfig)
    static: StaticConfig = field(default_factory=StaticConfig)
    transformer: TransformerConfig = field(default_factory=lambda: TransformerConfig(max_tokens=64))
    cross: PairConfig = field(default_factory=PairConfig)
    tuning: PairTuning = field(default_factory=PairTuning)


PAPER = AnnotateConfig(preset="paper")
CPU = AnnotateConfig(
    start=STARTER,
    top=10,
    queries=300,
    cross_pairs=1500,
    minimum_positives=0.25,
    bi=BiEncoderConfig(temperature=0.05, learning_rate=1e-3, epochs=15, patience=3),
    static=StaticConfig(max_tokens=64),
    cross=PairConfig(max_length=64),
    tuning=PairTuning(batch=32, epochs=2, learning_rate=5e-5),
)
_PRESETS = {"cpu": CPU, "paper": PAPER}


def settings(request: Request) -> AnnotateConfig:
    """The preset that the settings name, and the settings over it."""
    config = load_settings(request.config, AnnotateConfig(), preset=lambda c: _PRESETS[c.preset])
    source = source_of(request.config)
    if request.base is None:
        raise SettingsError("Expected --base DIR, a transformer for the cross-encoder, but got none; name its folder.")
    bi = in_table("bi", "batch", "epochs", "patience", "learning_rate", "temperature")
    check_positive(config, "top", *bi, *in_table("tuning", "batch", "epochs", "learning_rate"), source=request.config)
    shares = {"threshold": config.threshold, "minimum_positives": config.minimum_positives}
    if wrong := [f"{name} = {value}" for name, value in shares.items() if not 0 <= value < 1]:
        raise SettingsError(f"{source}: Expected numbers from 0 to below 1, but got {', '.join(wrong)}.")
    if not 0 < config.development < 1:
        raise SettingsError(f"{source}: Expected a share between 0 and 1, but got development = {config.development}.")
    return config


def ways(config: AnnotateConfig) -> tuple[str, ...]:
    """Ways to label the new queries."""
    return (TOP, CROSS) if config.questions else (GIVEN, INTERSECTION, TOP, CROSS)


def stages(config: AnnotateConfig) -> list[tuple[str, int]]:
    """The models that are trained, in order, with their epochs."""
    bi, cross = config.bi.epochs, config.tuning.epochs
    known = [] if config.known else [(KNOWN_BI, bi)]
    improved = [(IMPROVED_BI, bi), (IMPROVED_CROSS, cross)] if config.improve else []
    return [*known, (KNOWN_CROSS, cross), *((name, bi) for name in ways(config)), *improved]
