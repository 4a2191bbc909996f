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
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlencode

import aiohttp
import defusedxml.ElementTree
import numpy as np
import yarl

CONTENT, REST, SUMMARY = 1000, 2048, 140
IN_TIME = 60.0
"""Time limit of the track in seconds."""
ILLEGAL = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
STATUSES = frozenset({400, 413, 415, 422, 503})
"""Statuses of replies to invalid forms."""
QID = 80
"""Characters of an id that are never cut."""

Fields = Mapping[str, str]


@dataclass(frozen=True)
class Sent:
    """One request; `fields` are None if no parsing of it is the correct one."""

    method: str
    query: str = ""
    body: bytes = b""
    kind: str = ""
    fields: Fields | None = None


@dataclass(frozen=True)
class Reply:
    """A reply and the seconds until it was complete."""

    status: int
    kind: str
    body: bytes
    seconds: float
    retry_after: str | None = None

    @property
    def answered(self) -> bool:
        return self.status == 200 and b'answered="yes"' in self.body


# ------------------------------------------------------------------------------------------------------------ replies


def faults(reply: Reply, fields: Fields | None) -> list[str]:
    """Faults of a reply to a form; empty for a correct reply."""
    if reply.status != 200:
        return list(_error_faults(reply))
    try:
        text = reply.body.decode()
        root = defusedxml.ElementTree.fromstring(text)
    except ValueError as error:  # not XML's ParseError, which is a SyntaxError
        return [f"cannot be read: {error}"]
    except SyntaxError as error:
        return [f"is not well-formed: {error}"]
    return [*_shape_faults(root), *_limit_faults(root, text), *_echo_faults(root, fields), *_kind_faults(reply)]


def _error_faults(reply: Reply) -> Iterator[str]:
    try:
        error = json.loads(reply.body)["error"]
        assert {"code", "message", "request_id"} == error.keys()
    except (ValueError, KeyError, TypeError, AssertionError):
        yield f"is not a JSON error: {reply.status} {reply.body[:80]!r}"
    if reply.status not in STATUSES:
        yield f"has status {reply.status}"
    if reply.status == 503 and not reply.retry_after:
        yield "has no Retry-After"


def _kind_faults(reply: Reply) -> Iterator[str]:
    if reply.kind.replace(" ", "").lower() != "text/xml;charset=utf-8":
        yield f"is sent as {reply.kind}"
    if reply.seconds > IN_TIME:
        yield f"took {reply.seconds:.1f} s"


def _shape_faults(root: Any) -> Iterator[str]:
    answer = root[0]
    first = ["content", "resources"] if answer.get("answered") == "yes" else ["discard-reason"]
    expected = ["xml", "answer", *first, "title-foci", "body-foci", "summary"]
    if [root.tag, answer.tag, *(element.tag for element in answer)] != expected:
        yield "has unexpected elements"
    if {*answer.attrib} != {"answered", "pid", "qid", "time"} or answer.get("answered") not in ("yes", "no"):
        yield f"has the attributes {answer.attrib}"
    if not answer.get("pid") or not re.fullmatch(r"\d+", answer.get("time", "")):
        yield "has no pid, or a time that is not a number of milliseconds"
    if not answer[0].text:
        yield "has neither an answer nor a reason"


def _limit_faults(root: Any, text: str) -> Iterator[str]:
    answer = root[0]
    content = answer.findtext("content", "")
    if len(content) > CONTENT:
        yield f"has an answer of {len(content)} characters"
    if (rest := len(re.sub("(?s)<content>.*</content>", "<content></content>", text))) > REST:
        yield f"has {rest} characters beside the answer"
    summary = answer.findtext("summary", "")
    if len(summary) > SUMMARY or len(summary.splitlines()) > 1:
        yield f"has the summary {summary!r}"


def _echo_faults(root: Any, fields: Fields | None) -> Iterator[str]:
    """The reply must repeat the id, and foci must be spans of the texts that were sent."""
    if fields is None:
        return
    answer, qid = root[0], ILLEGAL.sub("", fields.get("qid", ""))
    if answer.get("qid") != qid and (len(qid) <= QID or not qid.startswith(answer.get("qid", ""))):
        yield f"has the qid {answer.get('qid')!r} in place of {qid!r}"
    for name in ("title", "body"):
        spans = [span.split("-") for span in answer.findtext(f"{name}-foci", "").split(",") if span]
        if not all(0 <= int(start) < int(end) <= len(fields.get(name, "")) for start, end in spans):
            yield f"has foci outside the {name}: {spans}"


# -------------------------------------------------------------------------------------------------------- odd requests


ALPHABETS = (
    "abcdefghij  ?.,",
    "&<>\"'%=;+#\\/]]>",
    "".join(map(chr, range(32))) + "\x7f\x85\ufffe\uffff",
    "äßçñ中文かな한국 مرحبا שלום \u202e\u200f",
    "😀👩‍👩‍👧🏳️‍🌈\U0010ffff",
)
PHRASES = ("Why do cats sleep all day?", "<![CDATA[x]]>", "<!ENTITY x SYSTEM 'file:///etc/passwd'>", "%00", "\r\n\r\n")
NAMES = ("qid", "title", "body", "category")


def odd_requests(seed: int) -> Iterator[Sent]:
    """An endless stream of forms of all kinds with unusual texts, and of broken forms."""
    rng = random.Random(seed)
    makers: Sequence[Callable[[random.Random], Sent]] = (_encoded, _encoded, _queried, _in_parts, _mutated, _garbage)
    while True:
        yield rng.choice(makers)(rng)


def odd_text(rng: random.Random, most: int = 200) -> str:
    """A random text in one or all of the alphabets, sometimes very long."""
    if rng.random() < 0.3:
        return rng.choice(PHRASES)
    length = rng.choice((0, 1, *(rng.randrange(most) for _ in range(8)), 20 * most))
    letters = rng.choice((*ALPHABETS, "".join(ALPHABETS)))
    return "".join(rng.choices(letters, k=length))


def _fields(rng: random.Random, most: int = 200) -> dict[str, str]:
    return {name: odd_text(rng, most) for name in NAMES if rng.random() < 0.8}


def _encoded(rng: random.Random) -> Sent:
    fields = _fields(rng, rng.choice((50, 50, 200, 200, 1000)))
    return Sent("POST", body=urlencode(fields).encode(), kind="application/x-www-form-urlencoded", fields=fields)


def _queried(rng: random.Random) -> Sent:
    fields = {name: value[:300] for name, value in _fields(rng, 50).items()}
    return Sent("GET", query=urlencode(fields), fields=fields)


def _in_parts(rng: random.Random) -> Sent:
    fields = {name: value.replace("\r\n--", "") for name, value in _fields(rng).items()}
    parts = (
        f'--XyZ\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    )
    kind = "multipart/form-data; boundary=XyZ"
    return Sent("POST", body=("".join(parts) + "--XyZ--\r\n").encode(), kind=kind, fields=fields)


def _mutated(rng: random.Random) -> Sent:
    """A valid form with some bytes changed, removed, doubled or inserted, or with a wrong content type."""
    good = rng.choice((_encoded, _in_parts))(rng)
    body = bytearray(good.body)
    for _ in range(rng.randrange(1, 8)):
        at = rng.randrange(len(body) + 1)
        junk = rng.choice((rng.randbytes(3), b"--XyZ\r\n", b"%", b"%zz", b"&&&=", b"\xff\xfe", b"\r\n", body[at:], b""))
        body[at : at + rng.randrange(4)] = junk
    kinds = (
        good.kind,
        good.kind,
        "multipart/form-data",
        "multipart/form-data; boundary=" + "b" * 90,
        f"{good.kind}; charset=utf-7",
        f"{good.kind}; charset=nonsense",
        "application/json",
        "text/plain",
    )
    return Sent("POST", body=bytes(body), kind=rng.choice(kinds))


def _garbage(rng: random.Random) -> Sent:
    """Random bytes, a file, very many fields, nested parts, or a body that is too long."""
    form, parts = "application/x-www-form-urlencoded", "multipart/form-data; boundary=XyZ"
    head = b'--XyZ\r\nContent-Disposition: form-data; name="title"'
    end = b"\r\n--XyZ--\r\n"
    choices = (
        (rng.randbytes(rng.randrange(500)), form),
        (rng.randbytes(rng.randrange(500)), parts),
        (head + b'; filename="x.txt"\r\nContent-Type: text/plain\r\n\r\nWhy?' + end, parts),
        (head + b"\r\nContent-Transfer-Encoding: base64\r\n\r\n%%%" + end, parts),
        (head + b"\r\nContent-Encoding: gzip\r\n\r\nnot gzip" + end, parts),
        (head + b"\r\nContent-Type: multipart/mixed; boundary=A\r\n\r\n--A\r\n\r\nx\r\n--A--" + end, parts),
        (head + b"\r\nContent-Type: text/plain; charset=nonsense\r\n\r\nWhy?" + end, parts),
        (head + b"\r\nContent-Type: image/png\r\n\r\nWhy?" + end, parts),
        (head + b"\r\n" + b"x: y\r\n" * rng.randrange(300) + b"\r\nWhy?" + end, parts),
        (b"title=why&" * rng.randrange(200), form),
        (b"title=" + quote_plus("why ä? " * rng.randrange(1, 20_000)).encode(), form),
        (b"title=" + b"x" * (2**20 + rng.randrange(2**10)) if rng.random() < 0.05 else b"", form),
    )
    body, kind = rng.choice(choices)
    return Sent("POST", body=body, kind=kind)


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
