"""A passage as the cutters give it."""

from __future__ import annotations

from dataclasses import dataclass

from qa_core.types import Place, Span


@dataclass(frozen=True, slots=True)
class CutPassage:
    """A passage: its text as shown, its span of the document's text, and its units, spans of `text`.

    `text` is the span, with what a reader needs above it (a table's header, the fence of code) if it was cut there.
    """

    text: str
    start: int
    end: int
    place: Place
    units: tuple[Span, ...]
