"""Conversations after a kill of their service, and a service that receives malformed frames."""

import asyncio
import json
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import orjson
import pytest

from qa_bot.bot import Bot

CONVERSATIONS = 50
ENOUGH = 60
"""Answers that clients have seen when the service is killed."""
QUESTIONS = ("Why do cats sleep all day?", "What is photosynthesis?", "Why is the sky blue?")
FUZZ = Path(__file__).parents[4] / "benchmarks" / "chat_fuzz.py"
PATIENCE = 60.0


@dataclass
class Asker:
    """One conversation: asks without a pause, and keeps what it has seen."""

    name: str
    seq: int = 0
    conversation: str | None = None
    finals: dict = field(default_factory=dict)
    """By the id of the question."""
    unanswered: str | None = None

    async def ask_on(self, session, url):
        """Ask until the connection is lost."""
        async with session.ws_connect(f"{url}ws") as socket:
            await socket.send_json({"type": "hello"})
            async for message in socket:
                self._take(orjson.loads(message.data))
                if self.unanswered is None:
                    self.unanswered = f"{self.name}-{len(self.finals)}"
                    text = QUESTIONS[len(self.finals) % len(QUESTIONS)]
                    await socket.send_json({"type": "ask", "id": self.unanswered, "text": text})

    async def come_back(self, session, url):
        """Resume, and ask again what was not answered; whether the conversation is the one it was."""
        async with session.ws_connect(f"{url}ws") as socket:
            await socket.send_json({"type": "hello", "resume": self.conversation, "seq": self.seq})
            ready = orjson.loads((await socket.receive()).data)
            await socket.send_json({"type": "ask", "id": self.unanswered, "text": QUESTIONS[0]})
            while self.unanswered is not None:
                frame = orjson.loads((await socket.receive()).data)
                assert frame["seq"] > self.seq
                self._take(frame)
        return ready["conversation"] == self.conversation

    def _take(self, frame):
        assert frame["type"] != "error", frame
        self.conversation, self.seq = frame["conversation"], frame["seq"]
        if frame["type"] == "final":
            self.finals[frame["id"]] = frame
            self.unanswered = None


@contextmanager
def served(home):
    """The service in a separate process, which is killed at the end."""
    log = home / "serve.log"
    with log.open("w") as out:
        command = [sys.executable, "-m", "qa_bot", "--home", str(home), "serve", "--port", "0"]
        process = subprocess.Popen(command, stderr=out)
    try:
        end = time.monotonic() + PATIENCE
        while not (matches := re.search(r"^qa-bot listens on (\S+/)", log.read_text(), re.MULTILINE)):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        yield process, matches[1]
    finally:
        process.kill()
        process.wait(PATIENCE)


@pytest.mark.slow
def test_killed_in_the_middle_of_fifty_conversations(home):
    askers = [Asker(f"asker-{i}") for i in range(CONVERSATIONS)]

    async def until_killed(process, url):
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            work = asyncio.gather(*(asker.ask_on(session, url) for asker in askers), return_exceptions=True)
            while sum(len(asker.finals) for asker in askers) < ENOUGH or not all(item.conversation for item in askers):
                await asyncio.sleep(0.01)
            process.kill()
            for ended in await work:
                assert ended is None or isinstance(ended, aiohttp.ClientError | ConnectionError), ended

    async def all_come_back(url):
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            return await asyncio.gather(*(asker.come_back(session, url) for asker in askers))

    with served(home) as (process, url):
        asyncio.run(asyncio.wait_for(until_killed(process, url), PATIENCE))
    seen_before = {about: final["turn"] for asker in askers for about, final in asker.finals.items()}
    lost = [asker.unanswered for asker in askers]
    assert all(lost)
    with served(home) as (_, url):
        assert all(asyncio.run(asyncio.wait_for(all_come_back(url), PATIENCE)))

    with Bot.open(home) as bot:
        saved = {asker.name: bot.store.turns(asker.conversation) for asker in askers}
    for asker in askers:
        turns = {turn.answer["ask"]: turn for turn in saved[asker.name]}
        assert len(turns) == len(saved[asker.name])  # nothing was asked twice
        assert set(turns) == set(asker.finals)
        for about, final in asker.finals.items():
            assert (turns[about].id, turns[about].answer["answer"]) == (final["turn"], final["answer"])
            assert seen_before.get(about, final["turn"]) == final["turn"]


@pytest.mark.slow
def test_nonsense_leaves_no_trace(home):
    command = [sys.executable, str(FUZZ), "--home", str(home), "--frames", "400", "--clients", "6", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    result = json.loads(done.stdout)
    assert done.returncode == 0, result
    assert (result["alive"], result["exit"], result["bad_lines"]) == (True, 0, [])
    assert result["frames"] >= 400
    assert {"invalid", "bad_request", "pong", "ready"} <= set(result["heard"])
