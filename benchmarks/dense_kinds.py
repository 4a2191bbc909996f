"""The kinds of dense indexes over many real texts: time to build, size, recall and time to ask. Run by hand:

    python benchmarks/dense_kinds.py "$QA_BOT_DATA/qa_pairs/jeopardy.jsonl.gz" --rows 100000
    python benchmarks/dense_kinds.py "$QA_BOT_DATA/qa_pairs/jeopardy.jsonl.gz" … --rows 1000000 --kinds ivf hnsw

Rows are the questions and answers of the pairs in their order, encoded as a question's title would be; those asked are
further ones, one at a time in one thread. Recall is against a scan of every row.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from qa_bot.home.encoders import resolve
from qa_core.types import FloatArray
from qa_lab.train.data.pairs import read_pairs
from retrievers.engines.local import dense

NEAREST = 10
AT_ONCE = 4_096


def main() -> None:
    given = _arguments()
    with tempfile.TemporaryDirectory(prefix="qa-bot-kinds-") as folder:
        encoder = resolve(given.encoder, models=Path(folder), threads=2)
        wanted = given.rows + given.asked
        texts = list(islice(_texts(given.data), wanted))
        if len(texts) < wanted:
            raise SystemExit(f"Expected {wanted:,} distinct texts, but got {len(texts):,}; give more data.")
        raw = np.memmap(Path(folder) / "raw", np.float32, "w+", shape=(wanted, encoder.dimension))
        started = time.perf_counter()
        for start in range(0, wanted, AT_ONCE):
            raw[start : start + AT_ONCE] = encoder.encode(texts[start : start + AT_ONCE])
        encoded = time.perf_counter() - started
        rows, asked = raw[given.asked :], np.array(raw[: given.asked])
        asked = asked[asked.any(axis=1)]
        truth = _truth(Path(folder) / "exact", rows, asked)
        for kind in given.kinds:
            told = _measured(Path(folder) / kind, rows, asked, truth, kind)
            print(json.dumps({"rows": given.rows, "encode_s": round(encoded, 1), **told}), flush=True)  # noqa: T201 (a tool run by hand)


def _measured(folder: Path, rows: FloatArray, asked: FloatArray, truth: FloatArray, kind: dense.Kind) -> dict[str, Any]:
    started = time.perf_counter()
    index = dense.build(folder, rows, kind=kind)
    built = time.perf_counter() - started
    index.search(asked[:1], NEAREST)
    found, seconds = np.empty((len(asked), NEAREST), np.float32), []
    for i in range(len(asked)):
        started = time.perf_counter()
        found[i] = index.search(asked[i : i + 1], NEAREST)[0][0]
        seconds.append(time.perf_counter() - started)
    p50, p99 = np.percentile(seconds, [50, 99]) * 1000
    hits = found >= truth[:, -1:] - dense.SAME_SCORE
    return {
        "kind": kind,
        "build_s": round(built, 1),
        "bytes_a_row": round(sum(file.stat().st_size for file in folder.iterdir()) / len(rows)),
        "recall@10": round(float(hits.mean()), 4),
        "p50_ms": round(float(p50), 2),
        "p99_ms": round(float(p99), 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def _truth(folder: Path, rows: FloatArray, asked: FloatArray) -> FloatArray:
    """The scores of the truly nearest, (Q, 10)."""
    scores, _ = dense.build(folder, rows, kind="exact").search(asked, NEAREST)
    return scores


def _texts(data: Sequence[Path]) -> Iterator[str]:
    pairs = read_pairs(data).pairs
    questions, answers = (pair.question for pair in pairs), (pair.answer for pair in pairs)
    seen: set[str] = set()
    for text in (*questions, *answers):
        if text not in seen:
            seen.add(text)
            yield text


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", help="pairs, as `train dense` reads them")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--asked", type=int, default=1_000)
    parser.add_argument("--encoder", default="starter")
    parser.add_argument("--kinds", nargs="+", choices=dense.KINDS, default=list(dense.KINDS))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
