"""What the JSON routes take and give. Requests are validated by these; replies are described by them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from qa_bot.pipeline import SearchEngine
from qa_bot.web.frames import COMMENT, NAME, TEXT, Id, Vote
from qa_core.types import AnswerKind, Span

DEADLINE = 120
"""Seconds: the longest deadline that a client may ask for."""
TOP = 1000
"""Documents: the longest list that a client may ask for."""
PAGE = 100
TITLE = 200


def whole(value: object) -> object:
    """JSON has one kind of number: 3.0 is as whole as 3."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Long = Annotated[str, Field(max_length=TEXT)]
Short = Annotated[str, Field(max_length=NAME)]
Asked = Annotated[str, Field(min_length=1, max_length=TEXT)]
Deadline = Annotated[float, Field(gt=0, le=DEADLINE, description="Seconds until the best answer so far goes out.")]
Top = Annotated[
    int, Field(ge=1, le=TOP, description="How many documents to name; 10 where not given."), BeforeValidator(whole)
]
Seconds = Annotated[float, Field(description="Seconds since 1970.")]
Stretch = Annotated[Span | None, Field(description="[start, end) in Unicode code points.")]


class Body(BaseModel):
    """A request: JSON types are taken as they are, unknown fields are refused; null is as good as absent."""

    model_config = ConfigDict(strict=True, extra="forbid")


class AskRequest(Body):
    question: Asked
    body: Long | None = None
    category: Short | None = None
    persona: Short | None = None
    hint: Short | None = None
    deadline: Deadline | None = None
    top: Top | None = None
    conversation: Id | None = None
    trace: bool | None = None


class SearchRequest(Body):
    query: Asked
    engine: SearchEngine | None = None
    top: Top | None = None


class FeedbackRequest(Body):
    id: Id
    vote: Vote
    comment: Annotated[str, Field(max_length=COMMENT)] | None = None


class RenameRequest(Body):
    title: Annotated[str, Field(min_length=1, max_length=TITLE, pattern=r"\S")]


class PageQuery(BaseModel):
    """Which conversations to list; the values come as text."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=TOP)] = PAGE
    before: Annotated[float, Field(ge=0, allow_inf_nan=False, description="Only those updated earlier.")] | None = None


# --- replies --------------------------------------------------------------------------------------------------------


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


class AskReply(AnswerReply):
    conversation: str
    trace: dict[str, Any] | None = None


class FoundReply(BaseModel):
    id: str
    document: str
    collection: str
    title: str
    url: str
    score: float
    text: str
    features: Annotated[dict[str, float], Field(description="The score of every stage.")]


class SearchReply(BaseModel):
    query: str
    engine: SearchEngine
    results: list[FoundReply]


class GivenFeedback(BaseModel):
    vote: Vote
    comment: str


class FeedbackReply(GivenFeedback):
    id: str


class ConversationReply(BaseModel):
    id: str
    title: str
    persona: str
    created: Seconds
    updated: Seconds
    turns: Annotated[int, Field(description="How many.")]


class ConversationsReply(BaseModel):
    conversations: Annotated[list[ConversationReply], Field(description="The last used first.")]


class TurnReply(BaseModel):
    id: str
    question: str
    rewritten: str
    answer: AnswerReply
    asked: Seconds
    feedback: Annotated[GivenFeedback | None, Field(description="The last vote on it.")]


class WholeConversationReply(BaseModel):
    id: str
    title: str
    persona: str
    created: Seconds
    updated: Seconds
    turns: list[TurnReply]


class ErrorDetail(BaseModel):
    code: str
    message: str
    request_id: str


class ErrorReply(BaseModel):
    error: ErrorDetail
