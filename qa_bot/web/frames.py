"""The frames of the WebSocket; the server's are also the events of a streamed `POST /api/ask`.

Every frame is `{"type", "id", "conversation", "seq", …}`. `id` is the question's: the one that the client gave, else
one of the server's. `seq` counts the server's frames of a conversation, so that a client that comes back can say how
far it had read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from qa_bot.events import Event, SourcesFound, StageBegun, TextAdded
from qa_bot.presentation import as_dict, source_dict
from qa_core.types import Answer

TEXT = 20_000
"""Characters of the longest question, with its body; longer ones are told so."""
COMMENT = 2_000
NAME = 200

Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\w.:-]+$")]
Vote = Literal["up", "down"]


class Frame(BaseModel):
    """What every client frame may carry; unknown fields are left alone, so that newer clients work."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=False)

    conversation: Id | None = None
    seq: Annotated[int, Field(ge=0)] | None = None


class Hello(Frame):
    """Opens or resumes a conversation; `resume` is its id, `seq` the last frame that the client has read."""

    type: Literal["hello"]
    token: Annotated[str, Field(max_length=1024)] | None = None
    resume: Id | None = None


class Ask(Frame):
    type: Literal["ask"]
    id: Id | None = None
    text: Annotated[str, Field(min_length=1, max_length=TEXT)]
    persona: Annotated[str, Field(max_length=NAME)] = ""
    hint: Annotated[str, Field(max_length=NAME)] = ""
    deadline: Annotated[float, Field(gt=0, le=120)] | None = None
    trace: bool = False


class Cancel(Frame):
    type: Literal["cancel"]
    id: Id


class Feedback(Frame):
    type: Literal["feedback"]
    id: Id
    vote: Vote
    comment: Annotated[str, Field(max_length=COMMENT)] = ""


class Choose(Frame):
    type: Literal["choose"]
    id: Id
    choice: int | str


class Raw(Frame):
    type: Literal["raw"]
    id: Id


class Ping(Frame):
    type: Literal["ping"]
    id: Id | None = None


ClientFrame = Hello | Ask | Cancel | Feedback | Choose | Raw | Ping
CLIENT_FRAME: TypeAdapter[ClientFrame] = TypeAdapter(Annotated[ClientFrame, Field(discriminator="type")])


def told(event: Event) -> dict[str, Any]:
    """What a server frame says of an event: `status`, `sources` or `delta`."""
    match event:
        case StageBegun(stage):
            return {"type": "status", "stage": stage}
        case SourcesFound(sources):
            return {"type": "sources", "sources": [source_dict(source) for source in sources]}
        case TextAdded(text):
            return {"type": "delta", "text": text}


def final(answer: Answer) -> dict[str, Any]:
    """The frame that ends a turn: the answer object, whose own id stands under `turn`, for `id` is the question's."""
    return {**as_dict(answer), "type": "final", "turn": answer.id}


def failed(code: str, message: str, retry_after: float | None = None) -> dict[str, Any]:
    waiting: Mapping[str, float] = {} if retry_after is None else {"retry_after": retry_after}
    return {"type": "error", "code": code, "message": message, **waiting}
