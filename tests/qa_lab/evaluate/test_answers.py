import os
import random
from pathlib import Path

import numpy as np
import pytest

from qa_bot.answering.models.ranker_loading import RankerError
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate import answers
from qa_lab.evaluate.answers import by_keywords, evaluate_answers
from rankers.training.answer_pool import AnswerSet

ROWS = [
    ("1", "why do cats sleep", "cats sleep to save energy", 1),
    ("1", "why do cats sleep", "dogs bark at night", 0),
    ("2", "where do owls live", "bread is baked", 0),
    ("2", "where do owls live", "owls live in trees", 1),
    ("3", "who is this", "nobody", 0),
]


@pytest.fixture
def rows_file(tmp_path: Path):
    def write(rows=ROWS, name: str = "rows.tsv") -> Path:
        path = tmp_path / name
        path.write_text("qid\tquestion\tanswer\tlabel\n" + "".join("\t".join(map(str, row)) + "\n" for row in rows))
        return path

    return write


def test_keywords_and_an_encoder(rows_file):
    first, second = evaluate_answers(rows_file(), encoders=["starter"])
    assert (first.engine, second.engine, second.encoder) == ("BM25", "cosine", "starter")
    assert first.scores["AP"].mean == second.scores["AP"].mean == 1
    assert first.queries == 2
    assert second.versus is not None


def test_bm25_of_a_hand_worked_pair():
    """N = 3, each of two terms in one answer: idf ln 2.5 − ln 1.5; lengths 2, 2, 2 of stems: the damping is k1."""
    sets = [AnswerSet("cats sleep", ("cats sleep", "owls hunt", "bees fly"), (True, False, False))]
    idf = np.log(2.5) - np.log(1.5)
    np.testing.assert_allclose(by_keywords(sets), [2 * idf * 2.2 / 2.2, 0, 0], rtol=1e-6)


def test_which_questions_count(rows_file):
    path = rows_file([*ROWS, ("4", "what now", "this", 1)])
    means = {keep: evaluate_answers(path, keep=keep)[0] for keep in ("both", "positive", "all")}
    assert {keep: row.queries for keep, row in means.items()} == {"both": 2, "positive": 3, "all": 4}
    assert evaluate_answers(rows_file(ROWS[::-1], "turned.tsv"), limit=2)[0].queries == 2  # after one without answer
    assert means["all"].scores["AP"].mean == pytest.approx(0.75)  # one question has no right answer
    with pytest.raises(TrainingDataError, match="none is left by --keep both; keep more"):
        evaluate_answers(rows_file(ROWS[:1], "one.tsv"))


def test_short_answers_of_the_questions_with_both_labels(rows_file):
    """The protocol of Wang (2018): a question whose right answers are all too long is never answered."""
    long = " ".join(["owls live in trees"] * 10 + ["too"])  # 41 words
    rows = [*ROWS, ("4", "where do owls live now", long, 1), ("4", "where do owls live now", "bread is baked", 0)]
    (row,) = evaluate_answers(rows_file(rows), keep="short")
    assert row.queries == 3
    assert row.scores["AP"].mean == pytest.approx(2 / 3)
    assert row.scores["AP"].mean < evaluate_answers(rows_file(rows), keep="both")[0].scores["AP"].mean == 1.0


def test_the_order_of_the_file_is_no_matter(rows_file, monkeypatch: pytest.MonkeyPatch):
    """By a constant score right answers that stand first are found no earlier than others."""
    rows = [(str(q), f"question {q}", f"answer {q} {index}", int(index == 0)) for q in range(300) for index in range(4)]
    monkeypatch.setattr(answers, "by_keywords", lambda sets: np.zeros(sum(len(s.answers) for s in sets), np.float32))
    (first,) = evaluate_answers(rows_file(rows))
    assert first.scores["AP"].mean == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, abs=0.06)
    random.Random(0).shuffle(rows)
    (second,) = evaluate_answers(rows_file(rows))
    assert first.scores["AP"].per_query == second.scores["AP"].per_query


def test_a_folder_without_a_ranker(rows_file, tmp_path: Path):
    with pytest.raises(RankerError, match="name the --out of a `qa-bot train`"):
        evaluate_answers(rows_file(), models=[tmp_path])


@pytest.mark.parametrize(
    ("name", "expected", "near"), [("trecqa/raw-dev.tsv", 0.45, 0.02), ("wikiqa/dev.tsv", 0.38, 0.03)]
)
def test_a_constant_score_on_real_data_is_a_random_one(name: str, expected: float, near: float, monkeypatch):
    data = Path(os.environ.get("QA_BOT_DATA", "../shared/data")) / name
    if not data.is_file():
        pytest.skip(f"no {data}; set QA_BOT_DATA to the folder with the data sets")
    monkeypatch.setattr(answers, "by_keywords", lambda sets: np.zeros(sum(len(s.answers) for s in sets), np.float32))
    assert evaluate_answers(data)[0].scores["AP"].mean == pytest.approx(expected, abs=near)
