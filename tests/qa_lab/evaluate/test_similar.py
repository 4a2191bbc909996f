import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from qa_bot.home.encoders import EncoderError
from qa_core.encoders.mapped_tensors import write_tensors
from qa_lab.data.question_pairs import read_question_pairs
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.report import Row, as_json, markdown
from qa_lab.evaluate.similar import Task, evaluate_similar
from retrievers.training.questions import Labelled, QuestionSet

GROUPS = [["cats sleep", "unhappy cats sleep", "sleep cats"], ["why do", "do why day"]]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Five queries in two components, and three questions that nothing is similar to."""
    path = tmp_path / "questions.jsonl"
    rows = [{"questions": group} for group in [*GROUPS, ["day"], ["unhappy day"], ["zzz"]]]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def encoder(word_pieces: Path) -> Path:
    """Each word piece is an axis."""
    write_tensors(word_pieces / "model.safetensors", {"vectors": np.eye(12, dtype=np.float16)})
    (word_pieces / "config.json").write_text(json.dumps({"kind": "static"}), encoding="utf-8")
    return word_pieces


def named(rows: list[Row]) -> dict[str, float]:
    return {row.engine: row.scores["AP@100"].mean for row in rows}


def test_the_task_is_the_closure():
    questions = QuestionSet.of([Labelled("a", "b"), Labelled("b", "c"), Labelled("d", "e", similar=False)], ["f"])
    task = Task.of(questions)
    assert task.texts == ("a", "b", "c", "d", "e", "f")
    assert task.queries == (0, 1, 2)
    assert task.qrels == {key: {"0": 1, "1": 1, "2": 1} for key in ("0", "1", "2")}
    assert Task.of(questions, limit=1).qrels == {"0": {"0": 1, "1": 1, "2": 1}}


def test_every_row(questions: Path, encoder: Path):
    payload: list[str] = []
    rows = evaluate_similar(
        questions, encoders=[str(encoder)], models=[encoder], progress=lambda doing, _done: payload.append(doing)
    )
    assert [row.engine for row in rows] == ["dense", "dense", "BM25", "identity", "TF-IDF", "mean", "IDF mean"]
    figures = named(rows)
    assert figures["identity"] == pytest.approx((3 * (1 / 3) + 2 * (1 / 2)) / 5)  # by hand: the mean of 1 / R
    # `why do` and `cats sleep` find their own before all else; of `unhappy cats sleep` the piece `un` is shared with
    # `unhappy day`, which shares one word of three and so ranks lower
    assert figures["dense"] == figures["TF-IDF"] == figures["BM25"] == 1
    assert rows[0].queries == 5
    assert rows[0].scores["AP@100"].mean == rows[1].scores["AP@100"].mean
    assert "asked of BM25" in payload
    assert as_json(rows)["models"][1]["versus_first"]["measure"] == "AP@100"
    assert "| IDF mean, " in markdown(rows)


def test_vectors_from_a_file_and_words_without_any(questions: Path, encoder: Path, tmp_path: Path):
    vectors = tmp_path / "v.txt"
    vectors.write_text("cats 1 0\nwhy 0 1\n")
    figures = named(evaluate_similar(questions, encoders=[str(encoder)], models=[vectors]))
    # `cats` is all that is known of three questions and `why` of two: everything in its place
    assert figures["mean"] == 1
    vectors.write_text("cats 1 0\n")
    figures = named(evaluate_similar(questions, encoders=[str(encoder)], models=[vectors]))
    assert figures["mean"] == pytest.approx(3 / 5)  # questions without a known word find nothing
    vectors.write_text("cats 1 0\nwhy 0\n")
    with pytest.raises(ValueError, match=r"v\.txt.*line 2"):
        evaluate_similar(questions, encoders=[str(encoder)], models=[vectors])


def test_padded_with_other_questions(questions: Path, encoder: Path, write_lines: Callable[..., Path]):
    more = write_lines("more.jsonl", *({"question": f"why do {'day ' * n}", "answer": "so"} for n in range(1, 60)))
    rows = evaluate_similar(questions, encoders=[str(encoder)], padded=50, padding=[more, questions])
    assert [row.engine for row in rows] == ["exact, 50 candidates", "inverted lists, 50 candidates"]
    exact, approximate = (row.scores["AP@100"].mean for row in rows)
    assert exact < 1
    assert approximate == pytest.approx(exact, abs=0.05)
    few = evaluate_similar(questions, encoders=[str(encoder)], padded=50, padding=[questions], limit=2)
    assert [row.engine for row in few] == ["exact, 8 candidates", "inverted lists, 8 candidates"]
    assert few[0].queries == 2


def test_only_held_out_data(tmp_path: Path, encoder: Path):
    path = tmp_path / "q.tsv"
    path.write_text("".join(f"1\tcats {n}\tsleep {n}\t{n}\n" for n in range(40)))
    rows = evaluate_similar(path, encoders=[str(encoder)], held_out=0.25)
    assert rows[0].split == "0.25 kept aside"
    selected = read_question_pairs([path]).examples.split(0.25, salt="test")[1]
    assert rows[0].queries == len(selected.texts)
    assert 8 < len(selected.texts) < 40


def test_bad_input(questions: Path, encoder: Path, tmp_path: Path):
    alone = tmp_path / "alone.jsonl"
    alone.write_text('{"questions": ["a"]}\n')
    with pytest.raises(TrainingDataError, match="got none"):
        evaluate_similar(alone)
    (tmp_path / "empty").mkdir()
    with pytest.raises(EncoderError):
        evaluate_similar(questions, encoders=[str(encoder)], models=[tmp_path / "empty"])
    with pytest.raises(TrainingDataError, match="similar questions in the 1e-09 kept aside"):
        evaluate_similar(questions, encoders=[str(encoder)], held_out=1e-9)


def test_a_file_of_word_vectors_is_a_model(qa_bot, questions: Path, encoder: Path, tmp_path: Path):
    vectors = tmp_path / "v.txt"
    vectors.write_text("cats 1 0\nwhy 0 1\n")
    arguments = ("eval", "similar", "--data", questions, "--encoder", encoder, "--model", vectors)
    rows = qa_bot(*arguments, "--json").json["models"]
    assert [row["encoder"] for row in rows if row["engine"] == "mean"] == ["v.txt"]
    assert qa_bot(*arguments, "--model", vectors).code == 1
