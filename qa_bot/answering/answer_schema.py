"""The JSON of an answer as pydantic models, to validate recorded answers and to describe the HTTP interface."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from qa_core.types import AnswerKind, Span, StyledKind

Stretch = Annotated[Span | None, Field(description="[start, end) in Unicode code points.")]


class SourceReply(BaseModel):
    """A document behind an answer, at its best passage; the spans are null where the answer does not use it."""

    id: str
    document: str
    collection: str
    title: str
    url: str
    score: float
    text: str
    span: Stretch
    source_span: Stretch


class LineReply(BaseModel):
    """A sentence in somebody's voice: drawn word by word, quoted from the speaker, or written by a person."""

    text: str
    kind: StyledKind
    persona: str
    score: float


class StyledReply(BaseModel):
    """What a persona says to a question; only where one was asked for."""

    persona: str
    hint: str
    lines: Annotated[list[LineReply], Field(description="The one that was taken, then the others, best first.")]
    span: Annotated[Span | None, Field(description="Where the sentence stands in `answer`; null where it does not.")]
    notice: Annotated[str, Field(description="What to know where there are no lines, or the hint does not steer.")]


class ChoiceReply(BaseModel):
    text: str
    question: Annotated[str, Field(description="What is asked where it is chosen.")]


class AnswerReply(BaseModel):
    id: str
    question: str
    answered: bool
    kind: AnswerKind
    answer: str
    confidence: float
    reason: str
    sources: list[SourceReply]
    timings: Annotated[dict[str, float], Field(description="Seconds by stage, and their total.")]
    skipped: list[str]
    styled: StyledReply | None = None
    understood: Annotated[str, Field(description="The follow-up as it was understood, where it was rewritten.")] = ""
    choices: Annotated[
        list[ChoiceReply], Field(description="What may be meant, where the bot asks back: answer with `/api/choose`.")
    ] = []
    trace: dict[str, Any] | None = None
