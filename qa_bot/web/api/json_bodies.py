"""JSON in and out: a request's body becomes a model or an error of readable sentences, a reply becomes bytes."""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from qa_bot.answering.answer_json import dumps
from qa_bot.web.errors import ServiceError

Model = TypeVar("Model", bound=BaseModel)

SECONDS = 30.0
"""For a body to come in."""
SHOWN = 60
"""Characters of a wrong value that an error repeats."""
TOLD = 5
"""Wrong fields that an error names."""

_WANTED = {
    "model_type": "an object",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
    "string_pattern_mismatch": "a text that matches {pattern}",
    "too_long": "at most {max_length} items",
    "too_short": "at least {min_length} items",
}


async def whole(request: web.Request) -> bytes:
    """The body, in time, whatever it holds.

    Raises:
        ServiceError: 400 for one that does not come in time, or is not encoded as its headers say.
    """
    try:
        async with asyncio.timeout(SECONDS):
            return await request.read()
    except TimeoutError:
        raise ServiceError(400, f"Expected the body within {SECONDS:g} s, but got only a part.") from None
    except web.RequestPayloadError:
        raise ServiceError(400, "Expected a body encoded as its headers say, but it is not.") from None
    finally:
        if request.content.exception():
            request.content.feed_eof()  # or aiohttp reads on for the next request, and logs the same as unhandled


async def read(request: web.Request, model: type[Model]) -> Model:
    """The JSON body as a `model`.

    Raises:
        ServiceError: 415 for another type of content, 400 for what is no JSON, 422 for JSON that is no `model`.
    """
    if request.content_type != "application/json":
        got = request.headers.get("Content-Type", "none")
        raise ServiceError(415, f"Expected Content-Type: application/json, but got {shown(got)}.")
    if (request.charset or "utf-8").lower() not in ("utf-8", "us-ascii"):
        raise ServiceError(415, f"Expected UTF-8, but got the charset {shown(request.charset)}.")
    body = await whole(request)
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise _refusal(error, model) from None


def read_query(request: web.Request, model: type[Model]) -> Model:
    """The parameters behind `?` as a `model`; raises ServiceError 422."""
    given: Mapping[str, str] = request.query
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        raise _refusal(error, model) from None


def reply(told: Mapping[str, Any], *, status: int = 200) -> web.Response:
    """A reply that nobody between us and the client may keep."""
    headers = {"Cache-Control": "no-store"}
    return web.Response(body=dumps(told), status=status, content_type="application/json", headers=headers)


def shown(value: object) -> str:
    """A wrong value as an error may repeat it: short, and nothing in it that a log or terminal would obey."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, str) and len(value) > SHOWN:
        return f"a text of {len(value)} characters"
    return json.dumps(value, default=str)[:SHOWN]


def _refusal(error: ValidationError, model: type[BaseModel]) -> ServiceError:
    wrong = error.errors(include_url=False)
    if wrong[0]["type"] == "json_invalid":
        return ServiceError(400, f"Expected JSON, but got: {wrong[0]['msg'].removeprefix('Invalid JSON: ')}.")
    told = [_sentence(each, model) for each in wrong[:TOLD]]
    more = [f"{len(wrong) - TOLD} more are wrong."] if len(wrong) > TOLD else []
    return ServiceError(422, " ".join(told + more))


def _sentence(wrong: ErrorDetails, model: type[BaseModel]) -> str:
    """What was expected at one place, and what came."""
    where = _path(wrong["loc"])
    if wrong["type"] == "missing":
        return f"Expected {where}, but it is missing."
    if wrong["type"] == "extra_forbidden":
        return f"Expected known fields, but got {shown(where)}; {_nearest(where, model)}."
    pattern = _WANTED.get(wrong["type"], wrong["msg"].removeprefix("Input should be "))
    wanted = pattern.format_map(wrong["ctx"]) if wrong["type"] in _WANTED else pattern
    place = f" for {where}" if where else ""
    return f"Expected {wanted}{place}, but got {shown(wrong['input'])}."


def _path(place: tuple[int | str, ...]) -> str:
    """`messages[0].content` for ("messages", 0, "content")."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


def _nearest(name: str, model: type[BaseModel]) -> str:
    known = list(model.model_fields)
    found = difflib.get_close_matches(name.lower(), known, n=1)
    return f"the nearest is {found[0]}" if found else f"known are {', '.join(known)}"
