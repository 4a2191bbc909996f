"""The server process: listen, warm up, serve, and stop gracefully; the only file that imports uvloop."""

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
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace

from aiohttp import web

from qa_bot.backup.schedule import ScheduledBackups, backing_up_when_idle
from qa_bot.bot import Bot
from qa_bot.documents.idle_improving import IdleImprover, improving_when_idle
from qa_bot.home.expiry import expire
from qa_bot.home.health.running_service import announced_service
from qa_bot.home.sections import ServeSection
from qa_bot.web.access.addresses import addresses, check_binding
from qa_bot.web.access.arrival import HEADER, LINE, use_arrived_requests
from qa_bot.web.access.rules import Access
from qa_bot.web.access.tokens import token_for
from qa_bot.web.api.admin import HEALTH, HealthWatch
from qa_bot.web.app import make_app, make_liveqa_app
from qa_bot.web.chat.conversations import Conversations
from qa_bot.web.chat.socket import CHAT
from qa_bot.web.logs import configure, event, server_log
from qa_bot.web.metrics import Metrics
from qa_bot.web.service import AnswerService
from qa_bot.web.telemetry.collector import open_telemetry
from qa_core.process_memory import release_freed

log = logging.getLogger(__name__)

KEEP_ALIVE = 75.0
"""Seconds that a connection may idle: longer than usual proxies wait."""
LINGERING = 2.0
"""Seconds for reading the rest of a refused body, so that the client reads the reply."""
HEADERS = 100
BACKLOG = 1024
"""Connections that wait to be accepted."""
READ_BUFFER = 64 * 1024
GRACE = 1.0
"""Seconds that stopping waits beyond the deadline of the last answer, and then for its last bytes to go out."""
JOURNAL_EVERY = 2.0
"""Seconds between two transfers of recorded turns from the journal to the store."""
FOLLOW_EVERY = 1.0
"""Seconds between two looks for a new generation."""
EXPIRE_EVERY = 3600.0
"""Seconds between two searches for expired conversations."""
RELEASE_EVERY = 20.0
"""Seconds between two releases of freed memory."""
FILES = 8192
"""Files that may be open at once, including sockets."""
ATTEMPTS = 5
"""Attempts to find a port that is free on all addresses of a name."""


class ServeError(Exception):
    """The address cannot be listened on."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that listens."""

    url: str
    liveqa_url: str | None
    service: AnswerService
    metrics: Metrics
    app: web.Application
    settings: ServeSection


def serve(bot: Bot, settings: ServeSection, *, announce: Callable[[RunningServer], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT; a second one stops at once.

    Args:
        announce: called when the server is ready; by default it writes the address to stderr.

    Raises:
        ConfigError: the host does not resolve, or needs a token, or the token is invalid.
        ServeError: the port is in use or not permitted.
    """
    configure(log_format=settings.log_format)
    _allow_files()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_until_stopped(bot, settings, announce or _announce))


@asynccontextmanager
async def running(bot: Bot, settings: ServeSection) -> AsyncIterator[RunningServer]:
    """A server that listens on both ports; it stops gracefully at the end. Raises as `serve` does."""
    token = token_for(bot.home.path, settings)
    check_binding(settings.host, token)
    async with AsyncExitStack() as stack:
        sockets = _open_sockets(stack, settings.host, settings.port)
        liveqa = _open_sockets(stack, settings.host, settings.liveqa_port) if settings.liveqa_port else []
        settings = replace(settings, token=token, port=_port(sockets))
        metrics, access = Metrics(), Access(settings)
        telemetry = open_telemetry(bot.config, metrics)
        stack.push_async_callback(asyncio.to_thread, telemetry.close)
        tracing = telemetry.tracing
        service = AnswerService(bot, metrics, workers=settings.workers, queue=settings.queue, tracing=tracing)
        stack.push_async_callback(service.close)
        app = make_app(service, metrics, settings, access=access, tracing=tracing)
        await stack.enter_async_context(_served(app, sockets))
        if liveqa:
            liveqa_app = make_liveqa_app(service, metrics, settings, access=access, tracing=tracing)
            await stack.enter_async_context(_served(liveqa_app, liveqa))
        await stack.enter_async_context(_bookkeeping(service, app[CHAT].conversations, app[HEALTH]))
        stack.push_async_callback(service.drained, bot.config.answer.deadline + GRACE)
        stack.enter_context(announced_service(bot.home, _url(settings.host, sockets)))
        liveqa_url = _url(settings.host, liveqa) if liveqa else None
        yield RunningServer(_url(settings.host, sockets), liveqa_url, service, metrics, app, settings)


async def _until_stopped(bot: Bot, settings: ServeSection, announce: Callable[[RunningServer], None]) -> None:
    stop = asyncio.Event()
    with _signals(stop):
        async with running(bot, settings) as server:
            opening = asyncio.create_task(server.service.warm_up())
            stopping = asyncio.create_task(stop.wait())
            await asyncio.wait({opening, stopping}, return_when=asyncio.FIRST_COMPLETED)
            with _improving(bot, server.service), _backing_up(bot, server.service):
                if opening.done():
                    opening.result()
                    announce(server)
                await stopping
                event(log, "stopping")


@contextmanager
def _improving(bot: Bot, service: AnswerService) -> Iterator[None]:
    """Make better vectors in idle time, if the configuration allows it."""

    loop = asyncio.get_running_loop()

    def open_corridor() -> None:
        event(log, "improved", encoder=bot.corridor().index.encoder)

    def improved() -> None:
        """Open the new index before the next question, in a thread that does not inherit the improver's priority."""
        loop.call_soon_threadsafe(loop.run_in_executor, None, open_corridor)

    improver = IdleImprover(bot.home, lambda: bot.config, lambda: service.idle_seconds)
    service.improved_share = lambda: improver.progress
    with improving_when_idle(improver, improved) if bot.config.dense.improve else nullcontext():
        yield


@contextmanager
def _backing_up(bot: Bot, service: AnswerService) -> Iterator[None]:
    """Write the scheduled backups in idle time; the schedule may be changed while serving."""
    scheduled = ScheduledBackups(bot.home, lambda: bot.config, lambda: service.idle_seconds)
    with backing_up_when_idle(scheduled, lambda done: event(log, "backup", backup=done.name, bytes=done.copied)):
        yield


def _allow_files() -> None:
    """Raise the limit of open files, because each connection is one and the usual limit is 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def _announce(server: RunningServer) -> None:
    liveqa = f" (LiveQA on {server.liveqa_url})" if server.liveqa_url else ""
    sys.stderr.write(f"qa-bot listens on {server.url}{liveqa}\n")
    sys.stderr.flush()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:  # the extra `fast`
        return asyncio.new_event_loop
    return uvloop.new_event_loop


@contextmanager
def _signals(stop: asyncio.Event) -> Iterator[None]:
    """SIGTERM and SIGINT set `stop`; a second signal ends the process as usual."""
    loop = asyncio.get_running_loop()
    both = (signal.SIGTERM, signal.SIGINT)

    def on_signal() -> None:
        stop.set()
        for number in both:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    for number in both:
        loop.add_signal_handler(number, on_signal)
    try:
        yield
    finally:
        for number in both:
            loop.remove_signal_handler(number)


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
    use_arrived_requests(runner)
    try:
        for opened in sockets:
            await web.SockSite(runner, opened, backlog=BACKLOG).start()
        yield
    finally:
        await runner.cleanup()


@asynccontextmanager
async def _bookkeeping(
    service: AnswerService, conversations: Conversations, health: HealthWatch
) -> AsyncIterator[None]:
    """While serving: the journal, new generations, expired conversations, problems in the log, and freed memory."""
    works = (
        _move_journal(service),
        _follow_changes(service),
        _expire(service, conversations),
        health.log_changes(),
        _release_memory(service),
    )
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task


async def _move_journal(service: AnswerService) -> None:
    warned = False
    while True:
        await asyncio.sleep(JOURNAL_EVERY)
        try:
            await service.store(lambda _: None)  # opening the store moves the journal into it
        except Exception as error:
            if not warned:
                log.warning("Turns stay in the journal, since the store cannot be used: %s", error)
            warned = True


async def _follow_changes(service: AnswerService) -> None:
    """Open a new generation before the next question does: it need not wait, and the former one can be removed."""
    while True:
        await asyncio.sleep(FOLLOW_EVERY)
        if not service.starting:
            with suppress(Exception):  # the next question says what is wrong
                await asyncio.to_thread(service.bot.corridor)


async def _release_memory(service: AnswerService) -> None:
    """Give back what the last questions freed; without questions there is nothing."""
    while True:
        await asyncio.sleep(RELEASE_EVERY)
        if service.idle_seconds < RELEASE_EVERY:
            await asyncio.to_thread(release_freed)


async def _expire(service: AnswerService, conversations: Conversations) -> None:
    while True:
        await asyncio.sleep(EXPIRE_EVERY)
        try:
            expired = await service.store(lambda store: expire(service.bot.home, service.bot.config, store))
        except Exception as error:
            log.warning("Old conversations stay for now, since the store cannot be used: %s", error)
            continue
        for conversation_id in expired:
            service.bot.memory.forget(conversation_id)
            live = conversations.find(conversation_id)
            if live and not live.answering:  # else a user just came back, and is not stopped
                live.clear()


def _open_sockets(stack: AsyncExitStack, host: str, port: int) -> list[socket.socket]:
    sockets = _listening(host, port)
    for opened in sockets:
        stack.callback(opened.close)
    return sockets


def _listening(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of `host`, all on one port; port 0 takes one that is free on all of them."""
    for attempt in range(ATTEMPTS):
        sockets: list[socket.socket] = []
        try:
            for address in addresses(host):
                sockets.append(_bound(address, _port(sockets) if sockets else port))
            return sockets
        except OSError as error:
            for opened in sockets:
                opened.close()
            if port or error.errno != errno.EADDRINUSE or attempt == ATTEMPTS - 1:
                raise ServeError(_refused(host, port, error)) from None
    raise AssertionError("the last attempt returns or raises")


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # reuse a port that was just closed; elsewhere this would share the port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((address, port))
        made.listen(BACKLOG)  # already now, because two servers may bind a port, but only one can listen
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def _refused(host: str, port: int, error: OSError) -> str:
    reasons = {
        errno.EADDRINUSE: "the port is in use; stop what listens there, or choose another with --port",
        errno.EACCES: "no right to that port; choose one above 1023 with --port",
        errno.EADDRNOTAVAIL: "this machine has no such address; choose another with --host",
    }
    got = reasons.get(error.errno or 0, error.strerror or str(error))
    return f"Expected to listen on {_joined(host, port)}, but got: {got}."


def _url(host: str, sockets: list[socket.socket]) -> str:
    return f"http://{_joined(host, _port(sockets))}/"


def _port(sockets: list[socket.socket]) -> int:
    return int(sockets[0].getsockname()[1])


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
