"""Peak resident memory of `add` over growing inputs, each in a fresh process.

    python benchmarks/add_memory.py [RECORDS] [--times N] [--words N]

Anonymous memory belongs to the writer; the kernel reclaims file-backed pages (libraries, mapped vectors) under memory
pressure. Short records fill buffers slowly: memory still grows toward its bound below 20,000 of them.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

MEASURED = """
import resource, sys, threading, time
from pathlib import Path
from qa_bot.documents.sync import add
from qa_bot.home.config import Config
from qa_bot.home.encoders import resolve
from qa_bot.home.folder import Home

peak = 0
def watch():
    global peak
    while True:
        status = Path("/proc/self/status").read_text()
        peak = max(peak, int(status.split("RssAnon:")[1].split()[0]))
        time.sleep(0.01)

threading.Thread(target=watch, daemon=True).start()
home = Home.open(Path(sys.argv[1]))
add(home, Config(), resolve("starter", models=home.models), [Path(sys.argv[2])])
print(peak // 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def write(source: Path, records: int, words: int) -> None:
    """Write records whose texts end with words drawn from 60,000, in a skewed distribution."""
    rng = random.Random(1)
    with source.open("w") as lines:
        for i in range(records):
            text = " ".join([f"It is number {i}.", *(f"word{int(60_000 * rng.random() ** 3)}" for _ in range(words))])
            lines.write(json.dumps({"_id": str(i), "title": f"Record {i}", "text": text}) + "\n")


def measure(records: int, words: int) -> tuple[int, int]:
    """Peak anonymous and total resident memory in MB."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "records.jsonl"
        write(source, records, words)
        command = [sys.executable, "-c", MEASURED, f"{name}/home", str(source)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    anonymous, total = map(int, output.split())
    return anonymous, total


def main() -> None:
    parser = argparse.ArgumentParser(description="Peak memory of `add` over growing inputs.")
    parser.add_argument("records", nargs="?", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=10, help="factor of records in the second run")
    parser.add_argument("--words", type=int, default=0, help="words of a text after its number")
    options = parser.parse_args()
    for count in (options.records, options.times * options.records):
        anonymous, total = measure(count, options.words)
        print(f"{count:>9,} records: {anonymous} MB anonymous, {total} MB in total")  # noqa: T201 (a tool run by hand)


if __name__ == "__main__":
    main()
