import json

import pytest

from qa_lab.evaluate.community import pools
from qa_lab.evaluate.community.pools import part_of, write_pools
from retrievers.training.examples import Pair

PAIRS = [
    ("where do owls live", "owls live in trees"),
    ("where do bears live", "bears live in caves"),
    ("who is this", "nobody knows"),
]


@pytest.fixture
def pairs_file(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps({"question": q, "answer": a}) + "\n" for q, a in PAIRS))
    return path


def test_pools_of_the_first_passages(pairs_file, tmp_path, monkeypatch):
    """Two questions share a word with their own answer and with the other's; no answer has a word of the third."""
    monkeypatch.setattr(pools, "part_of", lambda pair: "train" if "owls" in pair.question else "test")
    assert write_pools(pairs_file, tmp_path, 2) == {"0": 1.0, "1": 1.0, "2": 0.0}
    assert (tmp_path / "train.tsv").read_text().splitlines() == [
        "qid\tquestion\tanswer\tlabel",
        "0\twhere do owls live\towls live in trees\t1",
        "0\twhere do owls live\tbears live in caves\t0",
    ]
    assert len((tmp_path / "dev.tsv").read_text().splitlines()) == 1
    assert write_pools(pairs_file, tmp_path / "one", 1, limit=1) == {"0": 1.0}


def test_parts_have_three_fifths_and_a_fifth_each():
    parts = [part_of(Pair(f"question {number}", "")) for number in range(2_000)]
    assert [round(parts.count(part) / 2_000, 1) for part in ("train", "dev", "test")] == [0.6, 0.2, 0.2]
