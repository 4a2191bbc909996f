"""TREC LiveQA: a question in a form is answered in XML, within limits of length and time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from aiohttp import web

from qa_bot.answering.ask import Ask
from qa_bot.answering.corridor import Corridor
from qa_bot.answering.scope import Scope
from qa_bot.web.api.forms import FORMS, MOST_FIELDS, fields
from qa_bot.web.api.json_bodies import whole
from qa_bot.web.app_keys import SERVICE, SETTINGS
from qa_bot.web.errors import ServiceError
from qa_bot.web.liveqa.liveqa_focus import Rarity, analyse
from qa_bot.web.liveqa.reply import ILLEGAL, reply
from qa_core.text.analysis import sentences
from qa_core.types import Question
from rankers.clue import inverse_frequency

PATH = "/liveqa"
READ = 5_000
"""Limit of title and of body in characters, more than twice the longest of the track; longer ones only slow queries."""


def routes() -> list[web.RouteDef]:
    """Routes of the main port."""
    return [web.post(PATH, answer_form), web.get(PATH, answer_form, allow_head=False)]


def own_port_routes() -> list[web.RouteDef]:
    """Routes of the LiveQA port, where clients of the track request `/`."""
    return [web.post("/", answer_form), web.get("/", answer_form, allow_head=False), *routes()]


async def answer_form(request: web.Request) -> web.Response:
    """The reply to one question, within `[serve] liveqa_deadline` of its arrival.

    Raises:
        ServiceError: 400 for an invalid form, 415 for another content type, 422 for a form without a question, 503 if
            the queue is full.
    """
    arrived = time.monotonic()
    question = await _question(request)
    service = request.app[SERVICE]
    settings = request.app[SETTINGS]
    deadline = arrived + settings.liveqa_deadline
    seconds = deadline - time.monotonic()
    scope = Scope(leave_out=question.id)
    answer = await service.answer(
        Ask(_with_title(question), seconds=seconds, precision=settings.liveqa_precision, scope=scope, suggest=False)
    )
    analysis = await asyncio.to_thread(lambda: analyse(question, rarity=_rarity(service.bot.corridor())))
    milliseconds = round(1000 * (time.monotonic() - arrived))
    text = reply(answer, analysis, qid=question.id, milliseconds=milliseconds)
    return web.Response(text=text, content_type="text/xml", charset="utf-8")


async def _question(request: web.Request) -> Question:
    """The question of the form or else of the query; illegal characters become blanks."""
    form = await _form(request) if request.method == "POST" and request.body_exists else {}
    parameters = {**request.query, **form}
    values = {name: ILLEGAL.sub(" ", parameters.get(name, "")) for name in ("title", "body", "category")}
    title, body, category = values["title"][:READ], values["body"][:READ], values["category"].strip()[:READ]
    if not title.strip() and not body.strip():
        raise ServiceError(422, "Expected a question in `title`, but got none; send `title`, or at least `body`.")
    return Question(title, body, id=ILLEGAL.sub("", parameters.get("qid", "")), category=category)


async def _form(request: web.Request) -> Mapping[str, str]:
    """The fields of the body, the first of each name."""
    if request.content_type not in FORMS:
        raise ServiceError(415, f"Expected a form ({' or '.join(FORMS)}), but got {request.content_type}.")
    try:
        return fields(await whole(request), request.headers["Content-Type"])
    except (ValueError, LookupError) as error:
        raise ServiceError(400, f"Expected at most {MOST_FIELDS} fields of text in UTF-8, but got: {error}.") from None


def _with_title(question: Question) -> Question:
    """The question with a title: without one, the first sentence of the body."""
    title, body = question.title, question.body
    if not title.strip():
        start, end = sentences(body)[0]
        title = body[start:end]
    return Question(title.strip(), body.strip(), id=question.id, category=question.category)


def _rarity(corridor: Corridor) -> Rarity:
    """Inverse document frequency in the index."""
    index = corridor.index
    return lambda term: max(0.0, inverse_frequency(index.documents, index.document_frequency("all", term)))
