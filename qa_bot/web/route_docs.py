"""The table of all routes for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from qa_bot.web.api.admin_models import HealthReply
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
from qa_bot.web.documents.models import (
    UPLOAD,
    CollectionsReply,
    DeletedReply,
    DocumentReply,
    DocumentRequest,
    ListQuery,
    UploadedReply,
    UploadReply,
)
from qa_bot.web.openai.models import ChatReply, ChatRequest, ModelReply, ModelsReply

Schema = dict[str, Any]

JSON, EVENTS, XML = "application/json", "text/event-stream", "text/xml"
HTML, TEXT, MARKDOWN, ANY = "text/html", "text/plain", "text/markdown", "*/*"

BODY = (413, 415, 422)
BUSY = (503,)


@dataclass(frozen=True, slots=True)
class Operation:
    """A route of the document."""

    method: str
    path: str
    summary: str
    takes: type[BaseModel] | Schema | None = None
    """The model of a JSON body, or the schema of a form."""
    files: Schema | None = None
    """The schema of a form with files that is accepted, too."""
    parameters: Sequence[Schema] = ()
    """Parameters outside the path."""
    gives: Mapping[str, type[BaseModel] | None] = field(default_factory=dict)
    """Content type → model of the reply."""
    status: int = 200
    errors: Sequence[int] = ()
    open: bool = False
    """Needs no token."""


def _query(schema: Schema) -> list[Schema]:
    """A query parameter for each property."""
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": value}
        for name, value in schema["properties"].items()
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
"""A character that is neither blank nor illegal in XML."""
_LIVEQA: Schema = {
    "type": "object",
    "description": "The question is `title`; if it is empty, the first sentence of `body`.",
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
_DOCUMENT = "/api/documents/{document}"
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
        "An answer with its sources; as events if the client accepts text/event-stream.",
        takes=AskRequest,
        gives={JSON: AskReply, EVENTS: None},
        errors=(404, *BODY, *BUSY),
    ),
    Operation(
        "post",
        "/api/search",
        "Results of retrieval, with the score of every stage.",
        takes=SearchRequest,
        gives={JSON: SearchReply},
        errors=(404, *BODY, *BUSY),
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
        "Replace the styled sentence of a recorded answer by another one, or by one that a person wrote.",
        takes=ChooseRequest,
        gives={JSON: ChooseReply},
        errors=(404, *BODY),
    ),
    Operation(
        "post",
        "/api/speak",
        "A persona's reply to the last of some turns; nothing is recorded.",
        takes=SpeakRequest,
        gives={JSON: SpeakReply},
        errors=(404, *BODY, *BUSY),
    ),
    Operation(
        "get",
        "/api/grid",
        "The words of the topics that hints steer by, and the position of a hint.",
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
        "A conversation with its turns, oldest first.",
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
    Operation("delete", _CONVERSATION, "Remove a conversation with all its turns.", status=204, errors=(404,)),
    Operation(
        "get",
        "/api/owner/gaps",
        "Questions without an answer or with a last vote that is down, the most frequent first.",
        parameters=_query(GapsQuery.model_json_schema()),
        gives={JSON: GapsReply},
        errors=(422,),
    ),
    Operation(
        "post",
        "/api/owner/answers",
        "Add the owner's answer to a question; it is used from the next question on.",
        takes=AddAnswerRequest,
        gives={JSON: AddAnswerReply},
        errors=(409, *BODY, 507),
    ),
    Operation(
        "post",
        "/api/owner/dismiss",
        "Remove a question from the list until it is asked again.",
        takes=DismissRequest,
        gives={JSON: DismissReply},
        errors=(404, *BODY),
    ),
    Operation(
        "get",
        "/api/documents",
        "Uploaded documents, the last that were added first.",
        parameters=_query(ListQuery.model_json_schema()),
        gives={JSON: UploadedReply},
        errors=(422,),
    ),
    Operation(
        "post",
        "/api/documents",
        "Add documents from files or a Markdown text; those of the same names are replaced.",
        takes=DocumentRequest,
        files=UPLOAD,
        gives={JSON: UploadReply},
        status=201,
        errors=(409, *BODY, *BUSY, 507),
    ),
    Operation("get", _DOCUMENT, "A document with its text.", gives={JSON: DocumentReply}, errors=(404,)),
    Operation("delete", _DOCUMENT, "Remove a document everywhere.", gives={JSON: DeletedReply}, errors=(404, 409)),
    Operation("get", "/api/collections", "Collections with their sources.", gives={JSON: CollectionsReply}),
    Operation("get", "/api/comparisons", "Blind comparisons.", gives={JSON: ComparisonsReply}),
    Operation(
        "post",
        "/api/comparisons",
        "Make a blind comparison of two lists of answers.",
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
        "The next two answers for a judge, in random order.",
        parameters=_query(NextQuery.model_json_schema()),
        gives={JSON: NextReply},
        errors=(404, 422),
    ),
    Operation(
        "post",
        f"{_COMPARISON}/judgements",
        "Which of two answers is better; the last judgement of a judge counts.",
        takes=JudgementRequest,
        gives={JSON: JudgementReply},
        errors=(404, *BODY),
    ),
    Operation(
        "post",
        "/v1/chat/completions",
        "A chat completion in OpenAI's format, with `citations`; as chunks with `stream`.",
        takes=ChatRequest,
        gives={JSON: ChatReply, EVENTS: None},
        errors=(404, *BODY, *BUSY),
    ),
    Operation("get", "/v1/models", "The bot, then one model for each persona.", gives={JSON: ModelsReply}),
    Operation("get", "/v1/models/{model}", "One of the models.", gives={JSON: ModelReply}, errors=(404,)),
    Operation(
        "get", "/liveqa", "TREC LiveQA.", parameters=[_LIVEQA_QUERY], gives={XML: None}, errors=(413, 415, 422, *BUSY)
    ),
    Operation("post", "/liveqa", "TREC LiveQA.", takes=_LIVEQA, gives={XML: None}, errors=(*BODY, *BUSY)),
    Operation(
        "get",
        "/api/admin/health",
        "Generations, lag of sync, queue, last backup, disk, and what is wrong with them.",
        gives={JSON: HealthReply},
    ),
    Operation("get", "/livez", "Whether the process is alive.", gives={JSON: None}, open=True),
    Operation("get", "/readyz", "Whether a question would be accepted.", gives={JSON: None}, errors=BUSY, open=True),
    Operation("get", "/metrics", "Metrics for Prometheus.", gives={TEXT: None}),
    Operation("get", "/openapi.json", "This document.", gives={JSON: None}),
)
