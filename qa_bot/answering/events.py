"""Events while a question is answered: the current stage, the sources, the text piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from qa_core.text.analysis import sentences
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
    """The sources of the answer, sent before its text; `notice` is the remark above it."""

    sources: tuple[AnswerSource, ...]
    notice: str = ""


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


def announce(sources: Sequence[AnswerSource], text: str, listen: Listener, *, notice: str = "") -> None:
    """The events of a finished answer: its sources, then its text sentence by sentence."""
    listen(SourcesFound(tuple(sources), notice))
    if text and listen is not ignore_event:
        for piece in _pieces(text):
            listen(TextAdded(piece))


def _pieces(text: str) -> Iterator[str]:
    """The sentences of a text, each with the characters before the next one."""
    bounds = [start for start, _ in sentences(text)][1:]
    for start, end in pairwise([0, *bounds, len(text)]):
        yield text[start:end]
