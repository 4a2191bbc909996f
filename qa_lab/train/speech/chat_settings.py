"""Settings of `train chat`: the sizes of a preset, overridden by a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from generators.conversation.chat_text import ChatConfig
from generators.inference.acceptor import AcceptorConfig
from generators.inference.language_model import LanguageModelConfig
from generators.training.chat_training import PartConfig
from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_lab.errors import SettingsError
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, in_table, load_settings, source_of

PARTS = ("forward", "language", "backward")
"""In the order in which they are trained."""


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """Keys of `--config`."""

    preset: Literal["small", "thesis"] = "small"  # default sizes and epochs
    minimum: int = 2  # occurrences of a word in the training texts
    words: str = ""  # file of texts; their words with enough occurrences are known in addition to the vocabulary
    lines: bool = False  # keep the replies with a text index, whose topics may be hints (`style.hints = "dialogues"`)
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
_THESIS_PART = PartConfig(batch=200, schedule="constant", topics=1.0)
THESIS = ChatSettings(
    preset="thesis",
    lines=True,
    model=ChatConfig(Seq2SeqConfig(50_000, boundaries=True), LanguageModelConfig(50_000), AcceptorConfig()),
    forward=_THESIS_PART,
    language=_THESIS_PART,
    backward=_THESIS_PART,
)
_PRESETS = {"small": SMALL, "thesis": THESIS}


def settings(request: Request) -> ChatSettings:
    """The preset that the settings name, and the settings over it."""
    config = load_settings(request.config, ChatSettings(), preset=lambda c: _PRESETS[c.preset])
    if config.model.network.pretrained:
        raise SettingsError(
            f"{source_of(request.config)}: Expected pretrained = false in [model.network], but got true; leave it out."
        )
    parts = [key for name in PARTS for key in in_table(name, "batch", "epochs", "rows", "patience", "learning_rate")]
    if shares := [name for name in PARTS if not 0 <= config.part(name).topics <= 1]:
        raise SettingsError(
            f"{source_of(request.config)}: Expected topics from 0 to 1 in [{shares[0]}], but got "
            f"{config.part(shares[0]).topics:g}; it is the share of the replies that come with their topics."
        )
    sizes = in_table("model", "turns", "max_source", "max_target")
    check_positive(config, *sizes, "minimum", "examples", *parts, source=request.config)
    return config
