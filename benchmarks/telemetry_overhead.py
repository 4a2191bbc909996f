"""Processor time that observing an answer adds to it. Run by hand:

    python benchmarks/telemetry_overhead.py --questions 300 --rounds 7

Four ways alternate in one process: `plain` is `Bot.ask`; `off` also keeps the log of stages, as a service without a
collector does; `on` also makes the spans of a request, the question and its stages, and sends them to a collector in
another process; `alone` does the same without answering, so that the noise of the answers is left out. Each round asks
the same questions; the figures are milliseconds of all threads of this process for an answer, in the round with the
least: other programs on the machine only add to it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

from opentelemetry.sdk.resources import Resource

from qa_bot.answering.observation.stage_log import stage_log
from qa_bot.bot import Bot
from qa_bot.web.telemetry.tracing import Tracing
from qa_core.types import Question
from qa_lab.evaluate.known_item import drawn

COLLECTOR = """
from http.server import BaseHTTPRequestHandler, HTTPServer
class Sink(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *arguments):
        pass
server = HTTPServer(("127.0.0.1", 0), Sink)
print(server.server_port, flush=True)
server.serve_forever()
"""

Way = Callable[[Bot, Question], object]


def main() -> None:
    options = _arguments()
    with tempfile.TemporaryDirectory(prefix="qa-bot-telemetry-") as folder, _collector() as url:
        flags = {"ranking.effort": options.effort}
        with Bot.open(options.home or Path(folder) / "home", flags=flags, record=False) as bot:
            tracing = Tracing(Resource.create({"service.name": "benchmark"}), endpoint=url, sample=1.0)
            figures = _compare(bot, tracing, options)
            tracing.close()
    print(json.dumps(figures, indent=2))  # noqa: T201 (a tool run by hand)


def _compare(bot: Bot, tracing: Tracing, options: argparse.Namespace) -> dict[str, object]:
    def off(bot: Bot, question: Question) -> None:
        with stage_log():
            bot.ask(question)

    def on(bot: Bot, question: Question) -> None:
        with tracing.request({}, "POST", "/api/ask", "r"), stage_log() as stages, tracing.question("answer", stages):
            bot.ask(question)

    with stage_log() as example:
        bot.ask("Why do cats sleep all day?")

    def alone(_: Bot, __: Question) -> None:
        with tracing.request({}, "POST", "/api/ask", "r"), stage_log() as stages, tracing.question("answer", stages):
            for stage in example.stages:
                stages.add(stage.name, stage.began, stage.seconds)
                stages.count(stage.name, stage.counts)

    ways: dict[str, Way] = {"plain": Bot.ask, "off": off, "on": on, "alone": alone}
    pool = [*drawn(bot.store.stream_documents(), options.questions, seed=options.seed)]
    questions = list(islice(cycle(pool), options.questions))
    for way in ways.values():
        _milliseconds(bot, way, questions[:50], lambda: None)
    rounds: list[dict[str, float]] = []
    for number in range(options.rounds):
        order = list(ways) if number % 2 else list(reversed(ways))
        rounds.append({name: _milliseconds(bot, ways[name], questions, tracing.flush) for name in order})
    least = {name: min(row[name] for row in rounds) for name in ways}
    return {
        "effort": options.effort,
        "questions": len(questions),
        "rounds": options.rounds,
        "load": round(os.getloadavg()[0], 1),
        "cpu_ms_per_answer": {name: round(milliseconds, 3) for name, milliseconds in least.items()},
        "ratio_to_plain": {name: round(least[name] / least["plain"], 3) for name in ("off", "on")},
    }


def _milliseconds(bot: Bot, way: Way, questions: list[Question], flush: Callable[[], None]) -> float:
    """Milliseconds of this process for an answer, with everything sent."""
    began = time.process_time()
    for question in questions:
        way(bot, question)
    flush()
    return 1000 * (time.process_time() - began) / len(questions)


@contextmanager
def _collector() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, "-c", COLLECTOR], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, help="home to ask; by default a new one with the starter collection")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--effort", choices=("low", "normal", "high"), default="normal")
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


if __name__ == "__main__":
    main()
