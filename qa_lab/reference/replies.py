"""What every pipeline under comparison gives: a reply to a turn, and ranked extracts of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Turn(NamedTuple):
    """A question, after the earlier questions of its dialogue; `dialogue` is empty for a single question."""

    question: str
    earlier: tuple[str, ...] = ()
    dialogue: str = ""
    body: str = ""


class Extract(NamedTuple):
    """A part of a document, or all of it."""

    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer or a refusal, with the documents of its sources, best first."""

    answered: bool
    text: str = ""
    documents: tuple[str, ...] = ()
    reason: str = ""
    confidence: float = 0.0


class Pipeline(Protocol):
    """Answers questions over one collection."""

    def reply(self, turn: Turn, *, forced: bool = False) -> Reply:
        """The answer to a turn; `forced` answers always if there is anything to answer from."""
        ...

    def ranked(self, turn: Turn, k: int) -> Sequence[Extract]:
        """Up to k passages, best first."""
        ...

    def passages(self) -> Sequence[Extract]:
        """All passages of the collection, in the order of their documents."""
        ...
