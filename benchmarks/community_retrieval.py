"""Community retrieval as in Wang (2018, tables 3.1 and 3.2): search for the answers of held-out questions.

    python benchmarks/community_retrieval.py --data DIR [--limit PAIRS] [--steps N] [--rows NAME,…] [--json]

`hybrid` is the in-vocabulary rule over BM25 and the last trained row before it, `fused` is their reciprocal rank
fusion. `starter` and `starter-slam` are the shipped static encoder before and after training; the other trained rows
are BiLSTMs.

A hash of the question holds out a tenth for the test and a fiftieth to select the best epoch. The candidates are the
distinct answers of the test questions. All trained rows take `--steps` steps; a row with |T| negatives has batches of
|T| + 1. With `--equal pairs`, all rows see as many pairs as in batches of 2,000, small batches in more steps. E_pre
comes from the starter encoder instead of fastText. Only a temporary folder is written.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from community_report import Line, by_parts, row_json, table

from qa_core.text.analysis import terms
from qa_core.training.loop import Progress
from qa_lab.data.pairs import read_pairs
from qa_lab.evaluate.community.systems import (
    FUSED,
    ROWS,
    STATIC,
    TRAINED,
    UNIT,
    Bench,
    Options,
    in_vocabulary,
    ranked_by,
)
from qa_lab.evaluate.community.task import SETS, Task, sampled
from retrievers.training.encoders.word_tower import CPU


def line(name: str, bench: Bench) -> Line:
    """Compute a row, with progress on standard error."""
    seen: list[Progress] = []

    def on_progress(progress: Progress) -> None:
        seen.append(progress)
        if progress.dev is not None:
            figures = f"epoch {progress.epoch}, loss {progress.loss:.3f}, dev {progress.dev:.3f}"
            print(f"{name}: {figures}, {progress.examples_per_second:.0f} pairs/s", file=sys.stderr)  # noqa: T201 (a tool run by hand)

    with peak_memory() as peak:
        start = time.perf_counter()
        ranked = ranked_by(name, bench, on_progress)
        seconds = time.perf_counter() - start
    rate = float(np.mean([p.examples_per_second for p in seen])) if seen else None
    best = max((p.epoch for p in seen if p.best), default=0)
    return Line(name, bench.task.measured(ranked), seconds, rate, peak[0] // 1024, best)


@contextmanager
def peak_memory() -> Iterator[list[int]]:
    """Peak anonymous memory of this process in kB; 0 if the system does not report it."""
    peak, over, status = [0], threading.Event(), Path("/proc/self/status")

    def watch() -> None:
        while status.exists() and not over.wait(0.05):
            peak[0] = max(peak[0], int(status.read_text().split("RssAnon:")[1].split()[0]))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def by_vocabulary(lines: Sequence[Line], bench: Bench) -> str:
    """R@1000 and MRR of BM25, the last dense row and their fusions, by whether all words are known."""
    known = {str(number) for number in in_vocabulary(bench)}
    every = set(map(str, bench.task.queries))
    shown = [row for row in lines if row.name in ("bm25", bench.dense_name, *FUSED)]
    return by_parts(shown, {"in vocabulary": known, "out of it": every - known, "all": every}, "R@1000")


def by_overlap(lines: Sequence[Line], task: Task) -> str:
    """R@100 and MRR by the share of the words of a question that its answers contain."""
    right = task.test.right()
    parts: dict[str, set[str]] = {"no common word": set(), "under half": set(), "half or more": set()}
    for number in task.queries:
        query = set(terms(task.test.questions[number]))
        shared = max(len(query & set(terms(task.test.answers[answer]))) for answer in right[number])
        part = "no common word" if not shared else "under half" if 2 * shared < len(query) else "half or more"
        parts[part].add(str(number))
    return by_parts(lines, parts, "R@100")


def as_json(lines: Sequence[Line], bench: Bench, options: argparse.Namespace) -> str:
    task = bench.task
    known = {str(number) for number in in_vocabulary(bench)} if bench.tower else set()
    unknown = set(map(str, task.queries)) - known
    summary = {
        "pairs": {"train": len(task.train), "dev": len(task.dev), "test": len(task.test)},
        "queries": len(task.queries),
        "in_vocabulary": len(known),
        "candidates": len(task.test.answers),
        "options": {name: str(value) for name, value in vars(options).items()},
        "machine": platform.processor() or platform.machine(),
        "rows": [row_json(row, known, unknown) for row in lines],
    }
    return json.dumps(summary, indent=2)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Community retrieval as in Wang (2018).")
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--sets", default=",".join(SETS), help="its files, separated by commas")
    parser.add_argument("--limit", type=int, help="pairs, drawn from all sets")
    parser.add_argument("--queries", type=int, default=5000, help="held-out questions, at most")
    parser.add_argument("--steps", type=int, default=300, help="per trained row")
    parser.add_argument("--equal", choices=("steps", "pairs"), default="steps", help=f"pairs: {UNIT:,} per step")
    parser.add_argument("--hidden", type=int, default=CPU.hidden, help="of the BiLSTM, per direction")
    parser.add_argument("--tokens", type=int, default=CPU.max_tokens, help="words of a text that are read")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate of the towers")
    parser.add_argument("--pretrained", choices=("starter", "none"), default="starter", help="E_pre")
    parser.add_argument("--rows", default=",".join(ROWS), help="separated by commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    options.rows = options.rows.split(",")
    if unknown := [name for name in options.rows if name not in ROWS]:
        parser.error(f"expected rows among {', '.join(ROWS)}, but got {', '.join(unknown)}")
    towers = TRAINED.keys() | STATIC.keys()
    for fused in set(FUSED).intersection(options.rows):
        if not towers.intersection(options.rows[: options.rows.index(fused)]):
            parser.error(f"expected a dense row ({', '.join(sorted(towers))}) before {fused}, but got none")
    return options


def sizes(options: argparse.Namespace) -> Options:
    names = ("steps", "equal", "hidden", "tokens", "rate", "pretrained", "seed", "device")
    return Options(**{name: getattr(options, name) for name in names})


def main() -> None:
    options = parsed()
    torch.set_num_threads(options.threads)
    read = read_pairs([options.data / name for name in options.sets.split(",")])
    task = Task(sampled(read.examples, options.limit, options.seed), queries=options.queries, seed=options.seed)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(task, sizes(options), Path(folder))
        lines = [line(name, bench) for name in options.rows]
    if options.json:
        print(as_json(lines, bench, options))  # noqa: T201 (a tool run by hand)
        return
    print(  # noqa: T201 (a tool run by hand)
        f"{len(task.train):,} training pairs, {len(task.dev):,} for selection; {len(task.queries):,} questions, "
        f"{len(task.test.answers):,} candidates; equal {options.equal}, seed {options.seed}\n"
    )
    print(table(lines))  # noqa: T201 (a tool run by hand)
    if bench.tower is not None:
        print(f"\n{by_vocabulary(lines, bench)}")  # noqa: T201 (a tool run by hand)
    print(f"\n{by_overlap(lines, task)}")  # noqa: T201 (a tool run by hand)


if __name__ == "__main__":
    main()
