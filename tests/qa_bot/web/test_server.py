"""The whole process: how it begins, how it ends, and what it does when something else changes the home."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event

import aiohttp
import pytest

from qa_bot import Bot
from qa_bot.documents.sync import add
from qa_bot.home.config import Config
from qa_bot.home.expiry import DAY
from qa_bot.home.generations import Generations
from qa_bot.home.sections import ConversationsSection
from qa_bot.web.chat.socket import CHAT
from qa_bot.web.server import running

CATS = {"question": "Why do cats sleep all day?"}
ZORGON = {"_id": "zorgon", "title": "Where do zorgons live?", "text": "Zorgons live under the purple moon of Quix."}
SLOW = """
import sys, threading, time
from qa_bot import Bot
from qa_bot.web.server import serve

class Slow(Bot):
    def ask(self, *given, **options):
        print("asked", flush=True)
        time.sleep(float(sys.argv[2]))
        return super().ask(*given, **options)

with Slow.open(sys.argv[1]) as bot:
    serve(bot, bot.config.serve)
"""


class Process:
    """A server in a separate process; `url` once it listens."""

    def __init__(self, *command: object, **environment: str) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, *map(str, command)],
            env={**os.environ, "QA_BOT_SERVE__PORT": "0", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.url, self.before = "", list[str]()

    def ready(self) -> Process:
        assert self.popen.stderr
        for line in self.popen.stderr:
            if matches := re.match(r"qa-bot listens on (http://\S+/)(?: \(LiveQA on (http://\S+/)\))?$", line):
                self.url = matches[1]
                return self
            self.before.append(line)
        raise AssertionError(f"it does not listen: {self.before}")

    def ask(self) -> dict:
        return json.loads(fetched(self.url + "api/ask", CATS))

    def end(self, signum: int = signal.SIGTERM) -> tuple[int, list[dict]]:
        """Exit code, and the lines of its log."""
        self.popen.send_signal(signum)
        _, log = self.popen.communicate(timeout=30)
        return self.popen.returncode, [json.loads(line) for line in log.splitlines()]


@pytest.fixture
def process(home: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def start(*command: object, **environment: str) -> Process:
        started.append(Process(*(command or ("-m", "qa_bot", "--home", home, "serve")), **environment))
        return started[-1]

    yield start
    for item in started:
        item.popen.kill()
        item.popen.communicate()


def fetched(url: str, posted: object = None) -> bytes:
    data = None if posted is None else json.dumps(posted).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as reply:
        return reply.read()


def until(holds: Callable[[], object], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("signum", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_it_listens_answers_and_ends_well(process, signum) -> None:
    server = process().ready()
    assert server.before == [], "one line says where"
    assert fetched(server.url + "readyz") == b'{"ready": true}'
    answer = server.ask()
    assert answer["sources"][0]["document"] == "animals-cats-sleep"
    code, log = server.end(signum)
    assert code == 0
    assert [line["event"] for line in log] == ["answer", "request", "stopping"]
    assert CATS["question"] not in str(log)


@pytest.mark.slow
def test_flags_say_where(home, process) -> None:
    with socket.socket() as probe, socket.socket() as other:
        probe.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        port, liveqa = probe.getsockname()[1], other.getsockname()[1]
    flags = ("serve", "--host", "localhost", "--port", port, "--liveqa-port", liveqa)
    server = process("-m", "qa_bot", "--home", home, *flags).ready()
    assert server.url == f"http://localhost:{port}/"
    assert b"<answer" in fetched(f"http://localhost:{liveqa}/?title=Why+do+cats+sleep")
    assert server.end()[0] == 0


def test_sent_answers_are_recorded_before_a_kill(home, process) -> None:
    server = process().ready()
    answers = [server.ask() for _ in range(3)]
    server.popen.kill()
    server.popen.wait()
    with Bot.open(home) as bot:
        for answer in answers:
            assert bot.store.turn(answer["id"]).answer["answer"] == answer["answer"]


def test_documents_added_by_another_process_are_found_at_once(home, process, write_lines, qa_bot_process) -> None:
    server = process().ready()
    expected = {"query": "zorgons purple moon", "engine": "keyword"}

    def matches() -> bool:
        results = json.loads(fetched(server.url + "api/search", expected))["results"]
        return any(item["document"] == "zorgon" for item in results)

    assert not matches()
    assert qa_bot_process("add", write_lines("z.jsonl", ZORGON)).code == 0
    assert matches(), "by the very next question"
    assert server.end()[0] == 0


def test_stopping_finishes_running_questions_and_rejects_new_ones(slow_bot) -> None:
    go = slow_bot.pauses["retrieve"] = Event()

    async def life() -> None:
        async with AsyncExitStack() as outer, AsyncExitStack() as inner:
            service = await inner.enter_async_context(running(slow_bot, replace(slow_bot.config.serve, port=0)))
            client = await outer.enter_async_context(aiohttp.ClientSession(service.url))
            await service.service.warm_up()
            request = asyncio.create_task(client.post("/api/ask", json=CATS))
            while not slow_bot.begun:
                await asyncio.sleep(0.005)
            closing = asyncio.create_task(inner.aclose())
            while not service.service.stopping:
                await asyncio.sleep(0.005)
            async with client.get("/readyz") as reply:
                assert (reply.status, (await reply.json())["reason"]) == (503, "stopping")
            async with client.post("/api/ask", json=CATS) as reply:
                assert (reply.status, reply.headers["Retry-After"]) == (503, "5")
            assert not closing.done()
            go.set()
            async with await request as reply:
                assert reply.status == 200
                assert (await reply.json())["sources"]
            await closing
            with pytest.raises(aiohttp.ClientConnectorError):
                await client.get("/livez")

    asyncio.run(asyncio.wait_for(life(), 20))


def test_stopping_does_not_wait_longer_than_the_deadline(home, slow_bot, monkeypatch) -> None:
    """An endless question is cancelled, and its client sees a closed connection."""
    monkeypatch.setattr("qa_bot.web.server.GRACE", 0.1)
    slow_bot.config = replace(slow_bot.config, answer=replace(slow_bot.config.answer, deadline=0.1))
    slow_bot.pauses["retrieve"] = 20.0

    async def life() -> None:
        async with AsyncExitStack() as outer, AsyncExitStack() as inner:
            service = await inner.enter_async_context(running(slow_bot, replace(slow_bot.config.serve, port=0)))
            client = await outer.enter_async_context(aiohttp.ClientSession(service.url))
            request = asyncio.create_task(client.post("/api/ask", json={**CATS, "deadline": 20}))
            while not slow_bot.begun:
                await asyncio.sleep(0.005)
            await inner.aclose()
            with pytest.raises(aiohttp.ClientError):
                await request

    asyncio.run(asyncio.wait_for(life(), 15))
    assert slow_bot.cancelled == 1


@pytest.mark.slow
def test_a_signal_waits_for_the_answer_and_a_second_one_does_not(home, process) -> None:
    for second, seconds in ((False, 0.5), (True, 30)):
        server = process("-c", SLOW, home, seconds).ready()
        port = int(server.url.rsplit(":", 1)[1].strip("/"))
        body = json.dumps(CATS).encode()
        with socket.create_connection(("127.0.0.1", port)) as client:
            head = f"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            assert server.popen.stdout
            assert server.popen.stdout.readline() == "asked\n"
            server.popen.send_signal(signal.SIGTERM)
            until(lambda url=server.url: refuses(url + "readyz"))
            if second:
                server.popen.send_signal(signal.SIGTERM)
                assert server.popen.wait(20) == -signal.SIGTERM, "and not 30 seconds later"
            else:
                assert client.recv(100).startswith(b"HTTP/1.1 200 ")
                assert server.popen.wait(20) == 0


def refuses(url: str) -> bool:
    try:
        fetched(url)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code == 503
    except OSError:
        return True
    return False


def test_turns_reach_the_store_while_serving(bot, serve, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.web.server.JOURNAL_EVERY", 0.02)
    service = serve(bot)
    assert service.post("/api/ask", json=CATS).status == 200
    journal = bot.home.path / "turns.jsonl"
    service.until(lambda: not journal.exists(), "an empty journal")
    assert bot.store.counts().turns == 1


def test_old_conversations_go_while_serving_and_are_forgotten(bot, serve, talk, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.web.server.EXPIRE_EVERY", 0.02)
    service = serve(bot)

    async def listed() -> list[str]:
        async with service.client.get("/api/conversations") as reply:
            return [item["id"] for item in (await reply.json())["conversations"]]

    async def converse() -> list[str]:
        async with talk(service) as client:
            await client.say("hello", resume="c1")
            await client.hear()
            turns = [(await client.ask(CATS["question"], id="q1"))[-1]["turn"] for _ in range(2)]
            assert await listed() == ["c1"]
            bot.config = replace(bot.config, conversations=ConversationsSection(keep=0.001 / DAY))
            live = service.running.app[CHAT].conversations.find("c1")
            while live.has_answered("q1"):
                await asyncio.sleep(0.02)
            assert await listed() == []
            bot.config = replace(bot.config, conversations=ConversationsSection())
            return [*turns, (await client.ask(CATS["question"], id="q1"))[-1]["turn"]]

    first, same, anew = service.run(converse())
    assert first == same, "an answered question is answered from memory"
    assert anew != first
    assert [turn.id for turn in bot.store.turns("c1")] == [anew]
    assert len(bot.memory.recall("c1")) == 1


def test_a_client_that_returns_during_a_sweep_is_answered(slow_bot, serve, talk, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.web.server.EXPIRE_EVERY", 0.02)
    service = serve(slow_bot)

    async def converse() -> dict[str, object]:
        async with talk(service) as client:
            await client.say("hello", resume="c1")
            await client.hear()
            await client.ask(CATS["question"], id="q1")
            slow_bot.pauses["rank"] = go_on = Event()
            await client.say("ask", text=CATS["question"], id="q2")
            slow_bot.config = replace(slow_bot.config, conversations=ConversationsSection(keep=0.001 / DAY))
            while slow_bot.store.counts().turns:
                await asyncio.sleep(0.02)
            slow_bot.config = replace(slow_bot.config, conversations=ConversationsSection())
            go_on.set()
            return (await client.until("final", "error", question_id="q2"))[-1]

    result = service.run(converse())
    assert result["type"] == "final"
    service.until(lambda: slow_bot.store.has_turn(result["turn"]))


def test_a_failing_store_is_logged_once_and_harms_no_answer(bot, serve, monkeypatch, caplog) -> None:
    tries = []

    def fail(*_: object) -> None:
        tries.append(1)
        raise OSError("no disk")

    monkeypatch.setattr("qa_bot.web.server.JOURNAL_EVERY", 0.01)
    monkeypatch.setattr("qa_bot.bot.open_store", fail)
    service = serve(bot)
    assert service.post("/api/ask", json=CATS).status == 200
    service.until(lambda: len(tries) > 3)
    assert caplog.text.count("Turns stay in the journal") == 1


def test_an_index_renewed_in_this_process_is_answered_from(bot, serve, write_lines) -> None:
    service = serve(bot)
    add(bot.home, Config(), bot.encoder, [write_lines("z.jsonl", ZORGON)])
    matches = service.post("/api/search", json={"query": "zorgons"}).json["results"]
    assert matches[0]["document"] == "zorgon"


def test_an_idle_service_follows_a_change_and_frees_the_former_generation(bot, serve, write_lines, monkeypatch) -> None:
    """Otherwise files of former generations, also of deleted documents, stay until the next question."""
    monkeypatch.setattr("qa_bot.web.server.FOLLOW_EVERY", 0.02)
    service, generations = serve(bot), Generations(bot.home.index)
    assert service.post("/api/ask", json=CATS).status == 200
    add(bot.home, Config(), bot.encoder, [write_lines("z.jsonl", ZORGON)])
    assert generations.has_former()
    service.until(lambda: bool(generations.prune(keep=1)))


def test_it_serves_with_and_without_the_faster_loop(monkeypatch) -> None:
    from qa_bot.web import server

    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert server._loop_factory() is asyncio.new_event_loop
    monkeypatch.undo()
    uvloop = pytest.importorskip("uvloop", reason="the faster loop needs the extra 'fast'")
    assert server._loop_factory() is uvloop.new_event_loop


def test_a_service_shows_its_token_neither_in_ps_nor_in_its_log(process) -> None:
    """The token comes from the environment, which only the owner of the process may read."""
    server = process(QA_BOT_TOKEN="correct-horse-battery").ready()
    bodies, statuses = b"", []
    for token in ("correct-horse-battery", "correct-horse-battery-wrong"):
        request = urllib.request.Request(server.url + "metrics", headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                bodies, statuses = bodies + reply.read(), [*statuses, reply.status]
        except urllib.error.HTTPError as error:
            bodies, statuses = bodies + error.read(), [*statuses, error.code]
    assert statuses == [200, 401]
    assert b"correct-horse" not in bodies
    if (command := Path(f"/proc/{server.popen.pid}/cmdline")).exists():
        assert b"correct-horse" not in command.read_bytes()
    code, log = server.end()
    assert code == 0
    assert [line["status"] for line in log if line["event"] == "request"][-2:] == [200, 401]
    assert "correct-horse" not in json.dumps(log)
