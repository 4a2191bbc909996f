"""Replay of questions against the LiveQA port of a running service, with a check of every reply. Run by hand:

    python benchmarks/liveqa_replay.py --home HOME --data "$QA_BOT_DATA/liveqa/liveqa2015_official_1087.tsv"
    python benchmarks/liveqa_replay.py --home HOME --data … --at-once 8
    python benchmarks/liveqa_replay.py --home HOME --fuzz 100000

Every `--every` seconds, `--at-once` questions are sent, whether or not earlier questions are answered. `--fuzz` sends
random, mutated and oversized forms instead: each reply must be XML within its limits or a JSON error, and the log must
have no error. Exits with 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import csv
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp
import numpy as np
import yarl
from liveqa_forms import NAMES, Fields, Reply, Sent, faults, odd_requests

# ---------------------------------------------------------------------------------------------------------- the client


async def send(client: aiohttp.ClientSession, url: str, sent: Sent) -> Reply:
    """Send one request and read the reply; status 0 means that the connection was closed without a reply."""
    target = yarl.URL(f"{url}?{sent.query}" if sent.query else url, encoded=True)
    headers = {"Content-Type": sent.kind} if sent.kind else {}
    began = time.perf_counter()
    try:
        async with client.request(
            sent.method, target, data=io.BytesIO(sent.body) if sent.body else None, headers=headers
        ) as reply:
            body = await reply.read()
            kind, retry = reply.headers.get("Content-Type", ""), reply.headers.get("Retry-After")
            return Reply(reply.status, kind, body, time.perf_counter() - began, retry)
    except aiohttp.ClientError as error:
        return Reply(0, "", str(error).encode(), time.perf_counter() - began)


async def replay(url: str, forms: Sequence[Fields], *, every: float, at_once: int) -> list[Reply]:
    """Send all forms in groups at fixed times and return the replies."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        began, tasks = time.perf_counter(), []
        for number, fields in enumerate(forms):
            await asyncio.sleep(began + every * (number // at_once) - time.perf_counter())
            body = urlencode(fields).encode()
            sent = Sent("POST", body=body, kind="application/x-www-form-urlencoded", fields=fields)
            tasks.append(asyncio.create_task(send(client, url, sent)))
        return await asyncio.gather(*tasks)


async def fuzz(url: str, count: int, *, seed: int, at_once: int) -> tuple[Counter[int], list[str]]:
    """Counts of reply statuses, and all faults."""
    statuses: Counter[int] = Counter()
    wrong: list[str] = []
    requests = (sent for sent, _ in zip(odd_requests(seed), range(count), strict=False))

    async def client_loop(client: aiohttp.ClientSession) -> None:
        for sent in requests:
            reply = await send(client, url, sent)
            statuses[reply.status] += 1
            wrong.extend(f"{fault} ← {str(sent)[:500]}" for fault in faults(reply, sent.fields))

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        await asyncio.gather(*(client_loop(client) for _ in range(at_once)))
    return statuses, wrong


# --------------------------------------------------------------------------------------------------------- the service


@dataclass(frozen=True)
class Served:
    """A running service, the URL of its LiveQA port, and its log file."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def memory_mb(self) -> float | None:
        """Resident memory; None without /proc."""
        status = Path(f"/proc/{self.process.pid}/status")
        match = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
        return round(int(match[1]) / 1000, 1) if match else None


@asynccontextmanager
async def served(home: Path) -> AsyncIterator[Served]:
    """`qa-bot serve` on free ports, stopped by SIGTERM."""
    port, liveqa_port = _free_port(), _free_port()
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "serve", "--port", str(port)]
    with tempfile.TemporaryDirectory(prefix="qa-bot-replay-") as folder:
        log = Path(folder) / "log"
        with log.open("wb") as out:
            process = subprocess.Popen([*command, "--liveqa-port", str(liveqa_port)], stderr=out)
        try:
            await _ready(f"http://127.0.0.1:{port}/readyz", process, log)
            yield Served(process, f"http://127.0.0.1:{liveqa_port}/", log)
        finally:
            process.send_signal(signal.SIGTERM)
            code = process.wait(60)
        if code != 0:
            raise SystemExit(f"Expected the service to end with 0, but got {code}: {log.read_text()[-2000:]}")


async def _ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    async with aiohttp.ClientSession() as client:
        for _ in range(600):
            if process.poll() is not None:
                raise SystemExit(f"The service ended: {log.read_text()}")
            with contextlib.suppress(aiohttp.ClientError):
                async with client.get(url) as reply:
                    if reply.status == 200:
                        return
            await asyncio.sleep(0.1)
    raise SystemExit(f"The service is not ready after a minute: {log.read_text()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# --------------------------------------------------------------------------------------------------------- the figures


def stream(path: Path, limit: int | None) -> list[dict[str, str]]:
    """Forms of a track's questions in their original order."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [{name: row[name] or "" for name in NAMES} for row, _ in zip(rows, range(limit or 10**9), strict=False)]


def figures(replies: Sequence[Reply], forms: Sequence[Fields]) -> dict[str, Any]:
    wrong = [
        f"{fault} ← {fields}" for reply, fields in zip(replies, forms, strict=True) for fault in faults(reply, fields)
    ]
    good = sum(reply.status == 200 and not faults(reply, fields) for reply, fields in zip(replies, forms, strict=True))
    median, p99, most = np.percentile([1000 * reply.seconds for reply in replies], [50, 99, 100])
    return {
        "questions": len(replies),
        "well_formed_in_time": round(good / len(replies), 4),
        "answered": round(sum(reply.answered for reply in replies) / len(replies), 4),
        "median_ms": round(float(median), 1),
        "p99_ms": round(float(p99), 1),
        "max_ms": round(float(most), 1),
        "wrong": wrong[:20],
    }


def complaints(log: str) -> list[str]:
    """Log lines that report an error."""
    return [
        line[:2000] for line in log.splitlines() if re.search(r'Traceback|"level":\s*"(error|critical)"|ERROR', line)
    ]


async def run(options: argparse.Namespace) -> dict[str, Any]:
    report: dict[str, Any] = {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 2)}
    async with served(options.home) as service:
        report["memory_mb_before"] = service.memory_mb()
        if options.fuzz:
            statuses, wrong = await fuzz(service.url, options.fuzz, seed=options.seed, at_once=options.at_once)
            report |= {"forms": options.fuzz, "statuses": dict(sorted(statuses.items())), "wrong": wrong[:20]}
        else:
            forms = stream(options.data, options.limit)
            replies = await replay(service.url, forms, every=options.every, at_once=options.at_once)
            report |= {"every_s": options.every, "at_once": options.at_once, **figures(replies, forms)}
        report["memory_mb_after"] = service.memory_mb()
        log = service.log.read_text(errors="replace")
    return {**report, "complaints": complaints(log)[:20]}


def main() -> int:
    options = _arguments()
    report = asyncio.run(run(options))
    print(json.dumps(report, indent=None if options.json else 2, ensure_ascii=False))  # noqa: T201 (a tool run by hand)
    return 1 if report["wrong"] or report["complaints"] else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True, help="a home to answer from; its turns are recorded")
    parser.add_argument("--data", type=Path, help="questions: a TSV with qid, title, body, category")
    parser.add_argument("--every", type=float, default=1.0, help="seconds between groups of questions")
    parser.add_argument("--at-once", type=int, default=1, help="questions in a group; with --fuzz, clients")
    parser.add_argument("--limit", type=int, help="maximum number of questions")
    parser.add_argument("--fuzz", type=int, default=0, help="number of odd forms to send instead of questions")
    parser.add_argument("--seed", type=int, default=7, help="seed of the odd forms")
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    options = parser.parse_args()
    if not options.data and not options.fuzz:
        parser.error("Expected --data or --fuzz, but got neither.")
    return options


if __name__ == "__main__":
    sys.exit(main())
