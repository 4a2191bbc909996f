"""What random, mutated and oversized frames do to a running service. Run by hand:

    python benchmarks/chat_fuzz.py --frames 100000

Clients connect to a service in a process of its own, send nonsense as fast as it is taken, and come back whenever they
are sent away. Wanted: nothing in the log above a warning, memory that does not grow with the frames, and a service that
afterwards answers, and stops, as if nothing had been.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from qa_bot.bot import Bot
from qa_bot.web.chat.socket import FRAME

PATIENCE = 60.0
FRAMES_A_CONNECTION = 300
LAST = "the-last"
"""Id of the ping that a client waits for before it goes."""
WARM_UP = 0.2
"""Share of the frames after which memory is measured for the first time."""
MEGABYTE = 1024

TEXTS = ("Why do cats sleep all day?", "What is photosynthesis?", "\U0001f408\x00\u202e", "why " * 2_000, " ", "?")
IDS = ("a", "b", "c", "1", "q.1:x-y_z", "no id", "", "x" * 65, None, 7)
VALUES = (None, True, -1, 0, 1e308, 2**70, "", "\x00", "up", [], {}, [[]], {"type": "ask"}, "x" * 30_000)
FIELDS = (
    "id",
    "conversation",
    "seq",
    "token",
    "resume",
    "text",
    "persona",
    "hint",
    "deadline",
    "trace",
    "vote",
    "choice",
)


@dataclass
class Found:
    """What happened to all clients together."""

    sent: int = 0
    connections: int = 0
    heard: Counter[str] = field(default_factory=Counter)
    closed: Counter[str] = field(default_factory=Counter)
    memory: list[float] = field(default_factory=list)
    """MB, after the warm-up and then now and again."""


class Frames:
    """Makes frames; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._kinds: tuple[tuple[Callable[[], bytes], float], ...] = (
            (self.plausible, 6),
            (self.wrong, 6),
            (self.mutated, 8),
            (self.noise, 2),
            (self.deep, 0.5),
        )

    def next(self) -> bytes:
        makers, weights = zip(*self._kinds, strict=True)
        made: bytes = self._rng.choices(makers, weights)[0]()
        return made

    def chance(self, share: float) -> bool:
        return self._rng.random() < share

    def plausible(self) -> bytes:
        """A frame that fits, or nearly."""
        rng = self._rng
        about = rng.choice(IDS)
        frame: dict[str, Any] = rng.choice(
            (
                {"type": "hello"},
                {"type": "hello", "resume": rng.choice(IDS), "seq": rng.randrange(9)},
                {"type": "ask", "id": about, "text": rng.choice(TEXTS), "deadline": 0.2},
                {"type": "cancel", "id": about},
                {"type": "feedback", "id": about, "vote": rng.choice(("up", "down")), "comment": rng.choice(TEXTS)},
                {"type": "choose", "id": about, "choice": rng.choice((0, "x"))},
                {"type": "raw", "id": about},
                {"type": "ping", "id": about},
                {"type": "ping"},
            )
        )
        return json.dumps(frame, ensure_ascii=rng.random() < 0.5).encode()

    def wrong(self) -> bytes:
        """A known type with any values."""
        rng = self._rng
        names = rng.sample(FIELDS, rng.randrange(5))
        kind = rng.choice(("hello", "ask", "cancel", "feedback", "choose", "raw", "ping", "shout", 7, None))
        return json.dumps({"type": kind, **{name: rng.choice(VALUES) for name in names}}).encode()

    def mutated(self) -> bytes:
        """A plausible frame with some of its bytes changed, cut out, or doubled."""
        data = bytearray(self.plausible())
        for _ in range(self._rng.randrange(1, 5)):
            at = self._rng.randrange(len(data) + 1)
            length = self._rng.randrange(1, 8)
            data[at : at + length] = self._rng.choice((b"", data[at : at + length] * 2, self._rng.randbytes(length)))
        return bytes(data)

    def noise(self) -> bytes:
        return self._rng.randbytes(self._rng.randrange(200))

    def deep(self) -> bytes:
        return self._rng.choice((b"[", b'{"type":', b'{"a":[')) * self._rng.randrange(5_000)

    def oversized(self) -> bytes:
        return b'{"type":"ask","text":"' + b"x" * self._rng.choice((FRAME - 10, FRAME + 1, 4 * FRAME)) + b'"}'

    def unframed(self) -> bytes:
        """Bytes on the wire that are no WebSocket frames: reserved bits, unknown kinds, no mask, lengths that lie."""
        head = bytes([self._rng.randrange(256), self._rng.randrange(256)])
        return head + self._rng.randbytes(self._rng.randrange(40))


async def fuzz(url: str, frames: int, clients: int, seed: int, memory: Callable[[], float]) -> Found:
    """Send so many frames by so many clients at once."""
    found = Found()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        makers = [Frames(seed * clients + i) for i in range(clients)]
        work = [asyncio.create_task(_client(session, url, each, frames, found)) for each in makers]
        step, wanted = max(1, frames // 20), frames * WARM_UP
        while not all(each.done() for each in work):
            if found.sent >= wanted:
                found.memory.append(memory())
                wanted += step
            await asyncio.sleep(0.02)
        await asyncio.gather(*work)
    found.memory.append(memory())
    return found


async def _client(session: aiohttp.ClientSession, url: str, frames: Frames, limit: int, found: Found) -> None:
    while found.sent < limit:
        found.connections += 1
        async with session.ws_connect(f"{url}ws", max_msg_size=0, timeout=_PATIENT) as socket:
            done = asyncio.Event()
            reading = asyncio.create_task(_read(socket, found, done))
            with suppress(ConnectionError):
                await _shout(socket, frames, limit, found)
            if frames.chance(0.9):
                with suppress(ConnectionError, TimeoutError):
                    await socket.send_json({"type": "ping", "id": LAST})
                    await asyncio.wait_for(done.wait(), PATIENCE)  # everything before it was handled
                await socket.close()
            elif (transport := socket._writer.transport) is not None:  # without a goodbye
                transport.abort()
            await reading


async def _shout(socket: aiohttp.ClientWebSocketResponse, frames: Frames, limit: int, found: Found) -> None:
    for _ in range(FRAMES_A_CONNECTION):
        if socket.closed or found.sent >= limit:
            return
        found.sent += 1
        if frames.chance(0.002):
            socket._writer.transport.write(frames.unframed())
        elif frames.chance(0.002):
            await socket.send_frame(frames.oversized(), aiohttp.WSMsgType.TEXT)
        else:
            kind = aiohttp.WSMsgType.BINARY if frames.chance(0.05) else aiohttp.WSMsgType.TEXT
            await socket.send_frame(frames.next(), kind)
        if frames.chance(0.2):  # so that replies are read meanwhile
            await asyncio.sleep(0)


async def _read(socket: aiohttp.ClientWebSocketResponse, found: Found, done: asyncio.Event) -> None:
    with suppress(ConnectionError):
        async for message in socket:
            if message.type is aiohttp.WSMsgType.TEXT:
                frame = json.loads(message.data)
                found.heard[frame.get("code") or frame["type"]] += 1
                if frame["id"] == LAST:
                    done.set()
    done.set()
    found.closed[str(socket.close_code)] += 1


async def answers(url: str) -> bool:
    """Whether the service still answers a question."""
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{url}ws", max_msg_size=0) as socket:
        await socket.send_json({"type": "ask", "text": TEXTS[0]})
        async for message in socket:
            frame = json.loads(message.data)
            if frame["type"] in ("final", "error"):
                return bool(frame.get("answered"))
    return False


def main() -> None:
    given = _arguments()
    with _home(given.home) as home, (home / "serve.log").open("w+", encoding="utf-8") as log:
        process, url = _serving(home, log.name, log.fileno())
        try:
            began = time.monotonic()
            work = fuzz(url, given.frames, given.clients, given.seed, lambda: _rss_mb(process.pid))
            found = asyncio.run(work)
            seconds = time.monotonic() - began
            alive = process.poll() is None and asyncio.run(answers(url))
        finally:
            process.terminate()
            code = process.wait(PATIENCE)
        lines = Path(log.name).read_text("utf-8").splitlines()
    bad = [line for line in lines if '"level":"error"' in line or '"level":"critical"' in line or "Traceback" in line]
    told = {
        "frames": found.sent,
        "seconds": round(seconds, 1),
        "connections": found.connections,
        "alive": alive,
        "exit": code,
        "bad_lines": bad[:5],
        "memory_mb": [round(each, 1) for each in found.memory],
        "heard": dict(found.heard.most_common()),
        "closed": dict(found.closed.most_common()),
    }
    print(json.dumps(told, indent=None if given.json else 2))  # noqa: T201 (a tool run by hand)
    raise SystemExit(0 if alive and code == 0 and not bad else 1)


@contextmanager
def _home(given: Path | None) -> Iterator[Path]:
    """A copy of the given home, or one with the starter collection."""
    with tempfile.TemporaryDirectory(prefix="qa-bot-fuzz-") as folder:
        home = Path(folder) / "home"
        if given is not None:
            shutil.copytree(given, home)
        else:
            Bot.open(home).close()
        yield home


def _serving(home: Path, log: str, descriptor: int) -> tuple[subprocess.Popen[bytes], str]:
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "serve", "--port", "0"]
    process = subprocess.Popen(command, stderr=descriptor, env={**os.environ, "QA_BOT_SERVE__TOKEN": ""})
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(r"^qa-bot listens on (\S+/)", Path(log).read_text("utf-8"), re.MULTILINE):
            return process, found[1]
        time.sleep(0.05)
    process.kill()
    raise SystemExit(f"Expected the service to listen, but got: {Path(log).read_text('utf-8')[-2000:]}")


def _rss_mb(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text("ascii"))
    return int(found[1]) / MEGABYTE if found else float("nan")


_PATIENT = aiohttp.ClientWSTimeout(ws_close=5.0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--home", type=Path, help="a home, which is copied; by default one with the starter collection")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
