import pytest

from qa_bot.home.store import StoredDocument
from qa_core.types import Question
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.evaluation_home import evaluation_home
from qa_lab.evaluate.known_item import drawn, evaluate_known_item

PAIRS = (
    '{"_id": "p1", "question": "Why do cats purr?", "answer": "They are at ease."}\n'
    '{"_id": "p2", "question": "Why do cats purr?", "answer": "To heal."}\n'
    '{"_id": "p3", "question": "Why do cats sleep?", "answer": "They hunt at dawn, as cats do, cats, cats."}\n'
    '{"_id": "p4", "question": "How do boats float?", "answer": "They weigh less than the water they push away."}\n'
)


def stored(number, title):
    return StoredDocument(number, "tiny", f"d{number}", title, "", "", "", "", ())


def test_only_titles_that_stand_once_are_drawn():
    documents = [stored(1, "What is flu?"), stored(2, "Colds"), stored(3, "what  is FLU?"), stored(4, " ")]
    assert drawn(documents, 10, seed=0) == [Question("Colds", id="d2")]


def test_a_sample_depends_on_its_seed_alone():
    documents = [stored(number, f"title {number}") for number in range(100)]
    first, again, other = (drawn(documents, 10, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({question.id for question in first}) == 10


def test_no_unique_title():
    with pytest.raises(DatasetError, match="got 2 titles and no unique one"):
        drawn([stored(1, "Colds"), stored(2, "colds")], 10, seed=0)


def test_titles_find_their_documents(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text(PAIRS)
    rows = evaluate_known_item(path)
    assert [(row.engine, row.queries) for row in rows] == [("plain", 2), ("keyword", 2), ("dense", 2), ("hybrid", 2)]
    for row in rows:
        assert row.scores["RR"].per_query == {"p3": 1.0, "p4": 1.0}
        assert row.scores["R@100"].mean == 1.0
    assert rows[3].versus.difference == 0


def test_a_home_is_measured_unchanged(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text(PAIRS)
    with evaluation_home([path], collection="tiny", home=tmp_path / "kept"):
        pass
    (row,) = evaluate_known_item(tmp_path / "kept", engines=["plain"], limit=1)
    assert row.queries == 1
    assert row.data == "kept"


def test_data_that_is_not_there(tmp_path):
    with pytest.raises(DatasetError, match="which does not exist"):
        evaluate_known_item(tmp_path / "gone.zip")
