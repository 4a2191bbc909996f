"""Server-sent events: a question's answer while it is made, to one client. https://html.spec.whatwg.org/#parsing-an-event-stream"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from qa_bot.answering.answer_json import dumps
from qa_bot.answering.ask import Ask
from qa_bot.answering.events import Event, StageBegun
from qa_bot.web.app_keys import METRICS, REQUEST_ID
from qa_bot.web.errors import ServiceError
from qa_bot.web.service import AnswerService
from qa_core.types import Answer

log = logging.getLogger(__name__)

PING = 15.0
"""Seconds of silence after which a comment shows that the connection lives."""
STALLED = 30.0
"""Seconds after which a client that does not read is dropped."""
QUEUED = "queued"
_COMMENT = b": ping\n\n"
_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would keep events back
}

Told = Event | Answer | ServiceError
"""What a stream tells; it ends with an answer or an error."""


def wanted(request: web.Request) -> bool:
    """Whether the client named event streams among what it accepts."""
    offers = ",".join(request.headers.getall("Accept", [])).lower().split(",")
    return any(offer.partition(";")[0].strip() == "text/event-stream" for offer in offers)


def event(data: Mapping[str, Any] | bytes, *, name: str = "", id: int | None = None) -> bytes:  # noqa: A002 (the field's name)
    """One event; JSON has no line ends, so that its data is one line."""
    head = (b"" if id is None else b"id: %d\n" % id) + (b"event: %s\n" % name.encode() if name else b"")
    return head + b"data: " + (data if isinstance(data, bytes) else dumps(data)) + b"\n\n"


@asynccontextmanager
async def asking(service: AnswerService, ask: Ask) -> AsyncIterator[AsyncIterator[Told | None]]:
    """What happens while a question is answered, with None after every `PING` seconds of silence.

    The work stops where the caller leaves before its end.

    Raises:
        ServiceError: the question was not even taken, so that an ordinary reply can say so.
    """
    told: asyncio.Queue[Event | None] = asyncio.Queue()
    waits = service.busy
    work = asyncio.create_task(service.answer(ask, listen=told.put_nowait))
    work.add_done_callback(lambda _: told.put_nowait(None))
    happenings = _happenings(work, told)
    try:
        await asyncio.sleep(0)  # the service says in its first step whether it takes the question
        if work.done():
            work.result()
        if waits:
            told.put_nowait(StageBegun(QUEUED))
        yield happenings
    finally:
        await happenings.aclose()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def send(
    request: web.Request,
    happenings: AsyncIterator[Told | None],
    render: Callable[[Told], Iterable[bytes]],
) -> web.StreamResponse:
    """Reply with what `render` makes of each happening, until the last one or until the client is gone."""
    response = web.StreamResponse(headers=_HEADERS)
    try:
        await response.prepare(request)
        async for told in _told_errors(happenings, request):
            for piece in [_COMMENT] if told is None else render(told):
                async with asyncio.timeout(STALLED):
                    await response.write(piece)
        await response.write_eof()
    except TimeoutError:
        request.app[METRICS].shed("slow")
        if request.transport is not None:
            request.transport.abort()
    except ConnectionError:
        log.debug("a client left before its answer was told")
    return response


async def _happenings(work: asyncio.Task[Answer], told: asyncio.Queue[Event | None]) -> AsyncGenerator[Told | None]:
    while True:
        try:
            async with asyncio.timeout(PING):
                happened = await told.get()
        except TimeoutError:
            yield None
            continue
        if happened is None:
            break
        yield happened
    yield work.result()


async def _told_errors(happenings: AsyncIterator[Told | None], request: web.Request) -> AsyncIterator[Told | None]:
    """The same with an error as the last thing told: its status went out long ago."""
    try:
        async for each in happenings:
            yield each
    except ServiceError as error:
        yield error
    except Exception:
        log.exception("a streamed answer failed", extra={"request_id": request.get(REQUEST_ID, "")})
        yield ServiceError(500, "Something went wrong here; the log of the service says what, under the request's id.")
