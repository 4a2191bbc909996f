"""`GET /openapi.json`: the OpenAPI document, built from the table of routes and the models of requests and replies."""

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
"""Errors of any route: an invalid request, a foreign Host or Origin, too many requests."""

_TEXT: Schema = {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True)
class _OperationObject:
    """An operation with its security and the schemas of its path parameters."""

    operation: Operation
    secured: bool
    known: Mapping[str, Schema]
    """Schemas of path parameters by name; others are text."""

    def as_dict(self) -> Schema:
        op = self.operation
        document: Schema = {"summary": op.summary, "operationId": _name(op), "responses": self._responses()}
        if parameters := [*self._path_parameters(), *op.parameters]:
            document["parameters"] = parameters
        if op.takes is not None:
            document["requestBody"] = _request_body(op.takes, op.files)
        if self.secured and op.open:
            document["security"] = []
        return document

    def _path_parameters(self) -> list[Schema]:
        names = [part.strip("{}") for part in self.operation.path.split("/") if part.startswith("{")]
        return [{"name": n, "in": "path", "required": True, "schema": self.known.get(n, _TEXT)} for n in names]

    def _responses(self) -> Schema:
        op = self.operation
        errors = {*ALWAYS, *op.errors} | ({401} if self.secured and not op.open else set())
        content = {media: _content(model) for media, model in op.gives.items()}
        success = {"description": HTTPStatus(op.status).phrase} | ({"content": content} if content else {})
        return {str(op.status): success} | {str(status): _error(status) for status in sorted(errors)}


def routes() -> list[web.RouteDef]:
    return [web.get("/openapi.json", show)]


async def show(request: web.Request) -> web.Response:
    personas = request.app[SERVICE].bot.personas
    return reply(document(secured=request.app[ACCESS].wants_token, personas=personas))


@cache
def document(*, secured: bool, personas: tuple[str, ...] = ()) -> Schema:
    """The OpenAPI 3.1 document of a service with these personas; `secured` if it requires a token."""
    models = {"type": "string", "enum": [MODEL, *personas]}
    known = {"model": models, "id": TypeAdapter(Id).json_schema()}
    paths: Schema = {}
    for op in OPERATIONS:
        paths.setdefault(op.path, {})[op.method] = _OperationObject(op, secured, known).as_dict()
    schemas = _schemas()
    schemas["ChatRequest"]["properties"]["model"] = models
    schemas["AskRequest"]["properties"]["persona"] = {"anyOf": [{"enum": [None, ""]}, *_persona_schemas(personas)]}
    if personas:
        schemas["SpeakRequest"]["properties"]["persona"] = {"anyOf": _persona_schemas(personas)}
    document: Schema = {
        "openapi": "3.1.0",
        "info": {"title": "qa-bot", "version": __version__, "description": TITLE},
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if secured:
        document["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        }
        document["security"] = [{"bearer": []}, {"key": []}]
    return document


def _persona_schemas(personas: Sequence[str]) -> list[Schema]:
    """Schemas of a persona, and of a mix of distinct personas with weights."""
    if not personas:
        return []
    weight = r"(:[1-9][0-9]{0,2})?"
    pairs = "|".join(f"{one}{weight},{other}{weight}" for one, other in permutations(personas, 2))
    example = "Two personas, or more, with their weights: `captain:2,gardener`."
    mixed: list[Schema] = [{"type": "string", "pattern": f"^({pairs})$", "description": example}] if pairs else []
    return [{"enum": list(personas)}, *mixed]


def _schemas() -> Schema:
    requests = [op.takes for op in OPERATIONS if isinstance(op.takes, type)]
    replies = [model for op in OPERATIONS for model in op.gives.values() if model is not None]
    models: dict[type[BaseModel], None] = dict.fromkeys([*requests, *replies, ErrorReply])
    modes: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [(m, "validation") for m in models]
    _, schemas = models_json_schema(modes, ref_template=_REFERENCE)
    return dict(schemas["$defs"])


_REFERENCE = "#/components/schemas/{model}"


def _content(model: type[BaseModel] | None) -> Schema:
    return {} if model is None else {"schema": {"$ref": _REFERENCE.format(model=model.__name__)}}


def _request_body(takes: type[BaseModel] | Schema, files: Schema | None) -> Schema:
    if isinstance(takes, dict):
        return {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": takes}}}
    forms = {} if files is None else {"multipart/form-data": {"schema": files}}
    return {"required": True, "content": {JSON: _content(takes)} | forms}


def _error(status: int) -> Schema:
    reply: Schema = {"description": HTTPStatus(status).phrase, "content": {JSON: _content(ErrorReply)}}
    if status in (429, 503):
        reply["headers"] = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
    return reply


def _name(operation: Operation) -> str:
    """`post_api_ask` for `POST /api/ask`."""
    words = operation.path.replace("{", "").replace("}", "").replace(".", "_").strip("/").split("/")
    return "_".join([operation.method, *filter(None, words)] if words != [""] else [operation.method, "page"])
