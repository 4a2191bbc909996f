"""Real services on free ports: each runs in a thread with a separate event loop, so that any client can be used.

def test_x(service):                      # a service over a copy of the starter's home
    assert service.get("/livez").status == 200

def test_y(serve, slow_bot):              # …with other settings, over another bot
    service = serve(slow_bot, token="secret", rate=60)
    slow_bot.pauses["rank"] = 0.5

def test_z(service):                      # aiohttp's client, in the service's own loop
    async def chat():
        async with service.client.ws_connect("/ws") as socket: ...
    service.run(chat())
"""

from __future__ import annotations

import asyncio
import io
import logging
import shutil
import socket as sockets
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, TypeVar

import aiohttp
import orjson
import pytest

from qa_bot import Bot
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.events import Event as Told
from qa_bot.answering.events import Listener, StageBegun, ignore_event
from qa_bot.web.logs import AsJson
from qa_bot.web.metrics import Metrics
from qa_bot.web.server import RunningServer, running
from qa_bot.web.service import AnswerService
from qa_core.types import Answer, Question

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CATS = "Why do cats sleep all day?"
PATIENCE = 30.0
"""Seconds after which a test that waits has failed."""
GLANCE = 0.005

Result = TypeVar("Result")


@dataclass(frozen=True)
class Reply:
    """What a request was answered with."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


class Service:
    """A service that runs until the test ends."""

    def __init__(self, bot: Bot, loop: asyncio.AbstractEventLoop, service: RunningServer) -> None:
        self.bot, self.loop = bot, loop
        self.running = service
        self.client: aiohttp.ClientSession
        """Lives in the service's loop: use it in coroutines given to `run`; it sends to paths of the main port."""

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`, without a slash at its end."""
        return self.running.url.rstrip("/")

    @property
    def liveqa_url(self) -> str:
        assert self.running.liveqa_url, "serve(liveqa=True)"
        return self.running.liveqa_url.rstrip("/")

    @property
    def answers(self) -> AnswerService:
        return self.running.service

    @property
    def metrics(self) -> Metrics:
        return self.running.metrics

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Await `work` in the service's loop; called from the test's thread."""
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result(PATIENCE)
        except TimeoutError:
            future.cancel()
            raise

    def request(self, method: str, path: str, *, base: str | None = None, **options: Any) -> Reply:
        """One request and its whole reply; `options` are aiohttp's (`json`, `data`, `headers`, `params`)."""

        async def call() -> Reply:
            async with self.client.request(
                method, f"{base or self.url}{path}", allow_redirects=False, **options
            ) as reply:
                return Reply(reply.status, reply.headers, await reply.read())

        return self.run(call())

    def get(self, path: str, **options: Any) -> Reply:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> Reply:
        return self.request("POST", path, **options)

    def until(self, holds: Callable[[], object], what: str = "it") -> None:
        """Wait until something holds."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, f"{what} did not come to be"
            time.sleep(GLANCE)


class Talk:
    """A client of the chat, in the service's loop."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.seq = 0
        """The last frame that was read."""

    async def say(self, kind: str, **fields: Any) -> None:
        await self.socket.send_str(orjson.dumps({"type": kind, **fields}).decode())

    async def hear(self) -> dict[str, Any]:
        """The next frame."""
        message = await self.socket.receive(timeout=PATIENCE)
        assert message.type is aiohttp.WSMsgType.TEXT, (message, self.socket.close_code)
        frame: dict[str, Any] = orjson.loads(message.data)
        self.seq = max(self.seq, frame["seq"])
        return frame

    async def until(self, *kinds: str, question_id: str | None = None) -> list[dict[str, Any]]:
        """The frames up to the first of these kinds, of a certain question."""
        heard = []
        while not heard or heard[-1]["type"] not in kinds or question_id not in (None, heard[-1]["id"]):
            heard.append(await self.hear())
        return heard

    async def ask(self, text: str, **fields: Any) -> list[dict[str, Any]]:
        """Ask, and hear all frames of the turn."""
        await self.say("ask", text=text, **fields)
        return await self.until("final", "error", question_id=fields.get("id"))

    async def closed(self) -> int | None:
        """The code that the service closes with; frames before are passed over."""
        while (await self.socket.receive(timeout=PATIENCE)).type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            pass
        return self.socket.close_code


class SlowBot(Bot):
    """Stages begin as late as the test says: `pauses["rank"] = 0.5` seconds, or an Event that the test sets.

    A pause ends at the question's deadline, and at once when it is cancelled, as long work in a real stage does.
    """

    pauses: dict[str, float | Event]
    begun: int
    """Questions that were begun, that ended (with whatever), and those of them that ended by a cancellation."""
    ended: int
    cancelled: int

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.pauses = {}
        self.begun = self.ended = self.cancelled = 0
        self._counting = Lock()

    def ask(
        self,
        question: str | Question,
        *,
        deadline: float | Deadline | None = None,
        listen: Listener = ignore_event,
        **options: Any,
    ) -> Answer:
        limit = deadline if isinstance(deadline, Deadline) else Deadline.after(deadline or self.config.answer.deadline)

        def slowly(outcome: Told) -> None:
            listen(outcome)
            if isinstance(outcome, StageBegun):
                self._pause(self.pauses.get(outcome.stage, 0.0), limit)

        self._count(begun=1)
        try:
            return super().ask(question, deadline=limit, listen=slowly, **options)
        finally:
            self._count(ended=1, cancelled=int(limit.cancelled is not None and limit.cancelled.is_set()))

    def _pause(self, pause: float | Event, limit: Deadline) -> None:
        end = time.monotonic() + (PATIENCE if isinstance(pause, Event) else pause)
        while limit.left() > 0 and time.monotonic() < end and not (isinstance(pause, Event) and pause.is_set()):
            time.sleep(GLANCE)
        limit.check_cancelled()

    def _count(self, **changes: int) -> None:
        with self._counting:
            for name, change in changes.items():
                setattr(self, name, getattr(self, name) + change)


@pytest.fixture
def logged(caplog) -> Iterator[io.StringIO]:
    """What the service logs, as JSON lines."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(AsJson())
    log = logging.getLogger("qa_bot")
    caplog.set_level(logging.DEBUG, "qa_bot")
    log.addHandler(handler)
    yield out
    log.removeHandler(handler)


@pytest.fixture(autouse=True)
def no_shipped_voices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Personas are those that a test trains into its home, for a large model would be opened by every service."""
    monkeypatch.setattr("qa_bot.answering.models.personas.SHIPPED", tmp_path / "no voices")


@pytest.fixture
def voiced_bot(home: Path, tiny_voices: Path) -> Iterator[SlowBot]:
    """A bot that speaks as `cook` and as `sailor`, from a few words and as fast as that."""
    for name in ("cook", "sailor"):
        shutil.copytree(tiny_voices / name, home / "personas" / name)
    style = {"style.base": str(tiny_voices / "base"), "style.candidates": 20, "style.length": 6, "style.warm": True}
    with SlowBot.open(home, flags=style) as opened:
        yield opened


@pytest.fixture
def bot(home: Path) -> Iterator[Bot]:
    with Bot.open(home) as opened:
        yield opened


@pytest.fixture
def slow_bot(home: Path) -> Iterator[SlowBot]:
    with SlowBot.open(home) as opened:
        yield opened


@pytest.fixture
def serve(request: pytest.FixtureRequest) -> Iterator[Callable[..., Service]]:
    """Starts services: `serve()`, `serve(slow_bot, token="secret", rate=60, workers=1, queue=0, liveqa=True)`.

    Settings are those of `[serve]`; `liveqa=True` opens the LiveQA port, `warm=False` leaves the service starting.
    Without a bot it is the fixture `bot`.
    """
    with ExitStack() as held:

        def start(bot: Bot | None = None, *, liveqa: bool = False, warm: bool = True, **settings: Any) -> Service:
            opened = bot or request.getfixturevalue("bot")
            beside = {"liveqa_port": free_port()} if liveqa else {}
            return held.enter_context(_thread(opened, {"port": 0, **beside, **settings}, warm=warm))

        yield start


@pytest.fixture
def talk() -> Callable[..., AbstractAsyncContextManager[Talk]]:
    """Connects a client of the chat: `async with talk(service) as client`; it has to send `hello`."""

    @asynccontextmanager
    async def connect(service: Service, **options: Any) -> AsyncIterator[Talk]:
        async with service.client.ws_connect("/ws", max_msg_size=0, **options) as socket:
            yield Talk(socket)

    return connect


@pytest.fixture
def service(serve: Callable[..., Service]) -> Service:
    """A service over a copy of the starter's home, with the default settings."""
    return serve()


def free_port() -> int:
    with sockets.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _thread(bot: Bot, settings: Mapping[str, Any], *, warm: bool) -> Iterator[Service]:
    """A service in a thread; what goes wrong there, now or when it stops, goes wrong here."""
    ready, stop, failed = Event(), asyncio.Event(), list[BaseException]()
    held: list[Service] = []

    async def live() -> None:
        async with running(bot, replace(bot.config.serve, **settings)) as service:
            if warm:
                await service.service.warm_up()
            held.append(Service(bot, asyncio.get_running_loop(), service))
            connector = aiohttp.TCPConnector(limit=0)
            timeout = aiohttp.ClientTimeout(total=PATIENCE)
            async with aiohttp.ClientSession(service.url, connector=connector, timeout=timeout) as held[0].client:
                ready.set()
                await stop.wait()

    def work() -> None:
        try:
            asyncio.run(live())
        except BaseException as error:
            failed.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=work, name="service")
    thread.start()
    ready.wait(PATIENCE)
    try:
        if not failed:
            yield held[0]
    finally:
        if held:
            held[0].loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the service does not stop"
        if failed:
            raise failed[0]


# --- the page in a browser ------------------------------------------------------------------------------------------

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
FLAGS += ("--disable-component-update", "--disable-sync")
SEEN = 20_000
"""Milliseconds after which something that should be seen has failed to come."""
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; its event loop runs in the thread of the tests, so that none of another module may find it there."""
    matches = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if matches is None:
        pytest.skip("Chromium is missing: run `apt-get install chromium`, or install Google Chrome")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=SEEN)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=matches, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens the page of a service: `visit(url, viewport={…}, color_scheme="dark")`; nothing may go wrong in it.

    Requests are intercepted by `route`, which is called before the page loads: a page that is already open may send
    its next request past an interception that is set up later.
    """
    opened: list[tuple[Page, list[str]]] = []

    def go(url: str, *, route: Callable[[Page], None] = lambda _: None, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, "locale": "en-GB", **options})
        context.add_init_script(WATCH)
        page, wrong = context.new_page(), list[str]()
        page.set_default_timeout(SEEN)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("console", lambda line: wrong.append(line.text) if "Content Security" in line.text else None)
        route(page)
        page.goto(url)
        opened.append((page, wrong))
        return page

    yield go
    for page, wrong in opened:
        assert page.evaluate("window.violations") == []
        page.context.close()
        assert wrong == []
