"""Settings of `train persona`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from generators.conversation.decoding import Sampling
from generators.training.chat_training import PartConfig
from qa_lab.train.errors import SettingsError
from qa_lab.train.request import Request
from qa_lab.train.settings import read_toml, settled

PARTS = ("speaker", "forward")
"""In the order in which they are trained."""


@dataclass(frozen=True, slots=True)
class PersonaSettings:
    """What `--config` may hold."""

    name: str = ""  # that of the folder, where none is given
    contexts: int = 2  # made up for each sentence
    words: tuple[str, ...] = ("forward",)  # parts whose word vectors and softmax are tuned too, 3 MB each in the folder
    half: bool = True  # write floats of 16 bits
    examples: int = 20_000  # words that the acceptor learns from, each beside a drawn one
    device: Literal["auto", "cpu", "cuda"] = "auto"
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.8))  # of contexts
    speaker: PartConfig = field(default_factory=lambda: PartConfig(batch=32, epochs=10, patience=1))
    forward: PartConfig = field(
        default_factory=lambda: PartConfig(batch=32, epochs=8, patience=1, learning_rate=0.0007)
    )

    def part(self, name: str) -> PartConfig:
        return {"speaker": self.speaker, "forward": self.forward}[name]


def configured(request: Request) -> PersonaSettings:
    """The defaults, and the settings over them."""
    given = read_toml(request.config) if request.config else {}
    source = str(request.config or "defaults")
    settings = settled(PersonaSettings(), given, source=source)
    sizes: dict[str, float] = {"contexts": settings.contexts, "examples": settings.examples}
    for name in PARTS:
        part = settings.part(name)
        for key in ("batch", "epochs", "rows", "patience", "learning_rate"):
            sizes[f"{name}.{key}"] = getattr(part, key)
    if unknown := sorted(set(settings.words) - set(PARTS)):
        raise SettingsError(f"{source}: Expected words of {' and '.join(PARTS)}, but got {', '.join(unknown)}.")
    if wrong := [f"{name} = {value}" for name, value in sizes.items() if not value > 0]:
        raise SettingsError(f"{source}: Expected positive numbers, but got {', '.join(wrong)}.")
    return settings
