"""How soon an answer that the owner adds is given. Run by hand:

    python benchmarks/live_answers.py --home HOME

`qa-bot serve` runs as a process of its own over a copy of the home. Seconds count from the POST of an answer to the
reply to `POST /api/ask` that gives it, over questions that nobody asked before.
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
    given = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(shutil.copytree(given.home, Path(folder) / "home"))
        with serving(home) as url:
            seconds = [live(url, number) for number in range(-WARM_UP, given.answers)][WARM_UP:]
    found = {"answers": given.answers, "median_s": round(median(seconds), 3), "longest_s": round(max(seconds), 3)}
    print(json.dumps({**found, "cores": os.cpu_count(), "load": os.getloadavg()[0]}))  # noqa: T201 (a tool run by hand)


def live(url: str, number: int) -> float:
    """Seconds until the answer to a question that has none is given."""
    question, answer = f"Who was the {number}th zorblax of Quenmar?", f"The {number}th of them was called Ebbe."
    began = time.perf_counter()
    post(f"{url}api/owner/answers", question=question, answer=answer)
    while answer not in post(f"{url}api/ask", question=question)["answer"]:
        if time.perf_counter() - began > PATIENCE:
            raise SystemExit(f"Expected {answer!r} within {PATIENCE:g} s, but it did not come.")
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
            yield next(found[1] for found in listening if found)
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
