"""Load test of a running service. Run by hand, on an otherwise idle machine:

    python benchmarks/serve_load.py --home HOME --questions 2000 --clients 8 --sockets 500
    python benchmarks/serve_load.py --home HOME --questions 2000 --rate 40 80 120 160
    python benchmarks/serve_load.py --home HOME --questions 20000 --clients 4        # is memory flat?

`qa-bot serve` runs in a separate process over a copy of the home; this process runs all clients, with a WebSocket each
(with `--over ask`: `POST /api/ask`). Without `--rate`, a client sends its next question when it receives an answer
(closed loop). With `--rate`, questions arrive at random times, at this mean rate a second, whether or not earlier
questions are answered (open loop); their latency counts from the time at which they were due. Questions are titles of
the home's documents.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import numpy as np

from qa_bot.bot import Bot
from qa_lab.evaluate.known_item import drawn

MEGABYTE = 1e6
TICKS = os.sysconf("SC_CLK_TCK")
CHECKS = 10
"""Measurements of the server's memory during a run."""
WARM_UP = 200
"""Questions that are not measured."""
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds to the first frame and to the answer of one question; `error` is the code of an error reply."""

    first: float
    seconds: float
    error: str = ""


class Memory(NamedTuple):
    """Memory of a process in MB; the difference is file-backed pages, which the kernel can reclaim."""

    anonymous: float
    whole: float


@dataclass
class Server:
    """`qa-bot serve` in a separate process."""

    process: subprocess.Popen[str]
    url: str
    log: Path
    memory: list[Memory] = field(default_factory=list)

    def measure(self) -> Memory:
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        anonymous, whole = (
            round(int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) * 1024 / MEGABYTE, 1)  # type: ignore[index]
            for name in ("RssAnon", "VmRSS")
        )
        return Memory(anonymous, whole)

    def cpu_s(self) -> float:
        """Processor seconds of all threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


class Client:
    """One conversation over a WebSocket."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket

    @classmethod
    @asynccontextmanager
    async def connected(cls, session: aiohttp.ClientSession) -> AsyncIterator[Client]:
        async with session.ws_connect("/ws", max_msg_size=0, compress=0) as socket:
            await socket.send_json({"type": "hello"})
            assert (await socket.receive_json())["type"] == "ready"
            yield cls(socket)

    async def rest(self) -> None:
        """Answer the server's pings until the connection closes."""
        while (await self._socket.receive()).type is aiohttp.WSMsgType.TEXT:
            pass

    async def ask(self, text: str, due: float) -> Latency:
        await self._socket.send_json({"type": "ask", "text": text})
        first = 0.0
        while True:
            frame = json.loads((await self._socket.receive()).data)
            first = first or time.perf_counter() - due
            if frame["type"] in ("final", "error"):
                return Latency(first, time.perf_counter() - due, frame.get("code", ""))


class JsonClient:
    """Questions over `POST /api/ask`, with a reply in one piece."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    @classmethod
    @asynccontextmanager
    async def connected(cls, session: aiohttp.ClientSession) -> AsyncIterator[JsonClient]:
        yield cls(session)

    async def ask(self, text: str, due: float) -> Latency:
        async with self._session.post("/api/ask", json={"question": text}) as reply:
            payload = await reply.json()
        seconds = time.perf_counter() - due
        return Latency(seconds, seconds, payload.get("error", {}).get("code", ""))


CLIENTS: dict[str, type[Client] | type[JsonClient]] = {"ws": Client, "ask": JsonClient}


def main() -> None:
    options = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # stops the server, too
    with _copied(options.home) as home, _serving(home, options.workers, options.queue) as server:
        questions = _questions(home, options.questions + WARM_UP, options.seed)
        for rate in options.rate or [None]:
            figures = asyncio.run(_measure(server, questions, options, rate))
            print(json.dumps(figures, indent=None if options.json else 2), flush=True)  # noqa: T201 (a tool run by hand)


async def _measure(
    server: Server, questions: Sequence[str], options: argparse.Namespace, rate: float | None
) -> dict[str, Any]:
    connector, timeout = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=PATIENCE)
    async with (
        aiohttp.ClientSession(server.url, connector=connector, timeout=timeout) as session,
        AsyncExitStack() as stack,
    ):
        idle_sockets = [await stack.enter_async_context(Client.connected(session)) for _ in range(options.sockets)]
        resting = [asyncio.create_task(socket.rest()) for socket in idle_sockets]
        kind = CLIENTS[options.over]
        count = options.clients if rate is None else max(options.clients, 64)
        clients: list[Client | JsonClient] = [
            await stack.enter_async_context(kind.connected(session)) for _ in range(count)
        ]
        await closed_loop(server, clients[: options.clients], questions[:WARM_UP])
        server.memory.clear()
        idle, cpu, began = server.measure(), server.cpu_s(), time.perf_counter()
        rest = questions[WARM_UP:]
        latencies = await (
            closed_loop(server, clients, rest)
            if rate is None
            else open_loop(server, clients, rest, rate, random.Random(options.seed))
        )
        seconds = time.perf_counter() - began
        cpu = server.cpu_s() - cpu
        open_sockets = sum(not task.done() for task in resting)
        for task in resting:
            task.cancel()
    good = [latency for latency in latencies if not latency.error]
    errors = Counter(latency.error for latency in latencies if latency.error)
    memory = (idle, *server.memory)

    return {
        "over": options.over,
        "loop": "closed" if rate is None else f"open, {rate:g}/s",
        "clients": count,
        "idle_sockets": open_sockets,
        "workers": options.workers,
        "load": round(os.getloadavg()[0], 1),
        "answers": len(good),
        "turned_away": dict(errors),
        "answers_per_s": round(len(good) / seconds, 1),
        "answer_ms": _percentiles([latency.seconds for latency in good]),
        "first_frame_ms": _percentiles([latency.first for latency in good]),
        "server_cpu_ms_per_answer": round(1000 * cpu / max(1, len(good)), 2),
        "server_cores_used": round(cpu / seconds, 2),
        "anonymous_mb": [amount.anonymous for amount in memory],
        "resident_mb": [amount.whole for amount in memory],
        "errors_in_log": _errors(server.log),
    }


async def closed_loop(
    server: Server, clients: Sequence[Client | JsonClient], questions: Sequence[str]
) -> list[Latency]:
    """A client sends its next question when it receives an answer."""
    remaining, latencies = iter(questions), list[Latency]()

    async def work(client: Client | JsonClient) -> None:
        for text in remaining:
            latencies.append(await client.ask(text, time.perf_counter()))
            if len(latencies) % max(1, len(questions) // CHECKS) == 0:
                server.memory.append(server.measure())

    await asyncio.gather(*map(work, clients))
    return latencies


async def open_loop(
    server: Server, clients: Sequence[Client | JsonClient], questions: Sequence[str], rate: float, rng: random.Random
) -> list[Latency]:
    """Questions arrive at random times; time spent waiting for a free client counts."""
    free: asyncio.Queue[Client | JsonClient] = asyncio.Queue()
    for client in clients:
        free.put_nowait(client)

    async def work(text: str, due: float) -> Latency:
        client = await free.get()
        try:
            return await client.ask(text, due)
        finally:
            free.put_nowait(client)

    due, tasks = time.perf_counter(), []
    for i, text in enumerate(questions):
        due += rng.expovariate(rate)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(work(text, due)))
        if i % max(1, len(questions) // CHECKS) == 0:
            server.memory.append(server.measure())
    return await asyncio.gather(*tasks)


def _questions(home: Path, count: int, seed: int) -> list[str]:
    """Random titles of the home, repeated if there are too few."""
    with Bot.open(home, record=False) as bot:
        titles = [question.title for question in drawn(bot.store.stream_documents(), count, seed=seed)]
    return list(islice(cycle(titles), count))


def _percentiles(seconds: Sequence[float]) -> dict[str, float]:
    if not seconds:
        return {}
    milliseconds = np.percentile(seconds, [50, 99, 100]) * 1000
    return {name: round(float(value), 1) for name, value in zip(("p50", "p99", "max"), milliseconds, strict=True)}


def _errors(log: Path) -> int:
    return sum('"level":"error"' in line or "Traceback" in line for line in log.read_text("utf-8").splitlines())


@contextmanager
def _serving(home: Path, workers: int, queue: int) -> Iterator[Server]:
    settings = {"QA_BOT_SERVE__WORKERS": str(workers), "QA_BOT_SERVE__QUEUE": str(queue)}
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "serve", "--port", "0"]
    log = home / "serve.log"
    with log.open("w") as err:
        process = subprocess.Popen(command, env={**os.environ, **settings}, stderr=err, text=True)
    try:
        yield Server(process, _url(process, log), log)
    finally:
        process.terminate()
        if (code := process.wait(PATIENCE)) != 0:
            raise SystemExit(f"Expected the server to end well, but got {code}: {log.read_text('utf-8')[-2000:]}")


def _url(process: subprocess.Popen[str], log: Path) -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        if match := re.search(r"^qa-bot listens on (\S+/)$", log.read_text("utf-8"), re.MULTILINE):
            return match[1]
        time.sleep(0.05)
    raise SystemExit(f"Expected the server to listen, but got: {log.read_text('utf-8')}")


@contextmanager
def _copied(home: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="qa-bot-load-") as folder:
        yield Path(shutil.copytree(home, Path(folder) / "home"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True, help="home to copy")
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--sockets", type=int, default=0, help="additional idle sockets")
    parser.add_argument("--rate", type=float, nargs="*", help="questions a second; one run for each")
    parser.add_argument("--over", choices=CLIENTS, default="ws")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--queue", type=int, default=64)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="one line of JSON for each run")
    return parser.parse_args()


if __name__ == "__main__":
    main()
