"""Seconds and memory of a sync over many unchanged files.

    python benchmarks/sync_unchanged.py [--files 100000]

A separate process adds a folder of small text files, another one synchronises it twice: once with files that are as
young as the folder, once more as every later run. Memory is the largest resident size of that process. On a busy
machine the processor's seconds count.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER_SIZE = 500
"""Files a folder."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--home", type=Path, help="Where a child process works.")
    parser.add_argument("--step", choices=["add", "sync"])
    arguments = parser.parse_args()
    if arguments.step:
        run(arguments.step, arguments.home)
        return
    with tempfile.TemporaryDirectory(prefix="qa-bot-sync-") as name:
        root = Path(name)
        make(root / "docs", arguments.files)
        for step in ("add", "sync", "sync"):
            command = [sys.executable, __file__, "--home", str(root), "--step", step]
            subprocess.run(command, check=True)


def make(folder: Path, count: int) -> None:
    for start in range(0, count, FOLDER_SIZE):
        below = folder / f"{start // FOLDER_SIZE:04d}"
        below.mkdir(parents=True)
        for number in range(start, min(count, start + FOLDER_SIZE)):
            (below / f"{number}.txt").write_text(f"Note {number} says that part {number * 7919 % count} is in stock.\n")


def run(step: str, root: Path) -> None:
    from qa_bot.cli.app import run as qa_bot

    started = time.perf_counter()
    arguments = ["add", str(root / "docs")] if step == "add" else ["sync"]
    code = qa_bot(["--home", str(root / "home"), *arguments, "--json"])
    usage = resource.getrusage(resource.RUSAGE_SELF)
    figures = {
        "step": step,
        "code": code,
        "seconds": round(time.perf_counter() - started, 2),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "megabytes": round(usage.ru_maxrss / 1024),
    }
    sys.stderr.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
