"""Server-sent events: streams the progress of an answer to one client.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

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
from qa_bot.web.app_keys import METRICS, REPLIED, REQUEST_ID
from qa_bot.web.errors import ServiceError
from qa_bot.web.service import AnswerService
from qa_core.types import Answer

log = logging.getLogger(__name__)

PING = 15.0
"""Seconds of silence after which a comment keeps the connection alive."""
STALLED = 30.0
"""Seconds after which a client that does not read is disconnected."""
QUEUED = "queued"
_COMMENT = b": ping\n\n"
_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # else nginx buffers events
}

StreamItem = Event | Answer | ServiceError
"""An item of a stream, which ends with an answer or an error."""


def accepts_events(request: web.Request) -> bool:
    """Whether the client accepts event streams."""
    offers = ",".join(request.headers.getall("Accept", [])).lower().split(",")
    return any(offer.partition(";")[0].strip() == "text/event-stream" for offer in offers)


def event(data: Mapping[str, Any] | bytes, *, name: str = "", id: int | None = None) -> bytes:  # noqa: A002 (the field's name)
    """One event; its data is one line, because JSON has no line ends."""
    head = (b"" if id is None else b"id: %d\n" % id) + (b"event: %s\n" % name.encode() if name else b"")
    return head + b"data: " + (data if isinstance(data, bytes) else dumps(data)) + b"\n\n"


@asynccontextmanager
async def answering(service: AnswerService, ask: Ask) -> AsyncIterator[AsyncIterator[StreamItem | None]]:
    """The stream of an answer, with None after every `PING` seconds of silence; leaving the context stops the work.

    Raises:
        ServiceError: the question was rejected at once, before the stream began.
    """
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    waits = service.busy
    work = asyncio.create_task(service.answer(ask, listen=events.put_nowait))
    work.add_done_callback(lambda _: events.put_nowait(None))
    items = _stream(work, events)
    try:
        await asyncio.sleep(0)  # the service rejects a question in its first step
        if work.done():
            work.result()
        if waits:
            events.put_nowait(StageBegun(QUEUED))
        yield items
    finally:
        await items.aclose()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def send(
    request: web.Request,
    items: AsyncIterator[StreamItem | None],
    render: Callable[[StreamItem], Iterable[bytes]],
) -> web.StreamResponse:
    """Reply with each item as rendered by `render`, until the last one or until the client disconnects."""
    response = web.StreamResponse(headers=_HEADERS)
    try:
        await response.prepare(request)
        async for item in _with_errors(items, request):
            for piece in [_COMMENT] if item is None else render(item):
                async with asyncio.timeout(STALLED):
                    await response.write(piece)
        await response.write_eof()
        request[REPLIED] = response.status
    except TimeoutError:
        request.app[METRICS].shed("slow")
        if request.transport is not None:
            request.transport.abort()
    except ConnectionError:
        log.debug("a client disconnected before its answer was sent")
    return response


async def _stream(work: asyncio.Task[Answer], events: asyncio.Queue[Event | None]) -> AsyncGenerator[StreamItem | None]:
    while True:
        try:
            async with asyncio.timeout(PING):
                item = await events.get()
        except TimeoutError:
            yield None
            continue
        if item is None:
            break
        yield item
    yield work.result()


async def _with_errors(
    items: AsyncIterator[StreamItem | None], request: web.Request
) -> AsyncIterator[StreamItem | None]:
    """The same items, with an error as the last one, because the status has already been sent."""
    try:
        async for item in items:
            yield item
    except ServiceError as error:
        yield error
    except Exception:
        log.exception("a streamed answer failed", extra={"request_id": request.get(REQUEST_ID, "")})
        yield ServiceError(500, "Something went wrong here; the log of the service says what, under the request's id.")
