"""The keyword engine against published figures of Lucene's BM25; skipped where the data is not at hand."""

import os
from pathlib import Path

import pytest

from qa_lab.evaluate.datasets import read_dataset
from qa_lab.evaluate.retrieval import evaluate_retrieval

DATA = Path(os.environ.get("QA_BOT_DATA", "../shared/data")) / "ir"


@pytest.mark.skipif(not DATA.is_dir(), reason=f"needs {DATA}: set QA_BOT_DATA to the folder of the data")
@pytest.mark.slow
def test_plain_bm25_over_cranfield():
    (row,) = evaluate_retrieval(read_dataset(DATA / "cranfield"), engines=["plain"])
    assert row.queries == 225
    assert row.scores["AP"].mean == pytest.approx(0.296, abs=0.01)
    assert row.scores["nDCG@10"].mean == pytest.approx(0.376, abs=0.01)
