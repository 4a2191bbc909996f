"""A data folder with answer selection in four questions, and a table over it."""

from pathlib import Path

import pytest

from qa_lab.papers.declarations import NOT_IMPLEMENTED, Evaluated, PaperRow, Table, Trained

ROWS = [
    ("1", "why do cats sleep", "cats sleep to save energy", 1),
    ("1", "why do cats sleep", "dogs bark at night", 0),
    ("2", "where do owls live", "owls live in trees", 0),
    ("2", "where do owls live", "high up in the woods", 1),
    ("3", "what do bees make", "bees make honey", 1),
    ("3", "what do bees make", "bread is baked", 0),
    ("4", "who sings at night", "the nightingale sings at night", 1),
    ("4", "who sings at night", "stones are hard", 0),
]
FILE = "toy/answers.tsv"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data" / FILE
    path.parent.mkdir(parents=True)
    path.write_text("qid\tquestion\tanswer\tlabel\n" + "".join("\t".join(map(str, row)) + "\n" for row in ROWS))
    return tmp_path / "data"


def bm25(row: str = "BM25", path: str = FILE) -> Evaluated:
    return Evaluated("answers", path, row, {"MAP": "AP"})


def trained(**settings: object) -> Trained:
    values = {"hyper": {"projection": 4}, "pairs": {"epochs": 1}, **settings}
    return Trained("hyperqa", (FILE,), values, {"pairs": {"epochs": 1}}, dev=FILE)


@pytest.fixture
def table() -> Table:
    return Table(
        "T 6.3",
        "Toy answers",
        "Toy data.",
        ("MAP",),
        (
            PaperRow("BM25", {"MAP": 0.637}, bm25()),
            PaperRow("another", {"MAP": 0.7}),
            PaperRow("missing", {}, bm25(path="toy/none.tsv"), NOT_IMPLEMENTED),
            PaperRow("unknown row", {}, bm25("no such row")),
        ),
    )
