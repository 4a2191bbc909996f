"""The JSON of an answer as pydantic models, to validate recorded answers and to describe the HTTP interface."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from qa_core.types import AnswerKind, Span, StyledKind

Stretch = Annotated[Span | None, Field(description="[start, end) in Unicode code points.")]


class PassageReply(BaseModel):
    """A document with its best passage, and where the passage stands."""

    id: str
    document: str
    collection: str
    title: str
    url: str
    score: float
    text: str
    path: Annotated[str, Field(description="File below its source. This and what follows: only where known.")] = ""
    heading: Annotated[list[str], Field(description="Headings above the passage, outermost first.")] = []
    page: Annotated[int | None, Field(description="Page or slide of the passage.")] = None
    row: Annotated[int | None, Field(description="First row of the passage in its sheet.")] = None
    date: Annotated[str, Field(description="Last change of the document, ISO 8601.")] = ""
    language: Annotated[str, Field(description="ISO 639 code.")] = ""
    archived: Annotated[bool, Field(description="Whether the document says that it is out of date.")] = False
    draft: Annotated[bool, Field(description="Whether the document says that it is not final.")] = False


class SourceReply(PassageReply):
    """A document behind an answer, with its best passage; the spans are null if the answer does not use it."""

    span: Stretch
    source_span: Stretch


class LineReply(BaseModel):
    """A sentence of a persona: generated, quoted from the speaker, or written by a person."""

    text: str
    kind: StyledKind
    persona: str
    score: float


class StyledReply(BaseModel):
    """A persona's sentences about a question; only if a persona was requested."""

    persona: str
    hint: str
    lines: Annotated[list[LineReply], Field(description="The chosen one, then the others, best first.")]
    span: Annotated[Span | None, Field(description="Position of the sentence in `answer`; null if it has none.")]
    notice: Annotated[str, Field(description="Why there are no lines, or why the hint does not steer.")]


class ChoiceReply(BaseModel):
    text: str
    question: Annotated[str, Field(description="The question that is asked if it is chosen.")]


class AnswerReply(BaseModel):
    id: str
    question: str
    answered: bool
    kind: AnswerKind
    answer: Annotated[str, Field(description="Markdown where the source has structure.")]
    lead: Annotated[
        Span | None,
        Field(description="The stretch of `answer` that answers, [start, end) in Unicode code points; null if none."),
    ] = None
    confidence: float
    reason: str
    sources: list[SourceReply]
    timings: Annotated[dict[str, float], Field(description="Seconds by stage, and their total.")]
    skipped: list[str]
    unsure: Annotated[bool, Field(description="The answer is below the wanted precision; sent only if true.")] = False
    styled: StyledReply | None = None
    understood: Annotated[
        str, Field(description="The follow-up as understood, if it was rewritten: a question, or the parts of one.")
    ] = ""
    searched: Annotated[str, Field(description="The rewritten question, if `understood` has the parts of one.")] = ""
    choices: Annotated[
        list[ChoiceReply],
        Field(
            description="Possible meanings of an ambiguous question, or what could be asked instead: answer with "
            "`/api/choose`."
        ),
    ] = []
    former: Annotated[
        str,
        Field(description="What an older document said with other figures, after its date; sent only if there is one."),
    ] = ""
    suggested: Annotated[
        bool,
        Field(description="`choices` are other questions, which the documents answer; sent only if true."),
    ] = False
    trace: dict[str, Any] | None = None
