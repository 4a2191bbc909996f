"""Fuzzing of a running service's WebSocket with random, mutated and oversized frames. Run by hand:

    python benchmarks/chat_fuzz.py --frames 100000

Clients connect to a service in a separate process, send frames as fast as it accepts them, and reconnect when they are
disconnected. Expected: no log line above a warning, memory that does not grow with the number of frames, and a service
that still answers and stops cleanly afterwards.
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
"""Id of the ping that a client waits for before it disconnects."""
WARM_UP = 0.2
"""Share of the frames after which memory is measured for the first time."""
MEGABYTE = 1024

TEXTS = ("Why do cats sleep all day?", "What is photosynthesis?", "\U0001f408\x00\u202e", "why " * 2_000, " ", "?")
IDS = ("a", "b", "c", "1", "q.1:x-y_z", "no id", "", "x" * 65, None, 7)
VALUES: tuple[object, ...] = (
    None,
    True,
    -1,
    0,
    1e308,
    2**70,
    "",
    "\x00",
    "up",
    [],
    {},
    [[]],
    {"type": "ask"},
    "x" * 30_000,
)
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
class Tally:
    """Counts over all clients."""

    sent: int = 0
    connections: int = 0
    replies: Counter[str] = field(default_factory=Counter)
    closed: Counter[str] = field(default_factory=Counter)
    memory: list[float] = field(default_factory=list)
    """MB, measured at intervals after the warm-up."""


class Frames:
    """Random frames, determined by the seed."""

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
        frame: bytes = self._rng.choices(makers, weights)[0]()
        return frame

    def chance(self, share: float) -> bool:
        return self._rng.random() < share

    def plausible(self) -> bytes:
        """A valid or nearly valid frame."""
        rng = self._rng
        frame_id = rng.choice(IDS)
        frame: dict[str, Any] = rng.choice(
            (
                {"type": "hello"},
                {"type": "hello", "resume": rng.choice(IDS), "seq": rng.randrange(9)},
                {"type": "ask", "id": frame_id, "text": rng.choice(TEXTS), "deadline": 0.2},
                {"type": "cancel", "id": frame_id},
                {"type": "feedback", "id": frame_id, "vote": rng.choice(("up", "down")), "comment": rng.choice(TEXTS)},
                {"type": "choose", "id": frame_id, "choice": rng.choice((0, "x"))},
                {"type": "raw", "id": frame_id},
                {"type": "ping", "id": frame_id},
                {"type": "ping"},
            )
        )
        return json.dumps(frame, ensure_ascii=rng.random() < 0.5).encode()

    def wrong(self) -> bytes:
        """A known type with random fields and values."""
        rng = self._rng
        names = rng.sample(FIELDS, rng.randrange(5))
        kind = rng.choice(("hello", "ask", "cancel", "feedback", "choose", "raw", "ping", "shout", 7, None))
        return json.dumps({"type": kind, **{name: rng.choice(VALUES) for name in names}}).encode()

    def mutated(self) -> bytes:
        """A plausible frame with some bytes changed, removed or doubled."""
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
        """Bytes that are not a valid WebSocket frame: reserved bits, unknown opcodes, no mask, wrong lengths."""
        head = bytes([self._rng.randrange(256), self._rng.randrange(256)])
        return head + self._rng.randbytes(self._rng.randrange(40))


async def fuzz(url: str, frames: int, clients: int, seed: int, memory: Callable[[], float]) -> Tally:
    """Send `frames` frames from `clients` concurrent clients."""
    tally = Tally()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        makers = [Frames(seed * clients + i) for i in range(clients)]
        work = [asyncio.create_task(_client(session, url, maker, frames, tally)) for maker in makers]
        step, due = max(1, frames // 20), frames * WARM_UP
        while not all(task.done() for task in work):
            if tally.sent >= due:
                tally.memory.append(memory())
                due += step
            await asyncio.sleep(0.02)
        await asyncio.gather(*work)
    tally.memory.append(memory())
    return tally


async def _client(session: aiohttp.ClientSession, url: str, frames: Frames, limit: int, tally: Tally) -> None:
    while tally.sent < limit:
        tally.connections += 1
        async with session.ws_connect(f"{url}ws", max_msg_size=0, timeout=_PATIENT) as socket:
            done = asyncio.Event()
            reading = asyncio.create_task(_read(socket, tally, done))
            with suppress(ConnectionError):
                await _send(socket, frames, limit, tally)
            if frames.chance(0.9):
                with suppress(ConnectionError, TimeoutError):
                    await socket.send_json({"type": "ping", "id": LAST})
                    await asyncio.wait_for(done.wait(), PATIENCE)  # all earlier frames are handled
                await socket.close()
            elif (transport := socket._writer.transport) is not None:  # without a closing handshake
                transport.abort()
            await reading


async def _send(socket: aiohttp.ClientWebSocketResponse, frames: Frames, limit: int, tally: Tally) -> None:
    for _ in range(FRAMES_A_CONNECTION):
        if socket.closed or tally.sent >= limit:
            return
        tally.sent += 1
        if frames.chance(0.002):
            socket._writer.transport.write(frames.unframed())
        elif frames.chance(0.002):
            await socket.send_frame(frames.oversized(), aiohttp.WSMsgType.TEXT)
        else:
            kind = aiohttp.WSMsgType.BINARY if frames.chance(0.05) else aiohttp.WSMsgType.TEXT
            await socket.send_frame(frames.next(), kind)
        if frames.chance(0.2):  # so that replies are read
            await asyncio.sleep(0)


async def _read(socket: aiohttp.ClientWebSocketResponse, tally: Tally, done: asyncio.Event) -> None:
    with suppress(ConnectionError):
        async for message in socket:
            if message.type is aiohttp.WSMsgType.TEXT:
                frame = json.loads(message.data)
                tally.replies[frame.get("code") or frame["type"]] += 1
                if frame["id"] == LAST:
                    done.set()
    done.set()
    tally.closed[str(socket.close_code)] += 1


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
    options = _arguments()
    with _home(options.home) as home, (home / "serve.log").open("w+", encoding="utf-8") as log:
        process, url = _serving(home, log.name, log.fileno())
        try:
            began = time.monotonic()
            work = fuzz(url, options.frames, options.clients, options.seed, lambda: _rss_mb(process.pid))
            tally = asyncio.run(work)
            seconds = time.monotonic() - began
            alive = process.poll() is None and asyncio.run(answers(url))
        finally:
            process.terminate()
            code = process.wait(PATIENCE)
        lines = Path(log.name).read_text("utf-8").splitlines()
    bad = [line for line in lines if '"level":"error"' in line or '"level":"critical"' in line or "Traceback" in line]
    report = {
        "frames": tally.sent,
        "seconds": round(seconds, 1),
        "connections": tally.connections,
        "alive": alive,
        "exit": code,
        "bad_lines": bad[:5],
        "memory_mb": [round(megabytes, 1) for megabytes in tally.memory],
        "heard": dict(tally.replies.most_common()),
        "closed": dict(tally.closed.most_common()),
    }
    print(json.dumps(report, indent=None if options.json else 2))  # noqa: T201 (a tool run by hand)
    raise SystemExit(0 if alive and code == 0 and not bad else 1)


@contextmanager
def _home(source: Path | None) -> Iterator[Path]:
    """A copy of a home, or a new home with the starter collection."""
    with tempfile.TemporaryDirectory(prefix="qa-bot-fuzz-") as folder:
        home = Path(folder) / "home"
        if source is not None:
            shutil.copytree(source, home)
        else:
            Bot.open(home).close()
        yield home


def _serving(home: Path, log: str, descriptor: int) -> tuple[subprocess.Popen[bytes], str]:
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "serve", "--port", "0"]
    process = subprocess.Popen(command, stderr=descriptor, env={**os.environ, "QA_BOT_SERVE__TOKEN": ""})
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        if match := re.search(r"^qa-bot listens on (\S+/)", Path(log).read_text("utf-8"), re.MULTILINE):
            return process, match[1]
        time.sleep(0.05)
    process.kill()
    raise SystemExit(f"Expected the service to listen, but got: {Path(log).read_text('utf-8')[-2000:]}")


def _rss_mb(pid: int) -> float:
    match = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text("ascii"))
    return int(match[1]) / MEGABYTE if match else float("nan")


_PATIENT = aiohttp.ClientWSTimeout(ws_close=5.0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--home", type=Path, help="home to copy; by default a new one with the starter collection")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
