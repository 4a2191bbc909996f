"""Delay until a new answer of the owner is served. Run by hand:

    python benchmarks/live_answers.py --home HOME

`qa-bot serve` runs in a separate process over a copy of the home. The delay is the time from the POST of an answer to
the first reply of `POST /api/ask` with it, over new questions.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import Request, urlopen

WARM_UP = 2
PATIENCE = 60.0


def main() -> None:
    options = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(shutil.copytree(options.home, Path(folder) / "home"))
        with serving(home) as url:
            seconds = [live(url, number) for number in range(-WARM_UP, options.answers)][WARM_UP:]
    figures = {"answers": options.answers, "median_s": round(median(seconds), 3), "longest_s": round(max(seconds), 3)}
    print(json.dumps({**figures, "cores": os.cpu_count(), "load": os.getloadavg()[0]}))  # noqa: T201 (a tool run by hand)


def live(url: str, number: int) -> float:
    """Seconds until a new answer is served."""
    question, answer = f"Who was the {number}th zorblax of Quenmar?", f"The {number}th of them was called Ebbe."
    began = time.perf_counter()
    post(f"{url}api/owner/answers", question=question, answer=answer)
    while answer not in post(f"{url}api/ask", question=question)["answer"]:
        if time.perf_counter() - began > PATIENCE:
            raise SystemExit(f"Expected {answer!r} within {PATIENCE:g} s, but it was not served.")
    return time.perf_counter() - began


def post(url: str, **body: object) -> Any:
    with urlopen(Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})) as reply:
        return json.load(reply)


@contextmanager
def serving(home: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            listening = (re.search(r"listens on (\S+)", line) for line in server.stderr)
            yield next(match[1] for match in listening if match)
        finally:
            server.terminate()
            server.stderr.read()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--answers", type=int, default=15)
    return parser.parse_args()


if __name__ == "__main__":
    main()
