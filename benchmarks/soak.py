"""A service under mixed use for a long time. Run by hand, or as `make soak SECONDS=1800`:

    python benchmarks/soak.py --seconds 1800 --out soak.json --plot soak.png

Questions, conversations, votes, `add`, `add --sync` and `delete` run beside each other, on one home. Every ten seconds
memory, descriptors, threads, errors and latencies are sampled. The slopes of memory and descriptors are those of Theil
and Sen over the samples after the first fifth. The number of documents stays the same within a dozen: all files are
added at the start, then changed, deleted and brought back. Better vectors are made before the rest, since an index
with them answers with more memory: a service that begins to make them midway looks as if it leaked.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
from served_process import ServedProcess, percentiles_ms, served, theil_sen

QUESTIONS = (
    "why do cats sleep all day?",
    "what is the capital of Australia?",
    "how do I make green tea?",
    "why is the sky blue?",
    "who discovered penicillin?",
    "what does the annual report say about visitors?",
    "how many days of holiday are there?",
    "zxqv plomb?",
)
FOLLOW_UPS = ("and its population?", "why?", "shorter", "what about dogs?", "more sources", "thanks")
WORDS = [
    "office",
    "holiday",
    "visitor",
    "report",
    "coffee",
    "printer",
    "badge",
    "garden",
    "train",
    "invoice",
    "contract",
    "meeting",
    "harbour",
    "lantern",
]
FOLDER_FILES = 12
"""Files of the folder that is synchronised."""
SINGLE_FILES = 20
"""Files that are added one at a time."""
INTERVAL = 10.0
"""Seconds between two samples."""


@dataclass(frozen=True, slots=True)
class Sample:
    seconds: float
    resident_mb: float
    descriptors: int
    threads: int
    answers: int
    errors: int
    latency_ms: dict[str, float]


@dataclass
class Outcomes:
    """What the tasks did since the last sample, and altogether."""

    latencies: list[float] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, help="home to copy; by default the starter collection")
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--rate", type=float, default=4.0, help="questions a second of each of two clients")
    parser.add_argument("--writes", type=float, default=12.0, help="seconds between two writes")
    parser.add_argument("--out", type=Path, help="JSON file with all samples")
    parser.add_argument("--plot", type=Path, help="PNG of memory and descriptors over time (needs the extra 'plots')")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    with served(options.home) as service:
        samples, outcomes = asyncio.run(_soak(service, options))
        summary = summarised(samples, outcomes, service.logged_errors())
    if options.out:
        options.out.write_text(json.dumps({"summary": summary, "samples": [asdict(sample) for sample in samples]}))
    if options.plot:
        _plot(samples, options.plot)
    print(json.dumps(summary, indent=2))  # noqa: T201 (a tool run by hand)


def summarised(samples: Sequence[Sample], outcomes: Outcomes, logged: int) -> dict[str, Any]:
    settled = samples[len(samples) // 5 :]
    minutes = [sample.seconds / 60 for sample in settled]
    return {
        "minutes": round(samples[-1].seconds / 60, 1),
        "resident_mb": [round(samples[0].resident_mb, 1), round(samples[-1].resident_mb, 1)],
        "resident_mb_fifths": fifths([sample.resident_mb for sample in samples]),
        "resident_mb_a_minute": round(theil_sen(minutes, [sample.resident_mb for sample in settled]), 3),
        "descriptors": [samples[0].descriptors, samples[-1].descriptors],
        "descriptors_a_minute": round(theil_sen(minutes, [float(sample.descriptors) for sample in settled]), 3),
        "threads": [samples[0].threads, samples[-1].threads],
        "worst_p99_ms": max((sample.latency_ms.get("p99", 0.0) for sample in settled), default=0.0),
        "median_p50_ms": sorted(sample.latency_ms.get("p50", 0.0) for sample in settled)[len(settled) // 2],
        "done": dict(outcomes.done),
        "failed": dict(outcomes.failed),
        "errors_in_log": logged,
    }


def fifths(values: Sequence[float]) -> list[float]:
    """The median of each fifth of the values; the last fifth has the rest."""
    size = max(1, len(values) // 5)
    bounds = [*range(0, 5 * size, size), len(values)]
    return [round(median(part), 1) for begin, end in pairwise(bounds) if (part := values[begin:end])]


async def _soak(service: ServedProcess, options: argparse.Namespace) -> tuple[list[Sample], Outcomes]:
    outcomes, samples = Outcomes(), list[Sample]()
    end = time.monotonic() + options.seconds
    rng = random.Random(options.seed)
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(service.url, timeout=timeout) as session:
        await asyncio.gather(
            _questions(session, outcomes, end, options.rate, random.Random(options.seed + 1)),
            _conversations(session, outcomes, end, options.rate, random.Random(options.seed + 2)),
            _writes(service, outcomes, end, options.writes, rng),
            _samples(service, outcomes, samples, options.seconds),
        )
    return samples, outcomes


async def _post(
    session: aiohttp.ClientSession, outcomes: Outcomes, path: str, body: dict[str, Any], name: str
) -> dict[str, Any]:
    """The reply; a failure is counted by its status or the name of its exception."""
    began = time.perf_counter()
    try:
        async with session.post(path, json=body) as reply:
            payload: dict[str, Any] = await reply.json()
            if reply.status != 200:
                outcomes.failed[f"{name} {reply.status}"] += 1
                return {}
    except (aiohttp.ClientError, TimeoutError) as error:
        outcomes.failed[f"{name} {type(error).__name__}"] += 1
        return {}
    outcomes.done[name] += 1
    if name in ("question", "turn"):
        outcomes.latencies.append(time.perf_counter() - began)
    return payload


async def _questions(
    session: aiohttp.ClientSession, outcomes: Outcomes, end: float, rate: float, rng: random.Random
) -> None:
    while time.monotonic() < end:
        question = rng.choice(QUESTIONS) if rng.random() < 0.5 else f"what about {' '.join(rng.sample(WORDS, 3))}?"
        answer = await _post(session, outcomes, "/api/ask", {"question": question}, "question")
        if answer and rng.random() < 0.2:
            vote = {"id": answer["id"], "vote": rng.choice(("up", "down"))}
            await _post(session, outcomes, "/api/feedback", vote, "vote")
        await asyncio.sleep(rng.expovariate(rate))


async def _conversations(
    session: aiohttp.ClientSession, outcomes: Outcomes, end: float, rate: float, rng: random.Random
) -> None:
    while time.monotonic() < end:
        conversation = f"soak-{rng.getrandbits(48):x}"
        for turn in range(rng.randint(2, 8)):
            question = rng.choice(FOLLOW_UPS if turn else QUESTIONS)
            await _post(session, outcomes, "/api/ask", {"question": question, "conversation": conversation}, "turn")
            await asyncio.sleep(rng.expovariate(rate))


async def _writes(service: ServedProcess, outcomes: Outcomes, end: float, pause: float, rng: random.Random) -> None:
    """Adds, syncs and deletions by the command line, one after another."""
    folder = service.home.parent / "documents"
    folder.mkdir()
    for number in range(FOLDER_FILES):
        _write(folder / f"{number}.md", rng)
    singles = [service.home.parent / f"single-{number}.txt" for number in range(SINGLE_FILES)]
    for path in singles:
        _write(path, rng)
    await _run(service, outcomes, "sync", "add", "--sync", str(folder))
    await _run(service, outcomes, "add", "add", "--collection", "single", *map(str, singles))
    await _run(service, outcomes, "improve", "improve")
    while time.monotonic() < end:
        kind = rng.choice(("add", "sync", "sync", "delete"))
        if kind == "sync":
            _write(folder / f"{rng.randrange(FOLDER_FILES)}.md", rng)
            await _run(service, outcomes, kind, "add", "--sync", str(folder))
        elif kind == "add":
            single = rng.choice(singles)
            _write(single, rng)
            await _run(service, outcomes, kind, "add", "--collection", "single", str(single))
        else:
            (folder / f"{rng.randrange(FOLDER_FILES)}.md").unlink(missing_ok=True)
            await _run(service, outcomes, kind, "add", "--sync", str(folder))
        await asyncio.sleep(min(pause, max(0.0, end - time.monotonic())))


def _write(path: Path, rng: random.Random) -> None:
    lines = [f"The {rng.choice(WORDS)} of the {rng.choice(WORDS)} has number {rng.randrange(1000)}." for _ in range(30)]
    path.write_text(f"# {rng.choice(WORDS).title()}\n\n" + "\n".join(lines), "utf-8")


async def _run(service: ServedProcess, outcomes: Outcomes, name: str, *command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "qa_bot", "--home", str(service.home), *command),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, err = await process.communicate()
    outcomes.done[name] += not process.returncode
    if process.returncode:
        outcomes.failed[f"{name} {process.returncode}: {err.decode(errors='replace').strip()[-200:]}"] += 1


async def _samples(service: ServedProcess, outcomes: Outcomes, samples: list[Sample], seconds: float) -> None:
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        await asyncio.sleep(min(INTERVAL, seconds - passed))
        latencies, outcomes.latencies = outcomes.latencies, []
        samples.append(
            Sample(
                seconds=round(time.monotonic() - began, 1),
                resident_mb=round(service.resident_mb(), 2),
                descriptors=service.descriptors(),
                threads=service.threads(),
                answers=len(latencies),
                errors=sum(outcomes.failed.values()),
                latency_ms=percentiles_ms(latencies),
            )
        )


def _plot(samples: Sequence[Sample], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    memory, descriptors = figure.subplots(2, sharex=True)
    minutes = [sample.seconds / 60 for sample in samples]
    memory.plot(minutes, [sample.resident_mb for sample in samples])
    memory.set_ylabel("memory, MB")
    descriptors.plot(minutes, [sample.descriptors for sample in samples])
    descriptors.set_ylabel("descriptors")
    descriptors.set_xlabel("minutes")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
