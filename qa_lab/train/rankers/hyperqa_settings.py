"""What `train hyperqa` can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from qa_bot.home.encoders import STARTER
from qa_lab.train.data.start_vectors import located
from qa_lab.train.errors import SettingsError
from qa_lab.train.rankers.distillation import check_distillation
from qa_lab.train.request import Request
from qa_lab.train.settings import read_toml, settled
from rankers.answer_selection.hyperqa import HyperShape
from rankers.answer_selection.siamese_cosine import PeerShape
from rankers.training.distillation import DistilConfig
from rankers.training.pair_training import PairwiseConfig

Model = Literal["hyperqa", "cosineqa", "qa-bilstm", "qa-cnn", "ap-bilstm", "ap-cnn"]


@dataclass(frozen=True, slots=True)
class HyperSettings:
    """What `--config` may hold."""

    model: Model = "hyperqa"
    pretrained: str = STARTER  # word vectors: a static encoder's folder, or a file of vectors
    most_words: int = 200_000  # of a file of vectors, the first so many
    learning_rate: float = 0.1
    l2: float = 1e-5
    hyper: HyperShape = field(default_factory=HyperShape)
    peer: PeerShape = field(default_factory=PeerShape)
    pairs: PairwiseConfig = field(default_factory=lambda: PairwiseConfig(drawn=6))
    teacher: str = ""  # a trained ranker's folder, whose scores are learned then in the place of the labels
    distil: DistilConfig = field(default_factory=DistilConfig)  # with a teacher, in the place of [pairs]

    @property
    def epochs(self) -> int:
        """At most."""
        return self.distil.epochs if self.teacher else self.pairs.epochs

    @property
    def hyperbolic(self) -> bool:
        """Whether the model is HyperQA or CosineQA rather than one of their peers."""
        return self.model in ("hyperqa", "cosineqa")

    @property
    def span(self) -> tuple[float, float] | None:
        """The least and the greatest score there can be, of cosines and of the sigmoid; None where any can be."""
        if self.hyperbolic and self.hyper.last == "sigmoid":
            return 0.0, 1.0
        cosines = not self.hyperbolic or (self.model == "cosineqa" and self.hyper.last == "raw")
        return (-1.0, 1.0) if cosines else None

    def used(self) -> dict[str, object]:
        """Those that have a say; paths are told by their names."""
        told = asdict(self) | {"pretrained": Path(self.pretrained).name, "teacher": Path(self.teacher).name}
        left = {"peer" if self.hyperbolic else "hyper", *(("pairs",) if self.teacher else ("teacher", "distil"))}
        return {name: value for name, value in told.items() if name not in left}


_COSINE = PairwiseConfig(drawn=6, margin=0.2)
_PEER = HyperSettings(learning_rate=0.01, pairs=PairwiseConfig(drawn=4, margin=0.2, epochs=15, patience=3))
DEFAULTS: Mapping[Model, HyperSettings] = {
    "hyperqa": HyperSettings(),
    "cosineqa": HyperSettings(model="cosineqa", hyper=HyperShape(distance="cosine"), pairs=_COSINE),
    "qa-bilstm": replace(_PEER, model="qa-bilstm"),
    "qa-cnn": replace(_PEER, model="qa-cnn", peer=PeerShape("cnn")),
    "ap-bilstm": replace(_PEER, model="ap-bilstm", peer=PeerShape(attentive=True)),
    "ap-cnn": replace(_PEER, model="ap-cnn", peer=PeerShape("cnn", attentive=True)),
}


def configured(request: Request) -> HyperSettings:
    """Defaults of the model that the settings name, and the settings over them."""
    given = read_toml(request.config) if request.config else {}
    source = str(request.config or "defaults")
    guess = settled(HyperSettings(), given, source=source)
    settings = settled(DEFAULTS[guess.model], given, source=source)
    _check(settings, request, source)
    return settings


def _check(settings: HyperSettings, request: Request, source: str) -> None:
    pairs = settings.pairs
    numbers = {f"pairs.{name}": getattr(pairs, name) for name in ("batch", "epochs", "patience", "negatives", "drawn")}
    numbers |= {"learning_rate": settings.learning_rate, "pairs.margin": pairs.margin}
    if wrong := [f"{name} = {value}" for name, value in numbers.items() if not value > 0]:
        raise SettingsError(f"{source}: Expected positive numbers, but got {', '.join(wrong)}.")
    own = DEFAULTS[settings.model]
    fixed = {
        "hyper.distance": (settings.hyper.distance, own.hyper.distance),
        "peer.encoder": (settings.peer.encoder, own.peer.encoder),
        "peer.attentive": (settings.peer.attentive, own.peer.attentive),
    }
    if other := [f"{name} = {given!r}" for name, (given, expected) in fixed.items() if given != expected]:
        raise SettingsError(
            f"{source}: Expected what makes {settings.model}, but got {', '.join(other)}; choose another `model`."
        )
    if not located(settings.pretrained).exists():
        raise SettingsError(
            f"{source}: Expected word vectors in {settings.pretrained}, but there is nothing; name a file of vectors, "
            f"a static encoder's folder, or `{STARTER}`."
        )
    check_distillation(settings.teacher, settings.distil, source)
    if request.base is not None and not request.base.is_dir():
        raise SettingsError(f"Expected a ranker to start from in {request.base}, but got no folder; check --base.")
