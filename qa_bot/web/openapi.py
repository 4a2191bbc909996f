"""`GET /openapi.json`: one table of all routes, described by the models that requests are validated with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from typing import Any, Literal

from aiohttp import web
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from qa_bot import __version__
from qa_bot.web.bodies import reply
from qa_bot.web.frames import Id
from qa_bot.web.keys import ACCESS, ENGINE
from qa_bot.web.models import (
    AskReply,
    AskRequest,
    ConversationReply,
    ConversationsReply,
    ErrorReply,
    FeedbackReply,
    FeedbackRequest,
    PageQuery,
    RenameRequest,
    SearchReply,
    SearchRequest,
    WholeConversationReply,
)
from qa_bot.web.openai_models import MODEL, ChatReply, ChatRequest, ModelReply, ModelsReply

Schema = dict[str, Any]

JSON, EVENTS, XML = "application/json", "text/event-stream", "text/xml"
HTML, TEXT, ANY = "text/html", "text/plain", "*/*"
TITLE = "What people and programs ask this service, and what it answers with its sources."

ALWAYS = (400, 403, 429)
"""Errors that any route may give: a request that is none, a foreign Host or Origin, too many requests."""
BODY = (413, 415, 422)
BUSY = (503,)


@dataclass(frozen=True, slots=True)
class Operation:
    """A route as the document tells it."""

    method: str
    path: str
    summary: str
    takes: type[BaseModel] | Schema | None = None
    """A JSON body by its model, or the schema of a form."""
    parameters: Sequence[Schema] = ()
    """Those that do not stand in the path."""
    gives: Mapping[str, type[BaseModel] | None] = field(default_factory=dict)
    """The reply by its type of content."""
    status: int = 200
    errors: Sequence[int] = ()
    open: bool = False
    """Whether it needs no token."""


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


def _query(schema: Schema) -> list[Schema]:
    """A parameter behind `?` for each property."""
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": each}
        for name, each in schema["properties"].items()
    ]


def _header(name: str, schema: Schema) -> Schema:
    return {"name": name, "in": "header", "required": True, "schema": {"type": "string", **schema}}


_UPGRADE = [
    _header("Connection", {"const": "Upgrade"}),
    _header("Upgrade", {"const": "websocket"}),
    _header("Sec-WebSocket-Version", {"const": "13"}),
    _header("Sec-WebSocket-Key", {"pattern": r"^[A-Za-z0-9+/]{21}[AQgw]==$"}),
]
_TEXT: Schema = {"type": "string", "minLength": 1}
_READABLE = r"[^\s\u0000-\u001f\ufffe\uffff]"
"""Something in a text that is neither blank nor illegal in XML."""
_LIVEQA: Schema = {
    "type": "object",
    "description": "The question is `title`; where it is empty, the first sentence of `body`.",
    "properties": {name: {"type": "string"} for name in ("title", "body", "category", "qid")},
    "anyOf": [{"required": [name], "properties": {name: {"pattern": _READABLE}}} for name in ("title", "body")],
}
_LIVEQA_QUERY: Schema = {
    "name": "fields",
    "in": "query",
    "required": True,
    "style": "form",
    "explode": True,
    "schema": _LIVEQA,
}
_CONVERSATION = "/api/conversations/{id}"

OPERATIONS = (
    Operation("get", "/", "The chat page.", gives={HTML: None}, open=True),
    Operation(
        "get", "/assets/{version}/{name}", "A file of the chat page.", gives={ANY: None}, errors=(404,), open=True
    ),
    Operation(
        "get", "/ws", "WebSocket chat: JSON frames both ways.", status=101, parameters=_UPGRADE, errors=BUSY, open=True
    ),
    Operation(
        "post",
        "/api/ask",
        "An answer with its sources; as events where the client accepts text/event-stream.",
        takes=AskRequest,
        gives={JSON: AskReply, EVENTS: None},
        errors=(*BODY, *BUSY),
    ),
    Operation(
        "post",
        "/api/search",
        "What retrieval finds, with the score of every stage.",
        takes=SearchRequest,
        gives={JSON: SearchReply},
        errors=(*BODY, *BUSY),
    ),
    Operation(
        "post",
        "/api/feedback",
        "A vote on an answer, by the answer's id.",
        takes=FeedbackRequest,
        gives={JSON: FeedbackReply},
        errors=(404, *BODY),
    ),
    Operation(
        "get",
        "/api/conversations",
        "Conversations, the last used first.",
        parameters=_query(PageQuery.model_json_schema()),
        gives={JSON: ConversationsReply},
        errors=(422,),
    ),
    Operation(
        "get",
        _CONVERSATION,
        "A conversation with its turns, in the order they were asked.",
        gives={JSON: WholeConversationReply},
        errors=(404,),
    ),
    Operation(
        "patch",
        _CONVERSATION,
        "Give a conversation another title.",
        takes=RenameRequest,
        gives={JSON: ConversationReply},
        errors=(404, *BODY),
    ),
    Operation("delete", _CONVERSATION, "Remove a conversation with all that was said.", status=204, errors=(404,)),
    Operation(
        "post",
        "/v1/chat/completions",
        "A chat completion as OpenAI's clients know it, with `citations`; as chunks with `stream`.",
        takes=ChatRequest,
        gives={JSON: ChatReply, EVENTS: None},
        errors=(404, *BODY, *BUSY),
    ),
    Operation("get", "/v1/models", "The bot, then one model a persona.", gives={JSON: ModelsReply}),
    Operation("get", "/v1/models/{model}", "One of the models.", gives={JSON: ModelReply}, errors=(404,)),
    Operation(
        "get", "/liveqa", "TREC LiveQA.", parameters=[_LIVEQA_QUERY], gives={XML: None}, errors=(413, 415, 422, *BUSY)
    ),
    Operation("post", "/liveqa", "TREC LiveQA.", takes=_LIVEQA, gives={XML: None}, errors=(*BODY, *BUSY)),
    Operation("get", "/livez", "Whether the process is alive.", gives={JSON: None}, open=True),
    Operation("get", "/readyz", "Whether a question would be taken.", gives={JSON: None}, errors=BUSY, open=True),
    Operation("get", "/metrics", "Figures for Prometheus.", gives={TEXT: None}),
    Operation("get", "/openapi.json", "This document.", gives={JSON: None}),
)


def routes() -> list[web.RouteDef]:
    return [web.get("/openapi.json", show)]


async def show(request: web.Request) -> web.Response:
    personas = request.app[ENGINE].bot.personas
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
    schemas["AskRequest"]["properties"]["persona"] = {"enum": [None, "", *personas]}
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
