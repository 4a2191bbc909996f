"""The owner's routes: list questions without a good answer, answer or dismiss them."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
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
"""Answers that may wait to be added; each takes some tenths of a second."""


class Writer:
    """Adds answers one after another, in a thread apart from the answering ones."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="owner")
        self.waiting = 0
        """Answers that are not added yet, including the one in work."""

    async def add(self, body: AddAnswerRequest) -> str:
        """Add an answer and return the id of its document.

        Raises:
            ServiceError: 409 if too many answers wait or another process writes, 422 for an invalid answer.
        """
        if self.waiting >= WAITING:
            raise ServiceError(409, f"{self.waiting} answers wait to be added; try again.")
        self.waiting += 1
        try:
            return await asyncio.wrap_future(self._thread.submit(copy_context().run, _add, self._bot, body))
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """Finish the answer in work; waiting ones are not started."""
        self._thread.shutdown(cancel_futures=True)


def _add(bot: Bot, body: AddAnswerRequest) -> str:
    from qa_bot.documents.index_update import ChangeError  # late: the start does not wait for SQLAlchemy

    try:
        return owner.add_answer(bot, body.question, body.answer, url=body.url or "", gap=body.gap or "")
    except owner.OwnerError as error:
        raise ServiceError(422, str(error)) from None
    except (WriterBusyError, ChangeError, CorruptGenerationError) as error:
        raise ServiceError(409, str(error)) from None


WRITER = web.AppKey("writer", Writer)


def prepare(app: web.Application) -> None:
    """Add the writer to an application and close it at the end."""
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
    """Questions without an answer, or with a bad one."""
    limit, service = read_query(request, GapsQuery).limit, request.app[SERVICE]
    gaps, total = await service.store(lambda _: owner.gaps(service.bot, limit=limit))
    return reply({"gaps": [asdict(gap) for gap in gaps], "total": total})


async def add_answer(request: web.Request) -> web.Response:
    """Add the owner's answer, which is used from the next question on."""
    document = await request.app[WRITER].add(await read(request, AddAnswerRequest))
    return reply({"document": document, "collection": COLLECTION})


async def dismiss(request: web.Request) -> web.Response:
    """Remove a question from the list until it is asked again."""
    gap, service = (await read(request, DismissRequest)).gap, request.app[SERVICE]
    turns = await service.store(lambda _: owner.dismiss(service.bot, gap))
    if not turns:
        raise ServiceError(404, f"Expected the key of a question without a good answer, but got {gap}.")
    return reply({"gap": gap, "asked": turns})
