"""Settings of `train chat`: sizes of a preset, and what a file says over them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from generators.conversation.acceptor import AcceptorConfig
from generators.conversation.chat_model import ChatConfig
from generators.conversation.language_model import LanguageModelConfig
from generators.training.chat_training import PartConfig
from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_lab.train.errors import SettingsError
from qa_lab.train.request import Request
from qa_lab.train.settings import read_toml, settled

PARTS = ("forward", "language", "backward")
"""In the order in which they are trained."""


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What `--config` may hold."""

    preset: Literal["small", "thesis"] = "small"  # sizes and epochs where the tables do not say
    minimum: int = 2  # times a word has to stand in the training texts
    words: str = ""  # file of texts whose words are known beyond the vocabulary's size, where they stand so often
    half: bool = False  # write floats of 16 bits
    device: Literal["auto", "cpu", "cuda"] = "auto"
    examples: int = 50_000  # words that the acceptor learns from, each beside a drawn one
    model: ChatConfig = field(default_factory=ChatConfig)
    forward: PartConfig = field(default_factory=PartConfig)
    language: PartConfig = field(default_factory=PartConfig)
    backward: PartConfig = field(default_factory=PartConfig)

    def part(self, name: str) -> PartConfig:
        return {"forward": self.forward, "language": self.language, "backward": self.backward}[name]


SMALL = ChatSettings(
    model=ChatConfig(
        Seq2SeqConfig(8_000, dimension=192, hidden=256, layers=1, dropout=0.1, tied=True, topic_width=64),
        LanguageModelConfig(8_000, dimension=192, hidden=256, layers=1, dropout=0.1, tied=True),
        max_source=24,
        max_target=24,
    ),
    forward=PartConfig(batch=128, epochs=6, rows=100_000, sampled=500),
    language=PartConfig(batch=128, epochs=3, rows=100_000, sampled=500),
    backward=PartConfig(batch=128, epochs=4, rows=100_000, sampled=500),
)
THESIS = ChatSettings(
    preset="thesis", model=ChatConfig(Seq2SeqConfig(50_000), LanguageModelConfig(50_000), AcceptorConfig())
)
_PRESETS = {"small": SMALL, "thesis": THESIS}


def configured(request: Request) -> ChatSettings:
    """The preset that the settings name, and the settings over it."""
    given = read_toml(request.config) if request.config else {}
    source = str(request.config or "defaults")
    settings = settled(_PRESETS[settled(ChatSettings(), given, source=source).preset], given, source=source)
    if settings.model.network.pretrained:
        raise SettingsError(f"{source}: Expected pretrained = false in [model.network], but got true; leave it out.")
    _check_positive(settings, source)
    return settings


def _check_positive(settings: ChatSettings, source: str) -> None:
    sizes: dict[str, float] = {
        "model.turns": settings.model.turns,
        "model.max_source": settings.model.max_source,
        "model.max_target": settings.model.max_target,
        "minimum": settings.minimum,
        "examples": settings.examples,
    }
    for name in PARTS:
        part = settings.part(name)
        for key in ("batch", "epochs", "rows", "patience", "learning_rate"):
            sizes[f"{name}.{key}"] = getattr(part, key)
    if wrong := [f"{name} = {value}" for name, value in sizes.items() if not value > 0]:
        raise SettingsError(f"{source}: Expected positive numbers, but got {', '.join(wrong)}.")
