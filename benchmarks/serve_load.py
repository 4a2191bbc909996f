"""What a running service bears. Run by hand, on a machine that does nothing else:

    python benchmarks/serve_load.py --home HOME --questions 2000 --clients 8 --sockets 500
    python benchmarks/serve_load.py --home HOME --questions 2000 --rate 40 80 120 160
    python benchmarks/serve_load.py --home HOME --questions 20000 --clients 4        # is memory flat?

`qa-bot serve` runs as a process of its own over a copy of the home; this process is all of its clients, each with a
WebSocket (or `--over ask`: `POST /api/ask`). Without `--rate` every client asks again as soon as it was answered
(closed loop). With `--rate` questions come at random moments, so many a second on average, whether or not the others
were answered (open loop), and their seconds count from the moment at which they should have been sent. Questions are
the titles of the home's own documents.
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
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import numpy as np

from qa_bot.bot import Bot
from qa_lab.evaluate.known_item import drawn

MEGABYTE = 1e6
TICKS = os.sysconf("SC_CLK_TCK")
CHECKS = 10
"""Looks at the server's memory during a run."""
WARM_UP = 200
"""Questions that do not count."""
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Answered:
    """One question: seconds to the first frame and to the answer; `error` is the code of what came instead."""

    first: float
    seconds: float
    error: str = ""


class Memory(NamedTuple):
    """Of a process, in MB; file-backed pages, which are the rest, the kernel takes back when it needs them."""

    anonymous: float
    whole: float


@dataclass
class Server:
    """`qa-bot serve` in a process of its own."""

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
        """Seconds of processor time, all threads together."""
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
        """Only answer the server's pings, for as long as the connection lasts."""
        while (await self._socket.receive()).type is aiohttp.WSMsgType.TEXT:
            pass

    async def ask(self, text: str, due: float) -> Answered:
        await self._socket.send_json({"type": "ask", "text": text})
        first = 0.0
        while True:
            frame = json.loads((await self._socket.receive()).data)
            first = first or time.perf_counter() - due
            if frame["type"] in ("final", "error"):
                return Answered(first, time.perf_counter() - due, frame.get("code", ""))


class JsonClient:
    """The same over `POST /api/ask`, where the first byte is the last."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    @classmethod
    @asynccontextmanager
    async def connected(cls, session: aiohttp.ClientSession) -> AsyncIterator[JsonClient]:
        yield cls(session)

    async def ask(self, text: str, due: float) -> Answered:
        async with self._session.post("/api/ask", json={"question": text}) as reply:
            told = await reply.json()
        seconds = time.perf_counter() - due
        return Answered(seconds, seconds, told.get("error", {}).get("code", ""))


CLIENTS = {"ws": Client, "ask": JsonClient}


def main() -> None:
    given = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and the server with it
    with _copied(given.home) as home, _serving(home, given.workers, given.queue) as server:
        asked = _questions(home, given.questions + WARM_UP, given.seed)
        for rate in given.rate or [None]:
            found = asyncio.run(_measured(server, asked, given, rate))
            print(json.dumps(found, indent=None if given.json else 2), flush=True)  # noqa: T201 (a tool run by hand)


async def _measured(
    server: Server, asked: Sequence[str], given: argparse.Namespace, rate: float | None
) -> dict[str, Any]:
    connector, timeout = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=PATIENCE)
    async with (
        aiohttp.ClientSession(server.url, connector=connector, timeout=timeout) as session,
        AsyncExitStack() as held,
    ):
        idle_sockets = [await held.enter_async_context(Client.connected(session)) for _ in range(given.sockets)]
        resting = [asyncio.create_task(each.rest()) for each in idle_sockets]
        kind = CLIENTS[given.over]
        count = given.clients if rate is None else max(given.clients, 64)
        clients = [await held.enter_async_context(kind.connected(session)) for _ in range(count)]
        await closed_loop(server, clients[: given.clients], asked[:WARM_UP])
        server.memory.clear()
        idle, cpu, began = server.measure(), server.cpu_s(), time.perf_counter()
        rest = asked[WARM_UP:]
        answered = await (
            closed_loop(server, clients, rest)
            if rate is None
            else open_loop(server, clients, rest, rate, random.Random(given.seed))
        )
        seconds = time.perf_counter() - began
        cpu = server.cpu_s() - cpu
        resting_still = sum(not each.done() for each in resting)
        for each in resting:
            each.cancel()
    good = [each for each in answered if not each.error]
    return {
        "over": given.over,
        "loop": "closed" if rate is None else f"open, {rate:g}/s",
        "clients": count,
        "idle_sockets": resting_still,
        "workers": given.workers,
        "load": round(os.getloadavg()[0], 1),
        "answers": len(good),
        "turned_away": {code: sum(e.error == code for e in answered) for code in {e.error for e in answered} - {""}},
        "answers_per_s": round(len(good) / seconds, 1),
        "answer_ms": _percentiles([each.seconds for each in good]),
        "first_frame_ms": _percentiles([each.first for each in good]),
        "server_cpu_ms_per_answer": round(1000 * cpu / max(1, len(good)), 2),
        "server_cores_used": round(cpu / seconds, 2),
        "anonymous_mb": [each.anonymous for each in (idle, *server.memory)],
        "resident_mb": [each.whole for each in (idle, *server.memory)],
        "errors_in_log": _errors(server.log),
    }


async def closed_loop(server: Server, clients: Sequence[Client | JsonClient], asked: Sequence[str]) -> list[Answered]:
    """Each client asks the next question as soon as its last is answered."""
    coming, answered = iter(asked), list[Answered]()

    async def work(client: Client | JsonClient) -> None:
        for text in coming:
            answered.append(await client.ask(text, time.perf_counter()))
            if len(answered) % max(1, len(asked) // CHECKS) == 0:
                server.memory.append(server.measure())

    await asyncio.gather(*map(work, clients))
    return answered


async def open_loop(
    server: Server, clients: Sequence[Client | JsonClient], asked: Sequence[str], rate: float, rng: random.Random
) -> list[Answered]:
    """Questions come when they come; one that finds all clients busy waits, and that counts."""
    free: asyncio.Queue[Client | JsonClient] = asyncio.Queue()
    for client in clients:
        free.put_nowait(client)

    async def work(text: str, due: float) -> Answered:
        client = await free.get()
        try:
            return await client.ask(text, due)
        finally:
            free.put_nowait(client)

    due, tasks = time.perf_counter(), []
    for i, text in enumerate(asked):
        due += rng.expovariate(rate)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(work(text, due)))
        if i % max(1, len(asked) // CHECKS) == 0:
            server.memory.append(server.measure())
    return await asyncio.gather(*tasks)


def _questions(home: Path, count: int, seed: int) -> list[str]:
    """Drawn from the home's titles, and over again where there are too few."""
    with Bot.open(home, record=False) as bot:
        found = [each.title for each in drawn(bot.store.stream_documents(), count, seed=seed)]
    return list(islice((text for _ in iter(int, 1) for text in found), count))


def _percentiles(seconds: Sequence[float]) -> dict[str, float]:
    if not seconds:
        return {}
    found = np.percentile(seconds, [50, 99, 100]) * 1000
    return {name: round(float(value), 1) for name, value in zip(("p50", "p99", "max"), found, strict=True)}


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
        if found := re.search(r"^qa-bot listens on (\S+/)$", log.read_text("utf-8"), re.MULTILINE):
            return found[1]
        time.sleep(0.05)
    raise SystemExit(f"Expected the server to listen, but got: {log.read_text('utf-8')}")


@contextmanager
def _copied(home: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="qa-bot-load-") as folder:
        yield Path(shutil.copytree(home, Path(folder) / "home"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True, help="a home, which is copied")
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--sockets", type=int, default=0, help="further sockets that only stay open")
    parser.add_argument("--rate", type=float, nargs="*", help="questions a second; one run for each")
    parser.add_argument("--over", choices=CLIENTS, default="ws")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--queue", type=int, default=64)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="one line of JSON for each run")
    return parser.parse_args()


if __name__ == "__main__":
    main()
