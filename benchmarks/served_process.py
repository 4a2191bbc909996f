"""A `qa-bot serve` in a separate process over a copy of a home, with its memory and descriptors.

`flood.py` and `soak.py` measure it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PATIENCE = 60.0
"""Seconds to wait for the start and the end of the service."""


@dataclass
class ServedProcess:
    process: subprocess.Popen[str]
    url: str
    home: Path
    log: Path

    def resident_mb(self) -> float:
        """Resident memory that belongs to the process alone, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        match = re.search(r"RssAnon:\s+(\d+) kB", status)
        assert match, "a Linux kernel since 4.5"
        return int(match[1]) * 1024 / 1e6

    def descriptors(self) -> int:
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/fd").iterdir())

    def threads(self) -> int:
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/task").iterdir())

    def logged_errors(self) -> int:
        """Lines of the log with an error or a traceback."""
        lines = self.log.read_text("utf-8").splitlines()
        return sum('"level":"error"' in line or "Traceback" in line for line in lines)


@contextmanager
def served(home: Path | None, *, settings: Mapping[str, str] = {}) -> Iterator[ServedProcess]:  # read only
    """Serve a copy of `home`, or a new home with the starter collection; stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="qa-bot-served-") as folder:
        copy, log = Path(folder) / "home", Path(folder) / "serve.log"
        if home is not None:
            shutil.copytree(home, copy)
        command = [sys.executable, "-m", "qa_bot", "--home", str(copy), "serve", "--port", "0"]
        with log.open("w") as err:
            process = subprocess.Popen(command, env={**os.environ, **settings}, stderr=err, text=True)
        try:
            yield ServedProcess(process, _url(process, log), copy, log)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def theil_sen(x: Sequence[float], y: Sequence[float]) -> float:
    """The median of the slopes between all pairs of points (Sen 1968); 0 for fewer than two."""
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    first, second = np.triu_indices(len(a), 1)
    return float(np.median((b[second] - b[first]) / (a[second] - a[first]))) if len(first) else 0.0


def percentiles_ms(seconds: Sequence[float]) -> dict[str, float]:
    """p50, p99 and maximum in milliseconds; empty without values."""
    values: Sequence[float] = (np.percentile(seconds, [50, 99, 100]) * 1000).tolist() if seconds else []
    return {name: round(float(value), 1) for name, value in zip(("p50", "p99", "max"), values, strict=False)}


def _url(process: subprocess.Popen[str], log: Path) -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        if match := re.search(r"^qa-bot listens on (\S+/)$", log.read_text("utf-8"), re.MULTILINE):
            return match[1]
        time.sleep(0.05)
    raise SystemExit(f"Expected the service to listen, but got: {log.read_text('utf-8')}")
