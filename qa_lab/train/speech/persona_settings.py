"""Settings of `train persona`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from generators.conversation.decoding import Sampling
from generators.training.chat_training import PartConfig
from qa_lab.errors import SettingsError
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, in_table, load_settings, source_of

PARTS = ("speaker", "forward")
"""In the order in which they are trained."""


@dataclass(frozen=True, slots=True)
class PersonaSettings:
    """Keys of `--config`."""

    name: str = ""  # by default that of the folder
    contexts: int = 2  # generated for each sentence
    words: tuple[str, ...] = ("forward",)  # parts whose word vectors and softmax are tuned too, 3 MB each
    half: bool = True  # write floats of 16 bits
    examples: int = 20_000  # words that the acceptor learns from, each with a drawn one
    device: Literal["auto", "cpu", "cuda"] = "auto"
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.8))  # of contexts
    speaker: PartConfig = field(default_factory=lambda: PartConfig(batch=32, epochs=10, patience=1))
    forward: PartConfig = field(
        default_factory=lambda: PartConfig(batch=32, epochs=8, patience=1, learning_rate=0.0007)
    )

    def part(self, name: str) -> PartConfig:
        return {"speaker": self.speaker, "forward": self.forward}[name]


def settings(request: Request) -> PersonaSettings:
    """The defaults, and the settings over them."""
    config = load_settings(request.config, PersonaSettings())
    if unknown := sorted(set(config.words) - set(PARTS)):
        raise SettingsError(
            f"{source_of(request.config)}: Expected words of {' and '.join(PARTS)}, but got {', '.join(unknown)}."
        )
    parts = [key for name in PARTS for key in in_table(name, "batch", "epochs", "rows", "patience", "learning_rate")]
    check_positive(config, "contexts", "examples", *parts, source=request.config)
    return config
