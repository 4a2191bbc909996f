"""A flood of very long questions, with ordinary questions beside them. Run by hand:

    python benchmarks/flood.py --parallel 24 --characters 20000

Prints one JSON object: seconds of the long questions and of the ordinary ones, before and during the flood, the seconds
of a long question with a deadline of .05 s, and the memory of the service before and after.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import aiohttp
from served_process import ServedProcess, percentiles_ms, served

ORDINARY = ("why do cats sleep all day?", "what is the capital of Australia?", "how do I make green tea?")
PAUSE = 0.1
"""Seconds between two ordinary questions."""
SETTLING = 30.0
"""Seconds before the flood and after it until memory is measured: turns are saved and better vectors made meanwhile."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, help="home to copy; by default the starter collection")
    parser.add_argument("--parallel", type=int, default=24)
    parser.add_argument("--characters", type=int, default=20_000, help="of the title, and of the body")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    with served(options.home) as service:
        print(json.dumps(asyncio.run(_measure(service, options)), indent=2))  # noqa: T201 (a tool run by hand)


def long_text(characters: int, rng: random.Random) -> str:
    """Distinct words of three to nine letters."""
    words: list[str] = []
    length = 0
    while length < characters:
        words.append("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))))
        length += len(words[-1]) + 1
    return " ".join(words)[:characters]


async def _measure(service: ServedProcess, options: argparse.Namespace) -> dict[str, object]:
    rng = random.Random(options.seed)
    timeout = aiohttp.ClientTimeout(total=300)
    statuses: Counter[int] = Counter()

    async def ask(session: aiohttp.ClientSession, **body: object) -> float:
        began = time.perf_counter()
        async with session.post("/api/ask", json=body) as reply:
            await reply.read()
            statuses[reply.status] += 1
        return time.perf_counter() - began

    async def ordinary(session: aiohttp.ClientSession, stop: asyncio.Event) -> list[float]:
        seconds = []
        while not stop.is_set():
            seconds.append(await ask(session, question=rng.choice(ORDINARY)))
            await asyncio.sleep(PAUSE)
        return seconds

    async def flood(session: aiohttp.ClientSession) -> list[float]:
        bodies = [
            {"question": long_text(options.characters, rng), "body": long_text(options.characters, rng)}
            for _ in range(options.parallel)
        ]
        return list(await asyncio.gather(*(ask(session, **body) for body in bodies)))

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(service.url, timeout=timeout, connector=connector) as session:
        alone = [await ask(session, question=text) for text in ORDINARY * 30]
        await asyncio.sleep(SETTLING)
        memory = [service.resident_mb()]
        stop = asyncio.Event()
        beside_task = asyncio.create_task(ordinary(session, stop))
        long_seconds: list[float] = []
        for _ in range(options.rounds):
            long_seconds += await flood(session)
            memory.append(service.resident_mb())
        stop.set()
        beside = await beside_task
        text = long_text(options.characters, rng)
        hurried = [await ask(session, question=text, body=text, deadline=0.05) for _ in range(20)]
        await asyncio.sleep(SETTLING)
        memory.append(service.resident_mb())
    return {
        "long_questions": len(long_seconds),
        "characters": 2 * options.characters,
        "long_ms": percentiles_ms(long_seconds),
        "ordinary_alone_ms": percentiles_ms(alone[len(ORDINARY) :]),
        "ordinary_beside_ms": percentiles_ms(beside),
        "deadline_50_ms": percentiles_ms(hurried),
        "statuses": {str(status): count for status, count in statuses.items()},
        "memory_mb": _rounded(memory),
        "memory_ratio": round(memory[-1] / memory[0], 2),
        "errors_in_log": service.logged_errors(),
    }


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 1) for value in values]


if __name__ == "__main__":
    main()
