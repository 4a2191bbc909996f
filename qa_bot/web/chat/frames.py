"""The frames of the WebSocket; the server's are also the events of a streamed `POST /api/ask`.

Every frame is `{"type", "id", "conversation", "seq", …}`. `id` is the id of the question, from the client or else from
the server. `seq` numbers the frames of a conversation's turns, so that a reconnecting client can name the last one it
read. Direct replies (`ready`, `pong`, an `error` outside of turns) are not numbered; they carry the number of the last
frame that this client was sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from qa_bot.answering.answer_json import as_dict, source_dict
from qa_bot.answering.events import ChoicesOffered, Event, SourcesFound, StageBegun, TextAdded, Understood
from qa_bot.web.chat.scope import ScopeFields
from qa_bot.web.errors import ServiceError
from qa_core.types import Answer

TEXT = 20_000
"""Limit of a question with its body, in characters."""
COMMENT = 2_000
NAME = 200
CELLS = 2**20
"""Limit of places on a topic map; the persona's map has fewer."""
SHOWN = 60
"""Characters of an invalid value that an error shows."""
QUEUED = "queued"
"""The stage of a question that waits."""

Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$")]
Vote = Literal["up", "down"]
INTERNAL = ("internal", "Something went wrong here; the log of the service says what.")
"""Code and message of an error of the server."""


class Frame(BaseModel):
    """Fields of every client frame; unknown fields are ignored, so that newer clients work."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    id: Id | None = None
    conversation: Id | None = None
    seq: Annotated[int, Field(ge=0, lt=2**48)] | None = None


class Hello(Frame):
    """Opens or resumes a conversation; `resume` is its id, `seq` the last frame that the client has read."""

    type: Literal["hello"]
    token: Annotated[str, Field(max_length=1024)] | None = None
    resume: Id | None = None


class AskFrame(Frame, ScopeFields):
    """A question; if the conversation has answered its `id`, that answer is sent again.

    Unknown fields are kept, so that a misspelt filter is an error of the question.
    """

    model_config = ConfigDict(extra="allow")

    type: Literal["ask"]
    text: Annotated[str, Field(min_length=1, max_length=TEXT)]
    persona: Annotated[str, Field(max_length=NAME)] = ""
    hint: Annotated[str, Field(max_length=NAME)] = ""
    cell: Annotated[int, Field(ge=0, lt=CELLS)] | None = None
    deadline: Annotated[float, Field(gt=0, le=120)] | None = None
    trace: bool = False


class Cancel(Frame):
    """Stops the question of that id, running or waiting."""

    type: Literal["cancel"]
    id: Id


class Feedback(Frame):
    """A vote on an answer, by the id of its question or of the answer (`turn`)."""

    type: Literal["feedback"]
    id: Id
    vote: Vote
    comment: Annotated[str, Field(max_length=COMMENT)] = ""


class Choose(Frame):
    """A choice of a styled sentence or of a meaning, by the id of the question or of its answer (`turn`).

    `choice` is an index into `styled.lines` or `choices`, or a text.
    """

    type: Literal["choose"]
    id: Id
    choice: int | str


class Raw(Frame):
    """Asks a question again in its written form."""

    type: Literal["raw"]
    id: Id


class Ping(Frame):
    type: Literal["ping"]


ClientFrame = Hello | AskFrame | Cancel | Feedback | Choose | Raw | Ping
CLIENT_FRAME: TypeAdapter[ClientFrame] = TypeAdapter(Annotated[ClientFrame, Field(discriminator="type")])
TYPES = "hello, ask, cancel, feedback, choose, raw or ping"


def read(data: bytes) -> ClientFrame:
    """A client's frame.

    Raises:
        ServiceError: 400 for invalid JSON, 422 for anything but one of the frames above.
    """
    try:
        return CLIENT_FRAME.validate_json(data)
    except ValidationError as error:
        raise _refusal(error.errors(include_url=False)[0]) from None


def id_of(data: bytes) -> str | None:
    """The `id` of an invalid frame for the error reply; None if it has no valid one."""
    try:
        return Frame.model_validate({"id": orjson.loads(data)["id"]}).id
    except (ValueError, TypeError, LookupError):
        return None


def frame(content: Mapping[str, Any], *, question_id: str | None, conversation: str | None, seq: int) -> dict[str, Any]:
    """A complete server frame from its content (see below)."""
    return {"type": content["type"], "id": question_id, "conversation": conversation, "seq": seq, **content}


def ready(conversation: str, personas: Iterable[str]) -> dict[str, Any]:
    return {"type": "ready", "conversation": conversation, "personas": list(personas)}


def event_frame(event: Event) -> dict[str, Any]:
    """The content of an event's frame: `status`, `query`, `clarify`, `sources` or `delta`."""
    match event:
        case StageBegun(stage):
            return status(stage)
        case Understood(question):
            return {"type": "query", "text": question}
        case ChoicesOffered(choices):
            return {"type": "clarify", "choices": [asdict(choice) for choice in choices]}
        case SourcesFound(sources):
            return {"type": "sources", "sources": [source_dict(source) for source in sources]}
        case TextAdded(text):
            return {"type": "delta", "text": text}


def status(stage: str) -> dict[str, Any]:
    """`stage` is `QUEUED` or one of `qa_bot.answering.events.STAGES`."""
    return {"type": "status", "stage": stage}


def final(answer: Answer) -> dict[str, Any]:
    """The last frame of a turn: the answer object with its id as `turn`, because `id` is the question's."""
    return final_of(as_dict(answer))


def final_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """`final` of a recorded answer object."""
    fields = {name: value for name, value in answer.items() if name not in ("id", "ask")}
    return {"type": "final", "turn": answer["id"], **fields}


def failed(code: str, message: str, retry_after: float | None = None) -> dict[str, Any]:
    waiting: Mapping[str, float] = {} if retry_after is None else {"retry_after": retry_after}
    return {"type": "error", "code": code, "message": message, **waiting}


def _refusal(error: ErrorDetails) -> ServiceError:
    """The first error of a frame, in one sentence."""
    if error["type"] == "json_invalid":
        return ServiceError(400, f"Expected a frame in JSON, but got: {error['ctx']['error']}.")
    if not error["loc"]:
        return ServiceError(422, f"Expected an object whose `type` is {TYPES}, but got {_shown(error['input'])}.")
    kind, *path = map(str, error["loc"])
    field, got = ".".join(path[:1]), "another value" if path[:1] == ["token"] else _shown(error["input"])
    if error["type"] == "missing":
        return ServiceError(422, f"Expected a field `{field}` in a frame `{kind}`, but got none.")
    reason = error["msg"][:1].lower() + error["msg"][1:]
    return ServiceError(422, f"Expected another `{field}` in a frame `{kind}`, but got {got}: {reason}.")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
