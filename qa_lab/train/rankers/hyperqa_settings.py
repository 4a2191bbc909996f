"""Settings of `train hyperqa`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from qa_bot.home.encoders import STARTER
from qa_lab.data.word_vectors import located
from qa_lab.errors import SettingsError
from qa_lab.train.rankers.distillation import check_distillation
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, in_table, load_settings, source_of
from rankers.answer_selection.hyperqa import HyperShape
from rankers.answer_selection.siamese_cosine import PeerShape
from rankers.compared.shape import ComparedShape, Network
from rankers.training.distillation import DistilConfig
from rankers.training.pair_training import PairwiseConfig

Model = Literal[
    "hyperqa",
    "cosineqa",
    "qa-bilstm",
    "qa-cnn",
    "ap-bilstm",
    "ap-cnn",
    "mp-cnn",
    "rank-mp-cnn",
    "lstm",
    "ntn-lstm",
    "cntn",
    "arc-i",
    "arc-ii",
    "ai-cnn",
]
POINTWISE: tuple[Model, ...] = ("mp-cnn", "lstm", "ntn-lstm")
"""Models whose papers train them by cross-entropy of single pairs."""


@dataclass(frozen=True, slots=True)
class HyperSettings:
    """Keys of `--config`."""

    model: Model = "hyperqa"
    preset: Literal["default", "paper"] = "default"  # paper: HyperQA with the gradients of equation 9
    threads: int = 2  # of the computation; another number gives other last digits
    pretrained: str = STARTER  # word vectors: a static encoder's folder, or a file of vectors
    most_words: int = 200_000  # the first words of a file of vectors
    learning_rate: float = 0.1
    l2: float = 1e-5
    hyper: HyperShape = field(default_factory=HyperShape)
    peer: PeerShape = field(default_factory=PeerShape)
    compared: ComparedShape = field(default_factory=ComparedShape)
    pairs: PairwiseConfig = field(default_factory=lambda: PairwiseConfig(drawn=6))
    teacher: str = ""  # folder of a trained ranker, whose scores replace the labels
    distil: DistilConfig = field(default_factory=DistilConfig)  # replaces [pairs] with a teacher

    @property
    def epochs(self) -> int:
        """At most."""
        return self.distil.epochs if self.teacher else self.pairs.epochs

    @property
    def hyperbolic(self) -> bool:
        """Whether the model is HyperQA or CosineQA."""
        return self.model in ("hyperqa", "cosineqa")

    @property
    def cosine(self) -> bool:
        """Whether the model is the cosine of two encoded texts."""
        return self.model in ("qa-bilstm", "qa-cnn", "ap-bilstm", "ap-cnn")

    @property
    def span(self) -> tuple[float, float] | None:
        """The lowest and highest possible score, of cosines and of the sigmoid; None if scores are unbounded."""
        if self.hyperbolic and self.hyper.last == "sigmoid":
            return 0.0, 1.0
        cosines = self.cosine or (self.model == "cosineqa" and self.hyper.last == "raw")
        return (-1.0, 1.0) if cosines else None

    def used(self) -> dict[str, object]:
        """The settings that affected the result; paths without their folders."""
        values = asdict(self) | {"pretrained": Path(self.pretrained).name, "teacher": Path(self.teacher).name}
        shape = "hyper" if self.hyperbolic else "peer" if self.cosine else "compared"
        unused = {"hyper", "peer", "compared"} - {shape} | {*(("pairs",) if self.teacher else ("teacher", "distil"))}
        return {name: value for name, value in values.items() if name not in unused}


_COSINE = PairwiseConfig(drawn=6, margin=0.2)
_PEER = HyperSettings(learning_rate=0.01, pairs=PairwiseConfig(drawn=4, margin=0.2, epochs=15, patience=3))
COMPARED: Mapping[Model, Network] = {
    "mp-cnn": "mp-cnn",
    "rank-mp-cnn": "mp-cnn",
    "lstm": "lstm",
    "ntn-lstm": "ntn-lstm",
    "cntn": "cntn",
    "arc-i": "arc-i",
    "arc-ii": "arc-ii",
    "ai-cnn": "ai-cnn",
}
"""Network of `rankers/compared` by model."""
_COMPARED = HyperSettings(learning_rate=0.001, pairs=PairwiseConfig(drawn=4, epochs=15, patience=3))
DEFAULTS: Mapping[Model, HyperSettings] = {
    "hyperqa": HyperSettings(),
    "cosineqa": HyperSettings(model="cosineqa", hyper=HyperShape(distance="cosine"), pairs=_COSINE),
    "qa-bilstm": replace(_PEER, model="qa-bilstm"),
    "qa-cnn": replace(_PEER, model="qa-cnn", peer=PeerShape("cnn")),
    "ap-bilstm": replace(_PEER, model="ap-bilstm", peer=PeerShape(attentive=True)),
    "ap-cnn": replace(_PEER, model="ap-cnn", peer=PeerShape("cnn", attentive=True)),
    **{model: replace(_COMPARED, model=model, compared=ComparedShape(network)) for model, network in COMPARED.items()},
}


def settings(request: Request) -> HyperSettings:
    """Defaults of the model and the preset that the settings name, and the settings over them."""
    config = load_settings(request.config, HyperSettings(), preset=_defaults)
    source = source_of(request.config)
    pairs = in_table("pairs", "batch", "epochs", "patience", "negatives", "drawn", "margin")
    check_positive(config, *pairs, "learning_rate", "threads", source=request.config)
    defaults = DEFAULTS[config.model]
    fixed = {
        "hyper.distance": (config.hyper.distance, defaults.hyper.distance),
        "peer.encoder": (config.peer.encoder, defaults.peer.encoder),
        "peer.attentive": (config.peer.attentive, defaults.peer.attentive),
        "compared.network": (config.compared.network, defaults.compared.network),
    }
    if wrong := [f"{name} = {value!r}" for name, (value, expected) in fixed.items() if value != expected]:
        raise SettingsError(
            f"{source}: Expected what makes {config.model}, but got {', '.join(wrong)}; choose another `model`."
        )
    if not located(config.pretrained).exists():
        raise SettingsError(
            f"{source}: Expected word vectors in {config.pretrained}, but the path does not exist; name a file of "
            f"vectors, a static encoder's folder, or `{STARTER}`."
        )
    check_distillation(config.teacher, config.distil, source)
    if request.base is not None and not request.base.is_dir():
        raise SettingsError(f"Expected a ranker to start from in {request.base}, but got no folder; check --base.")
    return config


def _defaults(config: HyperSettings) -> HyperSettings:
    """Of the model and the preset."""
    defaults = DEFAULTS[config.model]
    faithful = config.preset == "paper" and config.model == "hyperqa"
    return replace(defaults, hyper=replace(defaults.hyper, riemannian="embeddings")) if faithful else defaults
