"""The frames of the WebSocket; the server's are also the events of a streamed `POST /api/ask`.

Every frame is `{"type", "id", "conversation", "seq", …}`. `id` is the question's: the one that the client gave, else
one of the server's. `seq` counts the frames of a conversation's turns, so that a client that comes back can say how far
it had read; a frame that only replies to a client's (`ready`, `pong`, an `error` outside of turns) does not count, and
carries the number of the last one that this client was sent.
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
from qa_bot.web.errors import ServiceError
from qa_core.types import Answer

TEXT = 20_000
"""Characters of the longest question, with its body; longer ones are told so."""
COMMENT = 2_000
NAME = 200
SHOWN = 60
"""Characters of a wrong value that an error shows."""
QUEUED = "queued"
"""The stage of a question that waits."""

Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$")]
Vote = Literal["up", "down"]
INTERNAL = ("internal", "Something went wrong here; the log of the service says what.")
"""Code and message of an error that is ours."""


class Frame(BaseModel):
    """What every client frame may carry; unknown fields are left alone, so that newer clients work."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    id: Id | None = None
    conversation: Id | None = None
    seq: Annotated[int, Field(ge=0, lt=2**48)] | None = None


class Hello(Frame):
    """Opens or resumes a conversation; `resume` is its id, `seq` the last frame that the client has read."""

    type: Literal["hello"]
    token: Annotated[str, Field(max_length=1024)] | None = None
    resume: Id | None = None


class AskFrame(Frame):
    """A question; one whose `id` the conversation has answered is not asked again, but its answer sent again."""

    type: Literal["ask"]
    text: Annotated[str, Field(min_length=1, max_length=TEXT)]
    persona: Annotated[str, Field(max_length=NAME)] = ""
    hint: Annotated[str, Field(max_length=NAME)] = ""
    deadline: Annotated[float, Field(gt=0, le=120)] | None = None
    trace: bool = False


class Cancel(Frame):
    """Stops the question of that id, running or waiting."""

    type: Literal["cancel"]
    id: Id


class Feedback(Frame):
    """A vote on an answer, by the id of its question or by its own (`turn`)."""

    type: Literal["feedback"]
    id: Id
    vote: Vote
    comment: Annotated[str, Field(max_length=COMMENT)] = ""


class Choose(Frame):
    """A styled sentence for an answer that was given, by the id of its question or by its own (`turn`).

    `choice` is a place among `styled.lines`, or a text.
    """

    type: Literal["choose"]
    id: Id
    choice: int | str


class Raw(Frame):
    """Asks again with the question as it was written."""

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
        ServiceError: 400 for what is no JSON, 422 for what is not one of the frames above.
    """
    try:
        return CLIENT_FRAME.validate_json(data)
    except ValidationError as error:
        raise _refusal(error.errors(include_url=False)[0]) from None


def id_of(data: bytes) -> str | None:
    """The `id` of a frame that could not be read, for the error that says so; None where there is none to trust."""
    try:
        return Frame.model_validate({"id": orjson.loads(data)["id"]}).id
    except (ValueError, TypeError, LookupError):
        return None


def frame(content: Mapping[str, Any], *, question_id: str | None, conversation: str | None, seq: int) -> dict[str, Any]:
    """A whole server frame from what it says (see below); `question_id` is its `id`."""
    return {"type": content["type"], "id": question_id, "conversation": conversation, "seq": seq, **content}


def ready(conversation: str, personas: Iterable[str]) -> dict[str, Any]:
    return {"type": "ready", "conversation": conversation, "personas": list(personas)}


def told(event: Event) -> dict[str, Any]:
    """What a server frame says of an event: `status`, `query`, `clarify`, `sources` or `delta`."""
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
    """The frame that ends a turn: the answer object, whose own id stands under `turn`, for `id` is the question's."""
    return final_of(as_dict(answer))


def final_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """`final`, of an answer object as it was recorded."""
    known_otherwise = ("id", "ask")
    told = {name: value for name, value in answer.items() if name not in known_otherwise}
    return {"type": "final", "turn": answer["id"], **told}


def failed(code: str, message: str, retry_after: float | None = None) -> dict[str, Any]:
    waiting: Mapping[str, float] = {} if retry_after is None else {"retry_after": retry_after}
    return {"type": "error", "code": code, "message": message, **waiting}


def _refusal(error: ErrorDetails) -> ServiceError:
    """The first thing that is wrong with a frame, in one sentence."""
    if error["type"] == "json_invalid":
        return ServiceError(400, f"Expected a frame in JSON, but got: {error['ctx']['error']}.")
    if not error["loc"]:
        return ServiceError(422, f"Expected an object whose `type` is {TYPES}, but got {_shown(error['input'])}.")
    kind, *path = map(str, error["loc"])
    field, given = ".".join(path[:1]), "another value" if path[:1] == ["token"] else _shown(error["input"])
    if error["type"] == "missing":
        return ServiceError(422, f"Expected a field `{field}` in a frame `{kind}`, but got none.")
    reason = error["msg"][:1].lower() + error["msg"][1:]
    return ServiceError(422, f"Expected another `{field}` in a frame `{kind}`, but got {given}: {reason}.")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
