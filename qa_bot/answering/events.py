"""What a question tells while it is being answered: its stage, its sources, its text piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qa_core.types import AnswerSource, Choice


@dataclass(frozen=True, slots=True)
class StageBegun:
    """`stage` is one of `STAGES`."""

    stage: str


@dataclass(frozen=True, slots=True)
class Understood:
    """The question that a follow-up was taken for; told where it is not the one that was written."""

    question: str


@dataclass(frozen=True, slots=True)
class ChoicesOffered:
    """What may be meant; the answer that follows asks back."""

    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """The sources as the answer will name them, known before its text is."""

    sources: tuple[AnswerSource, ...]


@dataclass(frozen=True, slots=True)
class TextAdded:
    """The next piece of the answer; the pieces joined are its text."""

    text: str


Event = StageBegun | Understood | ChoicesOffered | SourcesFound | TextAdded
Listener = Callable[[Event], None]
"""Called in the thread that answers; it must return at once."""

STAGES = ("retrieve", "rank", "decide", "compose", "style")


def nobody(_: Event) -> None:
    """Listens to nothing."""
