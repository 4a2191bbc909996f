"""Requests and replies of the JSON routes: requests are validated by these models, replies are only described."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from qa_bot.answering.answer_schema import AnswerReply, LineReply, PassageReply
from qa_bot.answering.corridor import SearchEngine
from qa_bot.conversation.persona_choice import LONGEST
from qa_bot.web.chat.frames import CELLS, COMMENT, NAME, TEXT, Id, Vote
from qa_bot.web.chat.scope import ScopeFields

DEADLINE = 120
"""Limit of a request's deadline, in seconds."""
TOP = 1000
"""Limit of documents in a reply."""
PAGE = 100
LINES = 10
MOST_LINES = 100
"""Limit of a persona's sentences."""
TURNS = 50
TITLE = 200


def whole(value: object) -> object:
    """Accept 3.0 for 3, because JSON has only one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Long = Annotated[str, Field(max_length=TEXT)]
Short = Annotated[str, Field(max_length=NAME)]
Query = Annotated[str, Field(min_length=1, max_length=TEXT)]
Deadline = Annotated[
    float, Field(gt=0, le=DEADLINE, description="Seconds after which the best answer so far is given.")
]
Top = Annotated[
    int, Field(ge=1, le=TOP, description="Number of documents to name; 10 by default."), BeforeValidator(whole)
]
Cell = Annotated[
    int,
    Field(ge=0, lt=CELLS, description="Place on the topic map, row-major, in place of the hint's words."),
    BeforeValidator(whole),
]
Index = Annotated[int, Field(ge=0, lt=TOP)]
Seconds = Annotated[float, Field(description="Seconds since 1970.")]


class Body(BaseModel):
    """A request: types are strict, unknown fields are refused, null means absent."""

    model_config = ConfigDict(strict=True, extra="forbid")


class AskRequest(Body, ScopeFields):
    question: Query
    body: Long | None = None
    category: Short | None = None
    persona: Short | None = None
    hint: Short | None = None
    cell: Cell | None = None
    deadline: Deadline | None = None
    top: Top | None = None
    conversation: Id | None = None
    raw: Annotated[bool | None, Field(description="Ask it as it is written, ignoring earlier turns.")] = None
    trace: bool | None = None


class SearchRequest(Body, ScopeFields):
    query: Query
    engine: SearchEngine | None = None
    top: Top | None = None


class FeedbackRequest(Body):
    id: Id
    vote: Vote
    comment: Annotated[str, Field(max_length=COMMENT)] | None = None


class ChooseRequest(Body):
    id: Id
    choice: Annotated[
        Index | Annotated[str, Field(min_length=1, max_length=LONGEST, pattern=r"\S")],
        Field(description="An index into `styled.lines` or `choices`, or a text: one of these, or a person's own."),
    ]


class SpeakRequest(Body):
    persona: Annotated[str, Field(min_length=1, max_length=NAME)]
    turns: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=TEXT, pattern=r"\S")]],
        Field(
            min_length=1, max_length=TURNS, description="The conversation so far; the persona replies to the last turn."
        ),
    ]
    hint: Short | None = None
    top: (
        Annotated[
            int,
            Field(ge=1, le=MOST_LINES, description=f"Number of sentences; {LINES} by default."),
            BeforeValidator(whole),
        ]
        | None
    ) = None
    deadline: Deadline | None = None


class GridQuery(BaseModel):
    """A hint to locate on the grid; query values are text."""

    model_config = ConfigDict(extra="forbid")

    hint: Short = ""


class RenameRequest(Body):
    title: Annotated[str, Field(min_length=1, max_length=TITLE, pattern=r"\S")]


class PageQuery(BaseModel):
    """Which conversations to list; query values are text."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=TOP)] = PAGE
    before: Annotated[float, Field(ge=0, allow_inf_nan=False, description="Only those updated earlier.")] | None = None


class TranscriptQuery(BaseModel):
    """Format of a conversation."""

    model_config = ConfigDict(extra="forbid")

    format: Annotated[Literal["json", "markdown"], Field(description="Markdown is for people.")] = "json"


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
    """Words of topics on a torus, on which neighbours are similar."""

    height: int
    width: int
    window: int
    cells: Annotated[list[list[str]], Field(description="The most likely words of each cell, row by row.")]
    hint: str = ""
    posterior: Annotated[list[float], Field(description="Probability of the hint in each cell's window.")] = []
    notice: str | None = None


class FoundReply(PassageReply):
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
    turns: Annotated[int, Field(description="Number of turns.")]


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
