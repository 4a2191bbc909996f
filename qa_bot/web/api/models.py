"""What the JSON routes take and give. Requests are validated by these; replies are described by them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from qa_bot.answering.answer_schema import AnswerReply, LineReply
from qa_bot.answering.corridor import SearchEngine
from qa_bot.conversation.persona_choice import LONGEST
from qa_bot.web.chat.frames import COMMENT, NAME, TEXT, Id, Vote

DEADLINE = 120
"""Seconds: the longest deadline that a client may ask for."""
TOP = 1000
"""Documents: the longest list that a client may ask for."""
PAGE = 100
LINES = 10
MOST_LINES = 100
"""Sentences of a persona, in the order of which a person chooses."""
TURNS = 50
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
Place = Annotated[int, Field(ge=0, lt=TOP)]
Seconds = Annotated[float, Field(description="Seconds since 1970.")]


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
    raw: Annotated[bool | None, Field(description="Ask it as it is written, whatever was said before.")] = None
    trace: bool | None = None


class SearchRequest(Body):
    query: Asked
    engine: SearchEngine | None = None
    top: Top | None = None


class FeedbackRequest(Body):
    id: Id
    vote: Vote
    comment: Annotated[str, Field(max_length=COMMENT)] | None = None


class ChooseRequest(Body):
    id: Id
    choice: Annotated[
        Place | Annotated[str, Field(min_length=1, max_length=LONGEST, pattern=r"\S")],
        Field(description="A place among `styled.lines`, or a text: one of theirs, or of a person's own."),
    ]


class SpeakRequest(Body):
    persona: Annotated[str, Field(min_length=1, max_length=NAME)]
    turns: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=TEXT, pattern=r"\S")]],
        Field(min_length=1, max_length=TURNS, description="What was said so far; the last is replied to."),
    ]
    hint: Short | None = None
    top: (
        Annotated[
            int,
            Field(ge=1, le=MOST_LINES, description=f"How many sentences; {LINES} where not given."),
            BeforeValidator(whole),
        ]
        | None
    ) = None
    deadline: Deadline | None = None


class GridQuery(BaseModel):
    """What is to be found on the grid; the values come as text."""

    model_config = ConfigDict(extra="forbid")

    hint: Short = ""


class RenameRequest(Body):
    title: Annotated[str, Field(min_length=1, max_length=TITLE, pattern=r"\S")]


class PageQuery(BaseModel):
    """Which conversations to list; the values come as text."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=TOP)] = PAGE
    before: Annotated[float, Field(ge=0, allow_inf_nan=False, description="Only those updated earlier.")] | None = None


class TranscriptQuery(BaseModel):
    """How a conversation is told."""

    model_config = ConfigDict(extra="forbid")

    format: Annotated[Literal["json", "markdown"], Field(description="Markdown is for people to keep.")] = "json"


# --- replies --------------------------------------------------------------------------------------------------------


class AskReply(AnswerReply):
    conversation: str


class ChooseReply(AnswerReply):
    conversation: str | None
    ask: Annotated[str | None, Field(description="The asker's own id of the question.")] = None


class SpeakReply(BaseModel):
    persona: str
    lines: Annotated[list[LineReply], Field(description="Best first.")]
    notice: Annotated[str, Field(description="Why there are no lines, or why the hint does not steer.")]


class GridReply(BaseModel):
    """Words of topics on a torus, where neighbours are alike."""

    height: int
    width: int
    window: int
    cells: Annotated[list[list[str]], Field(description="The likeliest words of each cell, row by row.")]
    hint: str = ""
    posterior: Annotated[list[float], Field(description="How likely the hint comes from each cell's window.")] = []
    notice: str | None = None


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
