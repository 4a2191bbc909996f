"""Every write point of every operation, with every kind of fault: `make faults`.

    python -m tests.faults.sweep [--operations NAME,…] [--kinds KIND,…] [--sample N] [--folder PATH] [--seconds N]
        [--json FILE [--resume]]

Prints what is wrong and a table of operations and kinds, and exits 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from pathlib import Path

from tests.faults.disk import compiled
from tests.faults.outcomes import add, begin, recorded, table

PRELOADED = "FAULTS_FOLDER"
LATE = 40
"""Points."""
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "QA_BOT_DENSE__IMPROVE": "false", "TOKENIZERS_PARALLELISM": "false"}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Strike every write point of every operation.")
    parser.add_argument("--operations", default="", help="names, with commas; all by default")
    parser.add_argument("--kinds", default="", help="kinds of faults, with commas; all by default")
    parser.add_argument("--sample", type=int, default=0, help="at most so many points an operation, by a fixed seed")
    parser.add_argument("--folder", type=Path, help="only `add` of this folder, with --sample points")
    parser.add_argument("--seconds", type=float, default=inf, help="after which no further point is struck")
    parser.add_argument("--json", type=Path, help="file to which every outcome is added as a line")
    parser.add_argument("--resume", action="store_true", help="go on with --json; what was wrong is struck again")
    options = parser.parse_args(arguments)
    if options.resume and not options.json:
        parser.error("Expected --json with --resume.")
    if PRELOADED not in os.environ:
        return _preloaded(arguments)
    return _sweep(options)


def _preloaded(arguments: Sequence[str]) -> int:
    """Run this module again with the library preloaded."""
    with tempfile.TemporaryDirectory(prefix="qa-bot-faults-") as folder:
        library = compiled(Path(folder))
        environment = {**os.environ, **ENVIRONMENT, "LD_PRELOAD": str(library), PRELOADED: folder}
        command = [sys.executable, "-m", "tests.faults.sweep", *arguments]
        return subprocess.run(command, env=environment, check=False).returncode


def _sweep(options: argparse.Namespace) -> int:
    from tests.faults.points import KINDS, Bench
    from tests.faults.stage import adding, operations, workplace_in

    folder = Path(os.environ[PRELOADED])
    workplace = workplace_in(folder / "workplace")
    bench = Bench(workplace, folder / "bench")
    kinds = tuple(kind for kind in KINDS if not options.kinds or kind in options.kinds.split(","))
    names = options.operations.split(",") if options.operations else ()
    chosen = {one.name: one for one in ([adding(options.folder)] if options.folder else operations(names))}
    totals = {name: bench.count(operation) for name, operation in chosen.items()}
    end = time.monotonic() + options.seconds
    rows = recorded(options.json, totals) if options.resume else []
    if options.json:
        begin(options.json, rows)
    rows = [row for row in rows if row["operation"] in totals]
    known = {(row["operation"], row["point"], row["kind"]) for row in rows}
    for name, point in _spread(totals, options.sample):
        left = tuple(kind for kind in kinds if (name, point, kind) not in known)
        if not left or time.monotonic() >= end:
            continue
        outcomes = bench.strike_all(chosen[name], left, point)
        struck = [{**outcome.as_dict(), "points": totals[name]} for outcome in outcomes]
        rows += struck
        if options.json:
            add(options.json, struck)
    for row in rows:
        if row["faults"]:
            show(f"{row['operation']}, {row['kind']} at {row['point']}, exit {row['code']}: {'; '.join(row['faults'])}")
    show("\n".join(table(rows, totals, kinds)))
    shutil.rmtree(folder / "bench", ignore_errors=True)
    return int(any(row["faults"] for row in rows))


def show(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _chosen(total: int, most: int) -> Iterable[int]:
    """All points, or a sample: half of it from the last ones, where changes become visible."""
    if not most or total <= most:
        return range(1, total + 1)
    generator = random.Random(total)
    late = generator.sample(range(max(1, total - LATE) + 1, total + 1), min(LATE, most - most // 2))
    rest = [point for point in range(1, total + 1) if point not in late]
    return sorted([*late, *generator.sample(rest, most - len(late))])


def _spread(totals: Mapping[str, int], most: int) -> list[tuple[str, int]]:
    """Points of all operations in a random order by a fixed seed: a sweep that is stopped has struck each of them."""
    points = [(name, point) for name, total in totals.items() for point in _chosen(total, most)]
    return random.Random(len(points)).sample(points, len(points))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
