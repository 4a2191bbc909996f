"""The JSON routes: ask, search, feedback, voices, conversations."""

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
from qa_bot.web.chat.frames import Id, failed, final, frame, told
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
    """An answer with its sources, as one object or as the events that lead to it."""
    asked = await read(request, AskRequest)
    service = request.app[SERVICE]
    service.expect_persona(asked.persona or "")
    conversation = asked.conversation or uuid4().hex
    if asked.conversation is None:
        service.begin(conversation)
    question = Ask(
        Question(asked.question, asked.body or "", category=asked.category or ""),
        persona=asked.persona or "",
        hint=asked.hint or "",
        seconds=asked.deadline,
        top=asked.top or 10,
        trace=bool(asked.trace),
        conversation=conversation,
        understood=asked.question if asked.raw else "",
        id=uuid4().hex,
    )
    if not sse.wanted(request):
        return reply({**as_dict(await service.answer(question)), "conversation": conversation})
    async with sse.asking(service, question) as happenings:
        return await sse.send(request, happenings, Frames(question.id, conversation))


class Frames:
    """The events of one answer: the WebSocket's server frames, all of them under the answer's id."""

    def __init__(self, question_id: str, conversation: str) -> None:
        self._question_id, self._conversation = question_id, conversation
        self._seq = count(1)

    def __call__(self, happened: sse.Told) -> Iterator[bytes]:
        seq = next(self._seq)
        whole = frame(_content(happened), question_id=self._question_id, conversation=self._conversation, seq=seq)
        yield sse.event(whole, name=whole["type"], id=seq)


def _content(happened: sse.Told) -> dict[str, Any]:
    match happened:
        case Answer():
            return final(happened)
        case ServiceError():
            return failed(happened.code, happened.message, happened.retry_after)
    return told(happened)


async def search(request: web.Request) -> web.Response:
    """What retrieval finds, with the score of every stage."""
    wanted = await read(request, SearchRequest)
    engine, top = wanted.engine or "hybrid", wanted.top or 10
    found = await request.app[SERVICE].search(wanted.query, engine=engine, top=top)
    results = [candidate_dict(each) for each in found]
    return reply({"query": wanted.query, "engine": engine, "results": results})


# --- voices ---------------------------------------------------------------------------------------------------------


async def choose(request: web.Request) -> web.Response:
    """A recorded answer with another styled sentence before it, or with one that a person wrote."""
    wanted = await read(request, ChooseRequest)
    turn = await request.app[CHAT].choose(wanted.id, wanted.choice)
    return reply({**turn.answer, "conversation": turn.conversation})


async def speak(request: web.Request) -> web.Response:
    """What a persona says to the last of some turns: a debate, or sentences to choose from; nothing is recorded."""
    wanted = await read(request, SpeakRequest)
    top = wanted.top or LINES
    said = await request.app[SERVICE].speak(
        wanted.persona, wanted.turns, hint=wanted.hint or "", top=top, deadline=wanted.deadline
    )
    return reply({"persona": wanted.persona, "lines": [asdict(each) for each in said.lines], "notice": said.notice})


async def show_grid(request: web.Request) -> web.Response:
    """The words of the topics that hints steer by, and where one falls."""
    chart = await request.app[SERVICE].chart(read_query(request, GridQuery).hint)
    return reply(chart.as_dict())


# --- what was said --------------------------------------------------------------------------------------------------


async def give_feedback(request: web.Request) -> web.Response:
    """A vote on a recorded answer."""
    given = await read(request, FeedbackRequest)
    comment = given.comment or ""
    await request.app[SERVICE].vote(given.id, given.vote, comment)
    return reply({"id": given.id, "vote": given.vote, "comment": comment})


async def list_conversations(request: web.Request) -> web.Response:
    page = read_query(request, PageQuery)
    found = await request.app[SERVICE].store(lambda s: s.conversations(limit=page.limit, before=page.before))
    return reply({"conversations": [asdict(each) for each in found]})


async def show_conversation(request: web.Request) -> web.Response:
    """A conversation with its turns, each with the last vote on it; as Markdown it is for people, to be kept."""
    wanted = read_query(request, TranscriptQuery)
    told = await _of_conversation(request, whole)
    if wanted.format == "json":
        return reply(told)
    name = quote(f"{file_name(told['title'])}.md", safe="")
    headers = {"Cache-Control": "no-store", "Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return web.Response(text=markdown(told), content_type="text/markdown", headers=headers)


async def rename_conversation(request: web.Request) -> web.Response:
    wanted = await read(request, RenameRequest)
    title = " ".join(wanted.title.split())

    def rename(store: Store, conversation: str) -> dict[str, Any]:
        store.rename_conversation(conversation, title)
        return asdict(store.conversation(conversation))

    return reply(await _of_conversation(request, rename))


async def delete_conversation(request: web.Request) -> web.Response:
    """Remove a conversation with its turns and the votes on them."""
    request.app[CHAT].conversations.clear(request.match_info["id"])
    service = request.app[SERVICE]
    await _of_conversation(request, lambda _, conversation: service.bot.delete_conversation(conversation))
    return web.Response(status=204)


async def _of_conversation(request: web.Request, work: Callable[[Store, str], Result]) -> Result:
    """What `work` makes of the conversation that the path names; 404 where there is none."""
    conversation = request.match_info["id"]
    try:
        _ID.validate_python(conversation)
        return await request.app[SERVICE].store(lambda store: work(store, conversation))
    except (NotFoundError, ValidationError):
        raise ServiceError(404, f"Expected the id of a conversation, but got {shown(conversation)}.") from None
