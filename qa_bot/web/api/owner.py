"""The owner's routes: list questions without a good answer, answer or dismiss them."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

from aiohttp import web

from qa_bot.answering.stages.owner_answers import COLLECTION
from qa_bot.bot import Bot
from qa_bot.learning import owner
from qa_bot.web.api.json_bodies import read, read_query, reply
from qa_bot.web.api.owner_models import AddAnswerRequest, DismissRequest, GapsQuery
from qa_bot.web.api.writer import WRITER
from qa_bot.web.app_keys import SERVICE
from qa_bot.web.errors import ServiceError


def routes() -> list[web.RouteDef]:
    return [
        web.get("/api/owner/gaps", list_gaps),
        web.post("/api/owner/answers", add_answer),
        web.post("/api/owner/dismiss", dismiss),
    ]


async def list_gaps(request: web.Request) -> web.Response:
    """Questions without an answer, or with a bad one."""
    limit, service = read_query(request, GapsQuery).limit, request.app[SERVICE]
    gaps, total = await service.store(lambda _: owner.gaps(service.bot, limit=limit))
    return reply({"gaps": [asdict(gap) for gap in gaps], "total": total})


async def add_answer(request: web.Request) -> web.Response:
    """Add the owner's answer, which is used from the next question on."""
    body = await read(request, AddAnswerRequest)
    document = await request.app[WRITER].run(partial(_add, request.app[SERVICE].bot, body))
    return reply({"document": document, "collection": COLLECTION})


def _add(bot: Bot, body: AddAnswerRequest) -> str:
    try:
        return owner.add_answer(bot, body.question, body.answer, url=body.url or "", gap=body.gap or "")
    except owner.OwnerError as error:
        raise ServiceError(422, str(error)) from None


async def dismiss(request: web.Request) -> web.Response:
    """Remove a question from the list until it is asked again."""
    gap, service = (await read(request, DismissRequest)).gap, request.app[SERVICE]
    turns = await service.store(lambda _: owner.dismiss(service.bot, gap))
    if not turns:
        raise ServiceError(404, f"Expected the key of a question without a good answer, but got {gap}.")
    return reply({"gap": gap, "asked": turns})
