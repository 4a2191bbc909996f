"""All routes, as the OpenAPI document tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from qa_bot.web.api.compare_models import (
    ComparisonMadeReply,
    ComparisonRequest,
    ComparisonsReply,
    JudgementReply,
    JudgementRequest,
    NextQuery,
    NextReply,
    TableQuery,
    TableReply,
)
from qa_bot.web.api.models import (
    AskReply,
    AskRequest,
    ChooseReply,
    ChooseRequest,
    ConversationReply,
    ConversationsReply,
    FeedbackReply,
    FeedbackRequest,
    GridQuery,
    GridReply,
    PageQuery,
    RenameRequest,
    SearchReply,
    SearchRequest,
    SpeakReply,
    SpeakRequest,
    TranscriptQuery,
    WholeConversationReply,
)
from qa_bot.web.api.owner_models import (
    AddAnswerReply,
    AddAnswerRequest,
    DismissReply,
    DismissRequest,
    GapsQuery,
    GapsReply,
)
from qa_bot.web.openai.models import ChatReply, ChatRequest, ModelReply, ModelsReply

Schema = dict[str, Any]

JSON, EVENTS, XML = "application/json", "text/event-stream", "text/xml"
HTML, TEXT, MARKDOWN, ANY = "text/html", "text/plain", "text/markdown", "*/*"

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
_COMPARISON = "/api/comparisons/{name}"

OPERATIONS = (
    Operation("get", "/", "The chat page.", gives={HTML: None}, open=True),
    Operation("get", "/owner", "The owner's page.", gives={HTML: None}, open=True),
    Operation("get", "/assets/{version}/{name}", "A file of a page.", gives={ANY: None}, errors=(404,), open=True),
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
        "post",
        "/api/choose",
        "Another styled sentence before a recorded answer, by the answer's id; or one that a person wrote.",
        takes=ChooseRequest,
        gives={JSON: ChooseReply},
        errors=(404, *BODY),
    ),
    Operation(
        "post",
        "/api/speak",
        "What a persona says to the last of some turns; nothing is recorded.",
        takes=SpeakRequest,
        gives={JSON: SpeakReply},
        errors=(404, *BODY, *BUSY),
    ),
    Operation(
        "get",
        "/api/grid",
        "The words of the topics that hints steer by, and where one falls.",
        parameters=_query(GridQuery.model_json_schema()),
        gives={JSON: GridReply},
        errors=(404, 422, *BUSY),
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
        parameters=_query(TranscriptQuery.model_json_schema()),
        gives={JSON: WholeConversationReply, MARKDOWN: None},
        errors=(404, 422),
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
        "get",
        "/api/owner/gaps",
        "Questions that got no answer, or whose last vote is down, the most frequent first.",
        parameters=_query(GapsQuery.model_json_schema()),
        gives={JSON: GapsReply},
        errors=(422,),
    ),
    Operation(
        "post",
        "/api/owner/answers",
        "An answer of the owner's to a question, which the next one who asks it gets already.",
        takes=AddAnswerRequest,
        gives={JSON: AddAnswerReply},
        errors=(409, *BODY),
    ),
    Operation(
        "post",
        "/api/owner/dismiss",
        "Let a question be gone until it is asked again.",
        takes=DismissRequest,
        gives={JSON: DismissReply},
        errors=(404, *BODY),
    ),
    Operation("get", "/api/comparisons", "Blind comparisons that wait to be judged.", gives={JSON: ComparisonsReply}),
    Operation(
        "post",
        "/api/comparisons",
        "Begin a blind comparison of two lists of answers.",
        takes=ComparisonRequest,
        gives={JSON: ComparisonMadeReply},
        errors=(409, *BODY),
    ),
    Operation(
        "get",
        _COMPARISON,
        "The table of a comparison: shares and significance, by grade.",
        parameters=_query(TableQuery.model_json_schema()),
        gives={JSON: TableReply},
        errors=(404, 422),
    ),
    Operation(
        "get",
        f"{_COMPARISON}/next",
        "The next two answers for a judge, in an order of chance.",
        parameters=_query(NextQuery.model_json_schema()),
        gives={JSON: NextReply},
        errors=(404, 422),
    ),
    Operation(
        "post",
        f"{_COMPARISON}/judgements",
        "Which of two answers is better; the last word of a judge counts.",
        takes=JudgementRequest,
        gives={JSON: JudgementReply},
        errors=(404, *BODY),
    ),
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
