"""The owner's routes: questions without a good answer, and what is done about them."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from aiohttp import web

from qa_bot.answering.stages.owner_answers import COLLECTION
from qa_bot.bot import Bot
from qa_bot.home.folder import WriterBusyError
from qa_bot.home.generations import CorruptGenerationError
from qa_bot.learning import owner
from qa_bot.web.api.json_bodies import read, read_query, reply
from qa_bot.web.api.owner_models import AddAnswerRequest, DismissRequest, GapsQuery
from qa_bot.web.app_keys import SERVICE
from qa_bot.web.errors import ServiceError

WAITING = 8
"""Answers that wait to be added; each takes some tenths of a second."""


class Writer:
    """Adds answers one after the other, in a thread that no question holds."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="owner")
        self.waiting = 0
        """Answers that are not added yet, the one in hand among them."""

    async def add(self, wanted: AddAnswerRequest) -> str:
        """The id of the document; raises ServiceError 409 while another process writes, 422 for what is no answer."""
        if self.waiting >= WAITING:
            raise ServiceError(409, f"{self.waiting} answers wait to be added; try again.")
        self.waiting += 1
        try:
            return await asyncio.wrap_future(self._thread.submit(_added, self._bot, wanted))
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """Let the answer that is being added be whole; those that wait are not begun."""
        self._thread.shutdown(cancel_futures=True)


def _added(bot: Bot, wanted: AddAnswerRequest) -> str:
    from qa_bot.documents.sync import ChangeError  # late: a service that starts does not wait for SQLAlchemy

    try:
        return owner.add_answer(bot, wanted.question, wanted.answer, url=wanted.url or "", gap=wanted.gap or "")
    except owner.OwnerError as error:
        raise ServiceError(422, str(error)) from None
    except (WriterBusyError, ChangeError, CorruptGenerationError) as error:
        raise ServiceError(409, str(error)) from None


WRITER = web.AppKey("writer", Writer)


def prepare(app: web.Application) -> None:
    """Give an application its writer, which ends with it."""
    app[WRITER] = Writer(app[SERVICE].bot)

    async def close(app: web.Application) -> None:
        await asyncio.to_thread(app[WRITER].close)

    app.on_cleanup.append(close)


def routes() -> list[web.RouteDef]:
    return [
        web.get("/api/owner/gaps", list_gaps),
        web.post("/api/owner/answers", add_answer),
        web.post("/api/owner/dismiss", dismiss),
    ]


async def list_gaps(request: web.Request) -> web.Response:
    """Questions that got no answer, or a bad one."""
    limit, service = read_query(request, GapsQuery).limit, request.app[SERVICE]
    found, total = await service.store(lambda _: owner.gaps(service.bot, limit=limit))
    return reply({"gaps": [asdict(each) for each in found], "total": total})


async def add_answer(request: web.Request) -> web.Response:
    """An answer of the owner's, which the next question gets already."""
    document = await request.app[WRITER].add(await read(request, AddAnswerRequest))
    return reply({"document": document, "collection": COLLECTION})


async def dismiss(request: web.Request) -> web.Response:
    """Let a question be gone until it is asked again."""
    gap, service = (await read(request, DismissRequest)).gap, request.app[SERVICE]
    asked = await service.store(lambda _: owner.dismiss(service.bot, gap))
    if not asked:
        raise ServiceError(404, f"Expected the key of a question that wants an answer, but got {gap}.")
    return reply({"gap": gap, "asked": asked})
