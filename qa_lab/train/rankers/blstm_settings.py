"""What `train blstm` can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from qa_bot.home.encoders import STARTER
from qa_lab.train.errors import SettingsError
from qa_lab.train.request import Request
from qa_lab.train.settings import read_toml, settled
from rankers.answer_selection.blstm import CPU, PAPER, POOLS, BLSTMConfig, BLSTMTraining
from rankers.answer_selection.keyword_features import COSINE, FEATURES
from rankers.gbdt import GBDTConfig

Joined = Literal["none", "bm25", "cheap", "all"]
_PRESETS = {"cpu": CPU, "paper": PAPER}
_KEYWORDS: dict[Joined, tuple[str, ...]] = {
    "none": (),
    "bm25": ("bm25",),
    "cheap": FEATURES,
    "all": (*FEATURES, COSINE),
}


@dataclass(frozen=True, slots=True)
class BLSTMSettings:
    """What `--config` may hold."""

    preset: Literal["cpu", "paper"] = "cpu"  # sizes where [network] does not say
    use: Literal["stacked", "network", "keywords"] = "stacked"  # both joined by trees, or one of them alone
    keywords: Literal["none", "bm25", "cheap", "all"] = "bm25"  # features beside the pools; all: and starter's cosine
    parts: int = 2  # of the questions, for the pools that trees are grown on
    pretrained: str = STARTER  # E_pre: a static encoder's folder or a file of word vectors; empty for none
    minimum: int = 1  # times a word has to stand in the training texts
    device: Literal["auto", "cpu", "cuda"] = "auto"
    network: BLSTMConfig = CPU
    training: BLSTMTraining = field(default_factory=BLSTMTraining)
    trees: GBDTConfig = field(default_factory=lambda: GBDTConfig(objective="lambdarank"))

    @property
    def names(self) -> tuple[str, ...]:
        """Features that the trees are grown on."""
        return (*(POOLS if self.use == "stacked" else ()), *_KEYWORDS[self.keywords])


def configured(request: Request) -> BLSTMSettings:
    """The preset that the settings name, and the settings over it."""
    given = read_toml(request.config) if request.config else {}
    source = str(request.config or "defaults")
    try:
        guess = settled(BLSTMSettings(), given, source=source)
        settings = settled(BLSTMSettings(network=_PRESETS[guess.preset]), given, source=source)
    except ValueError as error:  # sizes that a part refuses itself
        raise SettingsError(str(error)) from None
    _check(settings, request, source)
    return settings


def _check(settings: BLSTMSettings, request: Request, source: str) -> None:
    if request.base is not None:
        raise SettingsError(f"Expected no base to start from, but got {request.base}; name vectors by `pretrained`.")
    if not settings.names and settings.use != "network":
        raise SettingsError(f'{source}: Expected features to join, but got keywords = "none"; name "bm25".')
    pointwise = settings.training.pointwise
    sizes = {
        "network.hidden": settings.network.hidden,
        "network.layers": settings.network.layers,
        "network.max_question": settings.network.max_question,
        "network.max_answer": settings.network.max_answer,
        "training.pointwise.batch": pointwise.batch,
        "training.pointwise.epochs": pointwise.epochs,
        "training.pointwise.patience": pointwise.patience,
        "training.learning_rate": settings.training.learning_rate,
        "minimum": settings.minimum,
        "parts": settings.parts - 1,
    }
    if wrong := [name for name, value in sizes.items() if not value > 0]:
        told = ", ".join(f"{name} = {sizes[name] + (name == 'parts')}" for name in wrong)
        raise SettingsError(f"{source}: Expected positive numbers, and at least 2 parts, but got {told}.")
