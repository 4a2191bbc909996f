"""Comparison of dense indexes over many real texts: build time, size, recall and search time. Run by hand:

    python benchmarks/dense_kinds.py "$QA_BOT_DATA/qa_pairs/jeopardy.jsonl.gz" --rows 100000
    python benchmarks/dense_kinds.py "$QA_BOT_DATA/qa_pairs/jeopardy.jsonl.gz" … --rows 1000000 --kinds ivf hnsw

Rows are the questions and answers of the pairs in order, encoded as titles of questions. Queries are further texts,
searched one at a time in one thread. Recall is measured against a scan of every row.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from qa_bot.home.encoders import resolve
from qa_core.types import FloatArray
from qa_lab.data.pairs import read_pairs
from retrievers.engines.local.dense import KINDS, SAME_SCORE, Kind
from retrievers.engines.local.dense_writer import build

NEAREST = 10
BATCH = 4_096


def main() -> None:
    options = _arguments()
    with tempfile.TemporaryDirectory(prefix="qa-bot-kinds-") as folder:
        encoder = resolve(options.encoder, models=Path(folder), threads=2)
        count = options.rows + options.queries
        texts = list(islice(_texts(options.data), count))
        if len(texts) < count:
            raise SystemExit(f"Expected {count:,} distinct texts, but got {len(texts):,}; give more data.")
        raw = np.memmap(Path(folder) / "raw", np.float32, "w+", shape=(count, encoder.dimension))
        started = time.perf_counter()
        for start in range(0, count, BATCH):
            raw[start : start + BATCH] = encoder.encode(texts[start : start + BATCH])
        encode_s = round(time.perf_counter() - started, 1)
        rows, queries = raw[options.queries :], np.array(raw[: options.queries])
        queries = queries[queries.any(axis=1)]
        truth, _ = build(Path(folder) / "truth", rows, kind="exact").search(queries, NEAREST)  # (Q, 10)
        for kind in options.kinds:
            figures = _measure(Path(folder) / kind, rows, queries, truth, kind)
            print(json.dumps({"rows": options.rows, "encode_s": encode_s, **figures}), flush=True)  # noqa: T201 (a tool run by hand)


def _measure(folder: Path, rows: FloatArray, queries: FloatArray, truth: FloatArray, kind: Kind) -> dict[str, Any]:
    started = time.perf_counter()
    index = build(folder, rows, kind=kind)
    built = time.perf_counter() - started
    index.search(queries[:1], NEAREST)
    scores, seconds = np.empty((len(queries), NEAREST), np.float32), []
    for i in range(len(queries)):
        started = time.perf_counter()
        scores[i] = index.search(queries[i : i + 1], NEAREST)[0][0]
        seconds.append(time.perf_counter() - started)
    p50, p99 = np.percentile(seconds, [50, 99]) * 1000
    hits = scores >= truth[:, -1:] - SAME_SCORE
    return {
        "kind": kind,
        "build_s": round(built, 1),
        "bytes_a_row": round(sum(file.stat().st_size for file in folder.iterdir()) / len(rows)),
        "recall@10": round(float(hits.mean()), 4),
        "p50_ms": round(float(p50), 2),
        "p99_ms": round(float(p99), 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def _texts(data: Sequence[Path]) -> Iterator[str]:
    pairs = read_pairs(data).examples
    yield from dict.fromkeys((*(pair.question for pair in pairs), *(pair.answer for pair in pairs)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", help="pairs, as `train dense` reads them")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--asked", dest="queries", type=int, default=1_000)
    parser.add_argument("--encoder", default="starter")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    return parser.parse_args()


if __name__ == "__main__":
    main()
