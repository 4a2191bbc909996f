"""Every write point of every operation, with every kind of fault: `make faults`.

    python -m tests.faults.sweep [--operations NAME,…] [--kinds KIND,…] [--sample N] [--folder PATH] [--json FILE]

Prints a table of operations and kinds, and exits 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.faults.disk import compiled

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
    parser.add_argument("--json", type=Path, help="file for all outcomes")
    options = parser.parse_args(arguments)
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
    from tests.faults.points import KINDS, Bench, Outcome
    from tests.faults.stage import adding, operations, workplace_in

    folder = Path(os.environ[PRELOADED])
    workplace = workplace_in(folder / "workplace")
    bench = Bench(workplace, folder / "bench")
    kinds = tuple(kind for kind in KINDS if not options.kinds or kind in options.kinds.split(","))
    outcomes: list[Outcome] = []
    show(f"{'operation':<12}{'points':>7}  " + "".join(f"{kind:>16}" for kind in kinds))
    chosen = operations(options.operations.split(",") if options.operations else ())
    for operation in [adding(options.folder)] if options.folder else chosen:
        total = bench.count(operation)
        points = _chosen(total, options.sample)
        struck = [outcome for point in points for outcome in bench.strike_all(operation, kinds, point)]
        outcomes += struck
        cells = (_cell([outcome for outcome in struck if outcome.kind == kind]) for kind in kinds)
        show(f"{operation.name:<12}{total:>7}  " + "".join(f"{cell:>16}" for cell in cells))
        for outcome in struck:
            if outcome.faults:
                show(f"    {outcome.kind} at {outcome.point}, exit {outcome.code}: {'; '.join(outcome.faults)}")
    if options.json:
        options.json.write_text(json.dumps([outcome.as_dict() for outcome in outcomes], indent=1))
    shutil.rmtree(folder / "bench", ignore_errors=True)
    return int(any(outcome.faults for outcome in outcomes))


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


def _cell(outcomes: Sequence[object]) -> str:
    """Outcomes as `old/new/bad`."""
    bad = sum(bool(outcome.faults) for outcome in outcomes)  # type: ignore[attr-defined]
    old = sum(outcome.left == "before" for outcome in outcomes)  # type: ignore[attr-defined]
    return f"{old}+{len(outcomes) - old}" + (f" {bad} bad" if bad else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
