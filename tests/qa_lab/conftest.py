"""Tiny judged collections in both BEIR layouts, and an encoder whose words are the axes of its space."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest

from qa_core.encoders.mapped_tensors import write_tensors

CORPUS = (
    {"_id": "d1", "title": "", "text": "cats cats sleep"},
    {"_id": "d2", "title": "", "text": "cats run"},
    {"_id": "d3", "title": "", "text": "boats float"},
)
QUERIES = (
    {"_id": "q1", "title": "cats", "body": "", "summary": "Do cats run?"},
    {"_id": "q2", "title": "boats", "body": "Do boats float?", "summary": "boats"},
    {"_id": "q3", "title": "nobody judged this"},
)
QRELS = {"q1": {"d2": 3}, "q2": {"d3": 1}}


def write_lines(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def write_qrels(path: Path, qrels: Mapping[str, Mapping[str, int]]) -> None:
    path.parent.mkdir(exist_ok=True)
    rows = [f"{query}\t{document}\t{grade}\n" for query, of in qrels.items() for document, grade in of.items()]
    path.write_text("query-id\tcorpus-id\tscore\n" + "".join(rows), encoding="utf-8")


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test looks into the home of who runs it."""
    monkeypatch.setenv("QA_BOT_HOME", str(tmp_path / "own-home"))


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    folder.mkdir()
    write_lines(folder / "corpus.jsonl", CORPUS)
    write_lines(folder / "dev.queries.jsonl", QUERIES)
    write_qrels(folder / "dev.qrels.tsv", QRELS)
    return folder


@pytest.fixture
def published(tmp_path: Path) -> Path:
    folder = tmp_path / "published"
    folder.mkdir()
    write_lines(folder / "corpus.jsonl", CORPUS)
    write_lines(folder / "queries.jsonl", ({"_id": "q1", "text": "cats"}, {"_id": "q2", "text": "boats float"}))
    write_qrels(folder / "qrels" / "test.tsv", {"q1": {"d2": 1}})
    write_qrels(folder / "qrels" / "train.tsv", {"q2": {"d3": 1}})
    return folder


@pytest.fixture
def axes(word_pieces: Path) -> Path:
    """A static encoder: each of `TINY_WORDS` is a distinct unit vector, and special tokens are zero."""
    size = 12
    vectors = np.eye(size, dtype=np.float32)
    vectors[:4] = 0
    write_tensors(word_pieces / "model.safetensors", {"vectors": vectors})
    (word_pieces / "config.json").write_text(json.dumps({"kind": "static", "dimension": size}), encoding="utf-8")
    return word_pieces
