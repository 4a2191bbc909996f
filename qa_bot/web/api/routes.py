"""The JSON routes: ask, search, feedback, personas, conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import count
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

from aiohttp import web
from pydantic import TypeAdapter, ValidationError

from qa_bot.answering.answer_json import as_dict, candidate_dict
from qa_bot.answering.ask import Ask
from qa_bot.home.store import NotFoundError, Store
from qa_bot.transfer.transcripts import file_name, markdown, whole
from qa_bot.web.api import sse
from qa_bot.web.api.json_bodies import read, read_query, reply, shown
from qa_bot.web.api.models import (
    LINES,
    AskRequest,
    ChooseRequest,
    FeedbackRequest,
    GridQuery,
    PageQuery,
    RenameRequest,
    SearchRequest,
    SpeakRequest,
    TranscriptQuery,
)
from qa_bot.web.app_keys import SERVICE
from qa_bot.web.chat.frames import Id, event_frame, failed, final, frame
from qa_bot.web.chat.socket import CHAT
from qa_bot.web.errors import ServiceError
from qa_core.types import Answer, Question

Result = TypeVar("Result")

_ID: TypeAdapter[str] = TypeAdapter(Id)


def routes() -> list[web.RouteDef]:
    one = "/api/conversations/{id}"
    return [
        web.post("/api/ask", ask),
        web.post("/api/search", search),
        web.post("/api/feedback", give_feedback),
        web.post("/api/choose", choose),
        web.post("/api/speak", speak),
        web.get("/api/grid", show_grid),
        web.get("/api/conversations", list_conversations),
        web.get(one, show_conversation),
        web.patch(one, rename_conversation),
        web.delete(one, delete_conversation),
    ]


# --- asking ---------------------------------------------------------------------------------------------------------


async def ask(request: web.Request) -> web.StreamResponse:
    """An answer with its sources, as one object or as a stream of events."""
    body = await read(request, AskRequest)
    service = request.app[SERVICE]
    service.expect_persona(body.persona or "")
    conversation = body.conversation or uuid4().hex
    if body.conversation is None:
        service.begin(conversation)
    ask = Ask(
        Question(body.question, body.body or "", category=body.category or ""),
        persona=body.persona or "",
        hint=body.hint or "",
        cell=body.cell,
        seconds=body.deadline,
        top=body.top or 10,
        trace=bool(body.trace),
        conversation=conversation,
        understood=body.question if body.raw else "",
        id=uuid4().hex,
        scope=body.scope(),
    )
    if not sse.accepts_events(request):
        return reply({**as_dict(await service.answer(ask)), "conversation": conversation})
    async with sse.answering(service, ask) as items:
        return await sse.send(request, items, Frames(ask.id, conversation))


class Frames:
    """Renders the events of one answer as the WebSocket's server frames, with the answer's id as `id`."""

    def __init__(self, question_id: str, conversation: str) -> None:
        self._question_id, self._conversation = question_id, conversation
        self._seq = count(1)

    def __call__(self, item: sse.StreamItem) -> Iterator[bytes]:
        seq = next(self._seq)
        payload = frame(_content(item), question_id=self._question_id, conversation=self._conversation, seq=seq)
        yield sse.event(payload, name=payload["type"], id=seq)


def _content(item: sse.StreamItem) -> dict[str, Any]:
    match item:
        case Answer():
            return final(item)
        case ServiceError():
            return failed(item.code, item.message, item.retry_after)
    return event_frame(item)


async def search(request: web.Request) -> web.Response:
    """Results of retrieval, with the score of every stage."""
    body = await read(request, SearchRequest)
    engine, top = body.engine or "hybrid", body.top or 10
    candidates = await request.app[SERVICE].search(body.query, engine=engine, top=top, scope=body.scope())
    results = [candidate_dict(candidate) for candidate in candidates]
    return reply({"query": body.query, "engine": engine, "results": results})


# --- personas -------------------------------------------------------------------------------------------------------


async def choose(request: web.Request) -> web.Response:
    """Replace the styled sentence of a recorded answer by another one, or by one that a person wrote."""
    body = await read(request, ChooseRequest)
    turn = await request.app[CHAT].choose(body.id, body.choice)
    return reply({**turn.answer, "conversation": turn.conversation})


async def speak(request: web.Request) -> web.Response:
    """A persona's replies to the last of some turns, for a debate or a choice; nothing is recorded."""
    body = await read(request, SpeakRequest)
    top = body.top or LINES
    replies = await request.app[SERVICE].speak(
        body.persona, body.turns, hint=body.hint or "", top=top, deadline=body.deadline
    )
    lines = [asdict(line) for line in replies.lines]
    return reply({"persona": body.persona, "lines": lines, "notice": replies.notice})


async def show_grid(request: web.Request) -> web.Response:
    """The words of the topics that hints steer by, and the position of a hint."""
    chart = await request.app[SERVICE].chart(read_query(request, GridQuery).hint)
    return reply(chart.as_dict())


# --- history --------------------------------------------------------------------------------------------------------


async def give_feedback(request: web.Request) -> web.Response:
    """Record a vote on an answer."""
    body = await read(request, FeedbackRequest)
    comment = body.comment or ""
    await request.app[SERVICE].vote(body.id, body.vote, comment)
    return reply({"id": body.id, "vote": body.vote, "comment": comment})


async def list_conversations(request: web.Request) -> web.Response:
    page = read_query(request, PageQuery)
    rows = await request.app[SERVICE].store(lambda store: store.conversations(limit=page.limit, before=page.before))
    return reply({"conversations": [asdict(row) for row in rows]})


async def show_conversation(request: web.Request) -> web.Response:
    """A conversation with its turns and the last vote on each, as JSON or as a Markdown file."""
    query = read_query(request, TranscriptQuery)
    transcript = await _with_conversation(request, whole)
    if query.format == "json":
        return reply(transcript)
    name = quote(f"{file_name(transcript['title'])}.md", safe="")
    headers = {"Cache-Control": "no-store", "Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return web.Response(text=markdown(transcript), content_type="text/markdown", headers=headers)


async def rename_conversation(request: web.Request) -> web.Response:
    body = await read(request, RenameRequest)
    title = " ".join(body.title.split())

    def rename(store: Store, conversation: str) -> dict[str, Any]:
        store.rename_conversation(conversation, title)
        return asdict(store.conversation(conversation))

    return reply(await _with_conversation(request, rename))


async def delete_conversation(request: web.Request) -> web.Response:
    """Remove a conversation with its turns and the votes on them."""
    request.app[CHAT].conversations.clear(request.match_info["id"])
    service = request.app[SERVICE]
    await _with_conversation(request, lambda _, conversation: service.bot.delete_conversation(conversation))
    return web.Response(status=204)


async def _with_conversation(request: web.Request, work: Callable[[Store, str], Result]) -> Result:
    """Run `work` on the conversation that the path names; 404 if it is unknown."""
    conversation = request.match_info["id"]
    try:
        _ID.validate_python(conversation)
        return await request.app[SERVICE].store(lambda store: work(store, conversation))
    except (NotFoundError, ValidationError):
        raise ServiceError(404, f"Expected the id of a conversation, but got {shown(conversation)}.") from None
