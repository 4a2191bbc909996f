import gzip
from pathlib import Path

import pytest

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.liveqa.off_topic import beside, draw_off_topic

HEAD = "qid\ttitle\tbody\tcategory"


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    folder = tmp_path / "liveqa"
    folder.mkdir()
    rows = [HEAD, "a\tWhich boat?\t\tSports", "b\tWhich pill?\tHelp\tDental", "c\tcut short", "d\t \t\tDogs"]
    (folder / "one.tsv").write_text("\r\n".join(rows), encoding="utf-8")
    old = "qid\tleaf_category\ttop_category\tdate\ttitle\tbody\n"
    old += "e\tOther\tHealth\t2013\tAn ache?\t\nf\tHistory\tArts\t2013\tWho was “king\u0085?\tTell me\n"
    old += "a\tDogs\tPets\t2013\tAgain?\t\n"
    (folder / "two.tsv.gz").write_bytes(gzip.compress(old.encode()))
    (folder / "README").write_text("no table", encoding="utf-8")
    return folder


def test_medical_cut_and_empty_ones_are_left_out(stream):
    drawn = {question.id: question for question in draw_off_topic(stream, 2)}
    assert set(drawn) == {"a", "f"}  # one id is one question
    assert (drawn["f"].title, drawn["f"].body, drawn["f"].category) == ("Who was “king\u0085?", "Tell me", "History")
    (one,) = draw_off_topic(stream / "one.tsv", 1)
    assert (one.id, one.title, one.category) == ("a", "Which boat?", "Sports")


def test_the_same_seed_draws_the_same(tmp_path):
    rows = [f"{i}\tQuestion {i}?\t\tDogs" for i in range(50)]
    table = tmp_path / "t.tsv"
    table.write_text("\n".join([HEAD, *rows]), encoding="utf-8")
    ids = [question.id for question in draw_off_topic(table, 10, seed=3)]
    table.write_text("\n".join([HEAD, *reversed(rows)]), encoding="utf-8")
    assert [question.id for question in draw_off_topic(table, 10, seed=3)] == ids
    assert [question.id for question in draw_off_topic(table, 10, seed=4)] != ids
    assert len(set(ids)) == 10


def test_impossible_samples_are_rejected(stream, tmp_path):
    with pytest.raises(DatasetError, match=r"Expected 3 off-topic questions .* but got 2"):
        draw_off_topic(stream, 3)
    with pytest.raises(DatasetError, match="name them by --off-topic"):
        draw_off_topic(tmp_path / "none", 1)
    with pytest.raises(DatasetError, match="name them by --off-topic"):
        draw_off_topic(tmp_path, 1)
    (stream / "one.tsv").write_text("id\tquestion\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"one.tsv:1: Expected the columns qid, title and category, but got id"):
        draw_off_topic(stream, 1)


def test_questions_lie_beside_the_data(tmp_path):
    assert beside(tmp_path / "judged") == tmp_path.resolve() / "liveqa"
