"""Speed of `add` and `ask`, compared with the raw engines. Run by hand:

    python benchmarks/ask_latency.py --data "$QA_BOT_DATA/medquad/medquad.zip" --encoder starter

The first `add` starts from a home with the starter collection; the second adds the same files again. The floor is the
cost of any system on these engines: tantivy's best 100 passages, the encoding of the question, and FAISS' nearest 100
passages by a scan of all half-precision vectors (only the product uses byte codes), one after another in one thread.
On a busy machine, compare the ratio rather than the times.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import tantivy

from qa_bot.bot import Bot
from qa_bot.home.generations import Generations
from qa_core.text.analysis import terms
from qa_core.types import Encoder, Question
from qa_lab.evaluate.known_item import drawn

QUESTION = "What are the symptoms of high blood pressure?"
NEAREST = 100
WARM_UP = 20
COLD = 5
MEGABYTE = 1e6


@dataclass(frozen=True)
class Child:
    """A finished process: its seconds, peak memory in MB and output."""

    seconds: float
    peak_mb: float
    output: str


@dataclass(frozen=True)
class Times:
    """Milliseconds over all questions."""

    p50: float
    p99: float
    mean: float


def main() -> None:
    options = _arguments()
    with _home(options.home) as home:
        environment = {**os.environ, "QA_BOT_DENSE__ENCODER": options.encoder}
        figures: dict[str, Any] = {"encoder": options.encoder, "cores": os.cpu_count(), "load": os.getloadavg()[0]}
        if options.data:
            figures |= add_twice(home, options.data, environment)
        figures["home_mb"] = size_mb(home)
        figures["cold_ask_s"] = cold(home, environment)
        figures |= warm(home, options.encoder, options.questions, options.seed, record=options.home is None)
    print(json.dumps(figures, indent=None if options.json else 2))  # noqa: T201 (a tool run by hand)


def add_twice(home: Path, data: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """The first and the second `add` of the same data."""
    _qa_bot(home, environment, "ask", QUESTION, codes=(0, 3))  # fills the home with the starter collection
    first = _qa_bot(home, environment, "add", str(data), "--json", codes=(0, 4))
    second = _qa_bot(home, environment, "add", str(data), "--json", codes=(0, 4))
    counts = json.loads(first.output)
    return {
        "documents": counts["added"],
        "passages": counts["passages"],
        "rejected": counts["rejected"],
        "first_add_s": round(first.seconds, 2),
        "documents_per_s": round(counts["added"] / first.seconds, 1),
        "passages_per_s": round(counts["passages"] / first.seconds, 1),
        "first_add_peak_mb": round(first.peak_mb),
        "second_add_s": round(second.seconds, 2),
        "second_add_unchanged": json.loads(second.output)["unchanged"],
        "second_to_first": round(second.seconds / first.seconds, 3),
    }


def cold(home: Path, environment: Mapping[str, str]) -> dict[str, float]:
    """Seconds of whole `qa-bot ask` processes."""
    runs = [_qa_bot(home, environment, "ask", QUESTION, codes=(0, 3)) for _ in range(COLD)]
    seconds = [run.seconds for run in runs]
    return {
        "median": round(statistics.median(seconds), 3),
        "min": round(min(seconds), 3),
        "max": round(max(seconds), 3),
        "peak_mb": round(max(run.peak_mb for run in runs)),
    }


def warm(home: Path, encoder: str, count: int, seed: int, *, record: bool) -> dict[str, Any]:
    """Times of `ask` and of the floor, alternating so that both run under the same load."""
    with Bot.open(home, flags={"dense.encoder": encoder}, record=record) as bot:
        questions = drawn(bot.store.stream_documents(), count, seed=seed)
        floor = Floor(bot)
        for question in questions[:WARM_UP]:
            bot.ask(question)
            floor.search(question)
        seconds, floor_seconds, stages = [], [], []
        for question in questions:
            elapsed, answer = _timed(partial(bot.ask, question))
            seconds.append(elapsed)
            stages.append(answer.timings)
            floor_seconds.append(_timed(partial(floor.search, question))[0])
    times, floor_times = _times(seconds), _times(floor_seconds)
    return {
        "questions": len(questions),
        "ask_ms": asdict(times),
        "floor_ms": asdict(floor_times),
        "ratio_p50": round(times.p50 / floor_times.p50, 2),
        "ratio_p99": round(times.p99 / floor_times.p99, 2),
        "stages_ms": {name: round(1000 * statistics.median(s.get(name, 0.0) for s in stages), 2) for name in stages[0]},
    }


class Floor:
    """The raw engines on the files of a home; only text analysis and encoding are the product's."""

    def __init__(self, bot: Bot) -> None:
        generation = Generations(bot.home.index).current()
        assert generation is not None, "a home with an index"
        self._encoder: Encoder = bot.encoder
        self._keyword = tantivy.Index.open(str(generation.path / "keyword"))
        self._keyword.reload()
        self._searcher = self._keyword.searcher()
        files = sorted((generation.path / "segments").glob("*/bodies/vectors.faiss"))
        self._dense = [faiss.read_index(str(file)) for file in files]

    def search(self, question: Question) -> int:
        """Search both engines and return the number of passages."""
        schema = self._keyword.schema
        clauses = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, "all", term))
            for term in dict.fromkeys(terms(question.title))
        ]
        hits = self._searcher.search(tantivy.Query.boolean_query(clauses), NEAREST, count=False).hits
        vector = np.ascontiguousarray(self._encoder.encode([question.title]))
        faiss.omp_set_num_threads(1)
        rows = [index.search(vector, NEAREST)[1] for index in self._dense]
        return len(hits) + sum(numbers.size for numbers in rows)


def size_mb(home: Path) -> float:
    """MB on disk; hard links to one file count once."""
    states = [path.stat() for path in home.rglob("*") if path.is_file()]
    return round(sum({(s.st_dev, s.st_ino): s.st_size for s in states}.values()) / MEGABYTE, 1)


def _qa_bot(home: Path, environment: Mapping[str, str], *arguments: str, codes: Sequence[int] = (0,)) -> Child:
    started = time.perf_counter()
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), *arguments]
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, env=dict(environment), stdout=out)
        _, status, usage = os.wait4(process.pid, 0)  # reports the memory of this child alone
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        printed = out.read()
    if process.returncode not in codes:
        raise SystemExit(f"Expected {' '.join(command)} to end well, but got {process.returncode}: {printed}")
    kilobytes = usage.ru_maxrss if sys.platform != "darwin" else usage.ru_maxrss / 1024
    return Child(seconds, kilobytes * 1024 / MEGABYTE, printed)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def _times(seconds: Sequence[float]) -> Times:
    p50, p99 = np.percentile(seconds, [50, 99]) * 1000
    return Times(round(float(p50), 2), round(float(p99), 2), round(1000 * statistics.fmean(seconds), 2))


@contextmanager
def _home(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="qa-bot-benchmark-") as temporary:
        yield Path(temporary)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="files to add; without it, nothing is added")
    parser.add_argument("--home", type=Path, help="an existing home; without it, a temporary one")
    parser.add_argument("--encoder", default="starter")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
