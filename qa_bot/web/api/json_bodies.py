"""JSON bodies: a request becomes a validated model or a readable error, a reply becomes bytes."""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json

from qa_bot.answering.answer_json import dumps
from qa_bot.web.errors import ServiceError

Model = TypeVar("Model", bound=BaseModel)

SECONDS = 30.0
"""Time limit for receiving a body."""
SHOWN = 60
"""Characters of an invalid value that an error repeats."""
REPORTED = 5
"""Invalid fields that an error names."""

_EXPECTED = {
    "model_type": "an object",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
    "string_pattern_mismatch": "a text that matches {pattern}",
    "too_long": "at most {max_length} items",
    "too_short": "at least {min_length} items",
}


async def whole(request: web.Request) -> bytes:
    """The whole body.

    Raises:
        ServiceError: 400 if it does not arrive in time, or its encoding does not match its headers.
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
            request.content.feed_eof()  # else aiohttp reads on for the next request, and logs the error as unhandled


async def read(request: web.Request, model: type[Model]) -> Model:
    """The JSON body as a `model`.

    Raises:
        ServiceError: 415 for another content type, 400 for invalid JSON, 422 for JSON that does not fit the model.
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
        raise _refusal(error, model, body) from None


def read_query(request: web.Request, model: type[Model]) -> Model:
    """The query parameters as a `model`; raises ServiceError 422."""
    parameters: Mapping[str, str] = request.query
    try:
        return model.model_validate(dict(parameters))
    except ValidationError as error:
        raise _refusal(error, model, parameters) from None


def reply(payload: Mapping[str, Any], *, status: int = 200) -> web.Response:
    """A JSON reply that no cache may store."""
    headers = {"Cache-Control": "no-store"}
    return web.Response(body=dumps(payload), status=status, content_type="application/json", headers=headers)


def shown(value: object) -> str:
    """An invalid value for an error message: short, and without control characters."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, str) and len(value) > SHOWN:
        return f"a text of {len(value)} characters"
    return json.dumps(value, default=str)[:SHOWN]


def _refusal(error: ValidationError, model: type[BaseModel], sent: bytes | Mapping[str, str]) -> ServiceError:
    """Args: `sent` is the JSON, or the parameters of a query."""
    errors = error.errors(include_url=False)
    if errors[0]["type"] == "json_invalid":
        return ServiceError(400, f"Expected JSON, but got: {errors[0]['msg'].removeprefix('Invalid JSON: ')}.")
    value = from_json(sent) if isinstance(sent, bytes) else sent
    fields: dict[str, list[ErrorDetails]] = {}
    for detail in errors:
        fields.setdefault(_path(detail, value), []).append(detail)
    sentences = [_sentence(where, details, model) for where, details in islice(fields.items(), REPORTED)]
    more = [f"{len(fields) - REPORTED} more are wrong."] if len(fields) > REPORTED else []
    return ServiceError(422, " ".join(sentences + more))


def _sentence(where: str, errors: Sequence[ErrorDetails], model: type[BaseModel]) -> str:
    """Expected and actual value of one field; of a union it has an error for each kind."""
    error = errors[0]
    if error["type"] == "missing":
        return f"Expected {where}, but it is missing."
    if error["type"] == "extra_forbidden":
        return f"Expected known fields, but got {shown(where)}; {_nearest(where, model)}."
    expected = " or ".join(dict.fromkeys(map(_expected, errors)))
    field = f" for {where}" if where else ""
    return f"Expected {expected}{field}, but got {shown(error['input'])}."


def _expected(error: ErrorDetails) -> str:
    pattern = _EXPECTED.get(error["type"])
    return error["msg"].removeprefix("Input should be ") if pattern is None else pattern.format_map(error["ctx"])


def _path(error: ErrorDetails, value: Any) -> str:
    """`messages[0].content` for ("messages", 0, "content"); a name of a union's kind is left out.

    Args: `value` is what was sent.
    """
    path, last = "", len(error["loc"]) - 1
    for at, part in enumerate(error["loc"]):
        if isinstance(part, int):
            path += f"[{part}]"
            value = value[part] if isinstance(value, list) and part < len(value) else None
        elif isinstance(value, Mapping) and (part in value or (at == last and error["type"] == "missing")):
            path += f".{part}"
            value = value.get(part)
    return path.removeprefix(".")


def _nearest(name: str, model: type[BaseModel]) -> str:
    known = list(model.model_fields)
    matches = difflib.get_close_matches(name.lower(), known, n=1)
    return f"the nearest is {matches[0]}" if matches else f"known are {', '.join(known)}"
