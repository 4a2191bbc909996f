"""Events while a question is answered: the current stage, the sources, the text piece by piece."""

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
    """The rewritten follow-up question; sent only if it differs from the turn as written."""

    question: str


@dataclass(frozen=True, slots=True)
class ChoicesOffered:
    """Interpretations to choose from; the answer that follows asks back."""

    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """The sources of the answer, sent before its text."""

    sources: tuple[AnswerSource, ...]


@dataclass(frozen=True, slots=True)
class TextAdded:
    """The next piece of the answer; all pieces joined are its text."""

    text: str


Event = StageBegun | Understood | ChoicesOffered | SourcesFound | TextAdded
Listener = Callable[[Event], None]
"""Called in the answering thread; it must return at once."""

STAGES = ("retrieve", "rank", "decide", "compose", "style")


def ignore_event(_: Event) -> None:
    """The default listener."""
