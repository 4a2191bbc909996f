"""`GET /openapi.json`: the table of all routes, described by the models that requests are validated with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from itertools import permutations
from typing import Literal

from aiohttp import web
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from qa_bot import __version__
from qa_bot.web.api.json_bodies import reply
from qa_bot.web.api.models import ErrorReply
from qa_bot.web.app_keys import ACCESS, SERVICE
from qa_bot.web.chat.frames import Id
from qa_bot.web.openai.models import MODEL
from qa_bot.web.route_docs import JSON, OPERATIONS, Operation, Schema

TITLE = "What people and programs ask this service, and what it answers with its sources."

ALWAYS = (400, 403, 429)
"""Errors that any route may give: a request that is none, a foreign Host or Origin, too many requests."""

_TEXT: Schema = {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True)
class _Described:
    """How an operation is told: with what security, and by which parameters of its path."""

    operation: Operation
    secured: bool
    known: Mapping[str, Schema]
    """Schemas of what may stand in paths, by name; anything else is a text."""

    def as_dict(self) -> Schema:
        each = self.operation
        told: Schema = {"summary": each.summary, "operationId": _name(each), "responses": self._responses()}
        if parameters := [*self._path_parameters(), *each.parameters]:
            told["parameters"] = parameters
        if each.takes is not None:
            told["requestBody"] = _request_body(each.takes)
        if self.secured and each.open:
            told["security"] = []
        return told

    def _path_parameters(self) -> list[Schema]:
        names = [part.strip("{}") for part in self.operation.path.split("/") if part.startswith("{")]
        return [{"name": n, "in": "path", "required": True, "schema": self.known.get(n, _TEXT)} for n in names]

    def _responses(self) -> Schema:
        each = self.operation
        wrong = {*ALWAYS, *each.errors} | ({401} if self.secured and not each.open else set())
        content = {media: _content(model) for media, model in each.gives.items()}
        good = {"description": HTTPStatus(each.status).phrase} | ({"content": content} if content else {})
        return {str(each.status): good} | {str(status): _error(status) for status in sorted(wrong)}


def routes() -> list[web.RouteDef]:
    return [web.get("/openapi.json", show)]


async def show(request: web.Request) -> web.Response:
    personas = request.app[SERVICE].bot.personas
    return reply(document(secured=request.app[ACCESS].wants_token, personas=personas))


@cache
def document(*, secured: bool, personas: tuple[str, ...] = ()) -> Schema:
    """The OpenAPI 3.1 document of a service that wants a token or not, and of the voices that it has."""
    models = {"type": "string", "enum": [MODEL, *personas]}
    known = {"model": models, "id": TypeAdapter(Id).json_schema()}
    paths: Schema = {}
    for each in OPERATIONS:
        paths.setdefault(each.path, {})[each.method] = _Described(each, secured, known).as_dict()
    schemas = _schemas()
    schemas["ChatRequest"]["properties"]["model"] = models
    schemas["AskRequest"]["properties"]["persona"] = {"anyOf": [{"enum": [None, ""]}, *_voices(personas)]}
    if personas:
        schemas["SpeakRequest"]["properties"]["persona"] = {"anyOf": _voices(personas)}
    told: Schema = {
        "openapi": "3.1.0",
        "info": {"title": "qa-bot", "version": __version__, "description": TITLE},
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if secured:
        told["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        }
        told["security"] = [{"bearer": []}, {"key": []}]
    return told


def _voices(personas: Sequence[str]) -> list[Schema]:
    """A persona by name, or several with weights, each of them once."""
    if not personas:
        return []
    weight = r"(:[1-9][0-9]{0,2})?"
    pairs = "|".join(f"{one}{weight},{other}{weight}" for one, other in permutations(personas, 2))
    told = "Two personas, or more, with their weights: `captain:2,gardener`."
    mixed: list[Schema] = [{"type": "string", "pattern": f"^({pairs})$", "description": told}] if pairs else []
    return [{"enum": list(personas)}, *mixed]


def _schemas() -> Schema:
    taken = [each.takes for each in OPERATIONS if isinstance(each.takes, type)]
    given = [model for each in OPERATIONS for model in each.gives.values() if model is not None]
    models: dict[type[BaseModel], None] = dict.fromkeys([*taken, *given, ErrorReply])
    wanted: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [(m, "validation") for m in models]
    _, told = models_json_schema(wanted, ref_template=_REFERENCE)
    return dict(told["$defs"])


_REFERENCE = "#/components/schemas/{model}"


def _content(model: type[BaseModel] | None) -> Schema:
    return {} if model is None else {"schema": {"$ref": _REFERENCE.format(model=model.__name__)}}


def _request_body(takes: type[BaseModel] | Schema) -> Schema:
    if isinstance(takes, dict):
        return {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": takes}}}
    return {"required": True, "content": {JSON: _content(takes)}}


def _error(status: int) -> Schema:
    told: Schema = {"description": HTTPStatus(status).phrase, "content": {JSON: _content(ErrorReply)}}
    if status in (429, 503):
        told["headers"] = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
    return told


def _name(each: Operation) -> str:
    """`post_api_ask` for `POST /api/ask`."""
    words = each.path.replace("{", "").replace("}", "").replace(".", "_").strip("/").split("/")
    return "_".join([each.method, *filter(None, words)] if words != [""] else [each.method, "page"])
