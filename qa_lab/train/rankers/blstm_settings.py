"""Settings of `train blstm`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from qa_bot.home.encoders import STARTER
from qa_lab.errors import SettingsError
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, in_table, load_settings, source_of
from rankers.answer_selection.blstm import CPU, FAITHFUL_TRAINING, PAPER, POOLS, BLSTMConfig, BLSTMTraining
from rankers.answer_selection.keyword_features import COSINE, FEATURES
from rankers.gbdt import GBDTConfig
from rankers.neural import Asks

Joined = Literal["none", "bm25", "cheap", "all"]
_KEYWORDS: dict[Joined, tuple[str, ...]] = {
    "none": (),
    "bm25": ("bm25",),
    "cheap": FEATURES,
    "all": (*FEATURES, COSINE),
}


@dataclass(frozen=True, slots=True)
class BLSTMSettings:
    """Keys of `--config`."""

    preset: Literal["cpu", "paper"] = "cpu"  # default sizes and training; paper: those of Wang (2018, §6.3)
    use: Literal["stacked", "network", "keywords"] = "stacked"  # both joined by trees, or one of them alone
    keywords: Literal["none", "bm25", "cheap", "all"] = "bm25"  # features; all: with the starter's cosine
    question: Asks = "title"  # what the ranker reads of a question that has a body, too
    parts: int = 2  # of the questions; pools for the trees are computed part by part
    pretrained: str = STARTER  # E_pre: a static encoder's folder or a file of word vectors; empty for none
    minimum: int = 1  # occurrences of a word in the training texts
    device: Literal["auto", "cpu", "cuda"] = "auto"
    network: BLSTMConfig = CPU
    training: BLSTMTraining = field(default_factory=BLSTMTraining)
    trees: GBDTConfig = field(default_factory=lambda: GBDTConfig(objective="lambdarank"))

    @property
    def names(self) -> tuple[str, ...]:
        """Features that the trees are grown on."""
        return (*(POOLS if self.use == "stacked" else ()), *_KEYWORDS[self.keywords])


_PRESETS = {
    "cpu": BLSTMSettings(),
    "paper": BLSTMSettings(network=PAPER, training=FAITHFUL_TRAINING, trees=GBDTConfig(objective="regression")),
}


def settings(request: Request) -> BLSTMSettings:
    """The preset that the settings name, and the settings over it."""
    config = load_settings(request.config, BLSTMSettings(), preset=lambda c: _PRESETS[c.preset])
    source = source_of(request.config)
    if request.base is not None:
        raise SettingsError(f"Expected no base to start from, but got {request.base}; name vectors by `pretrained`.")
    if not config.names and config.use != "network":
        raise SettingsError(f'{source}: Expected features to join, but got keywords = "none"; name "bm25".')
    if config.parts < 2:
        raise SettingsError(f"{source}: Expected at least 2 parts, but got parts = {config.parts}; correct it.")
    sizes = in_table("network", "hidden", "layers", "max_question", "max_answer")
    training = in_table("training", "pointwise.batch", "pointwise.epochs", "pointwise.patience", "learning_rate")
    check_positive(config, *sizes, *training, "minimum", source=request.config)
    return config
