"""From sockets to signals: listens, warms up, serves, and stops so that nobody loses an answer. The door of uvloop."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace

from aiohttp import web

from qa_bot.bot import Bot
from qa_bot.home.config import ServeSection
from qa_bot.home.journal import expire
from qa_bot.web.access import Access, addresses, check_binding, token_for
from qa_bot.web.app import make_app, make_liveqa_app
from qa_bot.web.chat.conversations import Conversations
from qa_bot.web.chat.socket import CHAT
from qa_bot.web.logs import configure, event, server_log
from qa_bot.web.metrics import Metrics
from qa_bot.web.service import AnswerService

log = logging.getLogger(__name__)

KEEP_ALIVE = 75.0
"""Seconds that a connection may idle: longer than the usual proxy keeps its own."""
LINGERING = 2.0
"""Seconds in which the rest of a refused body is read, so that its sender reads the reply."""
LINE = 16 * 1024
"""Bytes of a request line: a LiveQA question fits in one."""
HEADER = 8 * 1024
HEADERS = 100
BACKLOG = 1024
"""Connections that wait to be taken."""
READ_BUFFER = 64 * 1024
GRACE = 1.0
"""Seconds beyond the deadline of an answer that stopping waits for it, and then for its last bytes to go out."""
JOURNAL_EVERY = 2.0
"""Seconds between two looks at the journal: recorded turns should soon be where conversations are listed."""
EXPIRE_EVERY = 3600.0
"""Seconds between two looks for conversations that are kept no longer."""
FILES = 8192
"""Open at once, sockets among them."""
ATTEMPTS = 5
"""To find a port that is free on all addresses of a name."""


class ServeError(Exception):
    """An address that cannot be listened on."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A service that listens."""

    url: str
    liveqa_url: str | None
    service: AnswerService
    metrics: Metrics
    app: web.Application
    settings: ServeSection


def serve(bot: Bot, settings: ServeSection, *, announce: Callable[[RunningServer], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT; a second one stops at once.

    Args:
        announce: called when the first question can be taken; by default a line on stderr says where.

    Raises:
        ConfigError: a name that is no address, an address that needs a token, a token that cannot be used.
        ServeError: the port is in use, or there is no right to it.
    """
    configure()
    _allow_files()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_until_told(bot, settings, announce or _announce))


@asynccontextmanager
async def running(bot: Bot, settings: ServeSection) -> AsyncIterator[RunningServer]:
    """A service that listens on both ports and answers as soon as its service is warm; stops gracefully at the end.

    Raises as `serve` does.
    """
    token = token_for(bot.home.path, settings)
    check_binding(settings.host, token)
    async with AsyncExitStack() as held:
        sockets = _held(held, settings.host, settings.port)
        liveqa = _held(held, settings.host, settings.liveqa_port) if settings.liveqa_port else []
        settings = replace(settings, token=token, port=_port(sockets))
        metrics, access = Metrics(), Access(settings)
        service = AnswerService(bot, metrics, workers=settings.workers, queue=settings.queue)
        held.push_async_callback(service.close)
        app = make_app(service, metrics, settings, access=access)
        await held.enter_async_context(_served(app, sockets))
        if liveqa:
            beside = make_liveqa_app(service, metrics, settings, access=access)
            await held.enter_async_context(_served(beside, liveqa))
        await held.enter_async_context(_bookkeeping(service, app[CHAT].conversations))
        held.push_async_callback(service.drained, bot.config.answer.deadline + GRACE)
        liveqa_url = _url(settings.host, liveqa) if liveqa else None
        yield RunningServer(_url(settings.host, sockets), liveqa_url, service, metrics, app, settings)


async def _until_told(bot: Bot, settings: ServeSection, announce: Callable[[RunningServer], None]) -> None:
    told = asyncio.Event()
    with _signals(told):
        async with running(bot, settings) as server:
            opening = asyncio.create_task(server.service.warm_up())
            stopping = asyncio.create_task(told.wait())
            await asyncio.wait({opening, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if opening.done():
                opening.result()
                announce(server)
            await stopping
            event(log, "stopping")


def _allow_files() -> None:
    """Each connection is a file; take as many as this process may have, where that is more than the usual 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _announce(server: RunningServer) -> None:
    beside = f" (LiveQA on {server.liveqa_url})" if server.liveqa_url else ""
    sys.stderr.write(f"qa-bot listens on {server.url}{beside}\n")
    sys.stderr.flush()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:  # the extra `fast`
        return asyncio.new_event_loop
    return uvloop.new_event_loop


@contextmanager
def _signals(told: asyncio.Event) -> Iterator[None]:
    """SIGTERM and SIGINT set `told`; the second of them does what it does to any process."""
    loop = asyncio.get_running_loop()
    both = (signal.SIGTERM, signal.SIGINT)

    def stop() -> None:
        told.set()
        for each in both:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)

    for each in both:
        loop.add_signal_handler(each, stop)
    try:
        yield
    finally:
        for each in both:
            loop.remove_signal_handler(each)


@asynccontextmanager
async def _served(app: web.Application, sockets: list[socket.socket]) -> AsyncIterator[None]:
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=server_log(),
        handler_cancellation=True,
        shutdown_timeout=GRACE,
        keepalive_timeout=KEEP_ALIVE,
        tcp_keepalive=True,
        lingering_time=LINGERING,
        max_line_size=LINE,
        max_field_size=HEADER,
        max_headers=HEADERS,
        read_bufsize=READ_BUFFER,
        auto_decompress=True,
    )
    await runner.setup()
    try:
        for each in sockets:
            await web.SockSite(runner, each, backlog=BACKLOG).start()
        yield
    finally:
        await runner.cleanup()


@asynccontextmanager
async def _bookkeeping(service: AnswerService, conversations: Conversations) -> AsyncIterator[None]:
    """Turns go from the journal into the store, while serving and at the end; what is over goes for good."""
    tasks = [asyncio.create_task(_take_up(service)), asyncio.create_task(_expire(service, conversations))]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task


async def _take_up(service: AnswerService) -> None:
    told = False
    while True:
        await asyncio.sleep(JOURNAL_EVERY)
        try:
            await service.store(lambda _: None)  # whoever opens the store takes the journal up
        except Exception as error:
            if not told:
                log.warning("Turns stay in the journal, since the store cannot be used: %s", error)
            told = True


async def _expire(service: AnswerService, conversations: Conversations) -> None:
    while True:
        await asyncio.sleep(EXPIRE_EVERY)
        try:
            gone = await service.store(lambda store: expire(service.bot.config, store))
        except Exception as error:
            log.warning("Old conversations stay for now, since the store cannot be used: %s", error)
            continue
        for each in gone:
            service.bot.memory.forget(each)
            live = conversations.find(each)
            if live and not live.answering:  # else somebody just came back, and is not stopped
                live.clear()


def _held(until: AsyncExitStack, host: str, port: int) -> list[socket.socket]:
    sockets = _listening(host, port)
    for each in sockets:
        until.callback(each.close)
    return sockets


def _listening(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of `host`, all on one port; port 0 takes one that is free on all of them."""
    for attempt in range(ATTEMPTS):
        held: list[socket.socket] = []
        try:
            for address in addresses(host):
                held.append(_bound(address, _port(held) if held else port))
            return held
        except OSError as error:
            for each in held:
                each.close()
            if port or error.errno != errno.EADDRINUSE or attempt == ATTEMPTS - 1:
                raise ServeError(_refused(host, port, error)) from None
    raise AssertionError("the last attempt returns or raises")


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # a port that was in use a moment ago is free; elsewhere this would share it
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((address, port))
        made.listen(BACKLOG)  # here and not when served: two servers may both bind, but only one listens
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def _refused(host: str, port: int, error: OSError) -> str:
    todo = {
        errno.EADDRINUSE: "the port is in use; stop what listens there, or choose another with --port",
        errno.EACCES: "no right to that port; choose one above 1023 with --port",
        errno.EADDRNOTAVAIL: "this machine has no such address; choose another with --host",
    }
    got = todo.get(error.errno or 0, error.strerror or str(error))
    return f"Expected to listen on {_joined(host, port)}, but got: {got}."


def _url(host: str, sockets: list[socket.socket]) -> str:
    return f"http://{_joined(host, _port(sockets))}/"


def _port(sockets: list[socket.socket]) -> int:
    return int(sockets[0].getsockname()[1])


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
