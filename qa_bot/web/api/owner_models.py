"""Requests and replies of the owner's routes."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from qa_bot.learning.owner import ANSWER, QUESTION, URL
from qa_bot.web.api.models import Body, Seconds

MOST = 500
"""Limit of questions in a reply."""
LIST = 50

Key = Annotated[
    str, Field(pattern=r"^[0-9a-f]{32}$", max_length=32, description="Of a question, independent of case and blanks.")
]

Link = Annotated[str, Field(max_length=URL, pattern=r"^https?://\S+$", description="Where to read more.")]


class GapsQuery(BaseModel):
    """How many questions to list; query values are text."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=MOST)] = LIST


class AddAnswerRequest(Body):
    question: Annotated[str, Field(max_length=QUESTION, pattern=r"\w")]
    answer: Annotated[str, Field(max_length=ANSWER, pattern=r"\w")]
    url: Link | None = None
    gap: Annotated[Key | None, Field(description="The question answered, if it was worded differently.")] = None


class DismissRequest(Body):
    gap: Key


# --- replies --------------------------------------------------------------------------------------------------------


class NearestReply(BaseModel):
    document: str
    collection: str
    title: str
    url: str


class GapReply(BaseModel):
    """A question without a good answer, over all turns that asked it since it was last settled."""

    key: Key
    question: Annotated[str, Field(description="As understood, in its most frequent wording.")]
    asked: Annotated[int, Field(description="Number of turns.")]
    unanswered: Annotated[int, Field(description="Turns without an answer.")]
    downvoted: Annotated[int, Field(description="Turns whose last vote is down.")]
    last: Seconds
    comments: Annotated[list[str], Field(description="Comments on its answers, the latest first.")]
    answer: Annotated[str, Field(description="The last answer, or empty.")]
    nearest: Annotated[NearestReply | None, Field(description="The first source of the last answer.")]


class GapsReply(BaseModel):
    gaps: Annotated[list[GapReply], Field(description="The most frequent first.")]
    total: Annotated[int, Field(description="Number of all such questions.")]


class AddAnswerReply(BaseModel):
    document: Annotated[str, Field(description="Its id; a later answer to the same question replaces it.")]
    collection: str


class DismissReply(BaseModel):
    gap: Key
    asked: Annotated[int, Field(description="Number of turns.")]
