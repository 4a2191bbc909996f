"""Does an `add` of three times as many records need more memory? Peak resident memory of each in a fresh process.

    python tests/benchmarks/add_memory.py [RECORDS]

Anonymous memory is the writer's own; file-backed pages (mapped vectors, the page cache of others) are given back by the
kernel as soon as somebody wants the room.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MEASURED = """
import resource, sys, threading, time
from pathlib import Path
from qa_bot.changes import add
from qa_bot.config import Config
from qa_bot.encoders import resolve
from qa_bot.home import Home

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


def measure(records: int) -> tuple[int, int]:
    """Peak anonymous and whole resident memory in MB."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "records.jsonl"
        with source.open("w") as lines:
            for i in range(records):
                lines.write(json.dumps({"_id": str(i), "title": f"Record {i}", "text": f"It is number {i}."}) + "\n")
        command = [sys.executable, "-c", MEASURED, f"{name}/home", str(source)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    anonymous, whole = map(int, told.split())
    return anonymous, whole


def main() -> None:
    parser = argparse.ArgumentParser(description="Peak memory of `add` over growing inputs.")
    parser.add_argument("records", nargs="?", type=int, default=20_000)
    records = parser.parse_args().records
    for count in (records, 3 * records):
        anonymous, whole = measure(count)
        print(f"{count:>9,} records: {anonymous} MB anonymous, {whole} MB in all")  # noqa: T201 (a tool run by hand)


if __name__ == "__main__":
    main()
