from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.data.answer_sets import read_answer_sets, select
from rankers.training.answer_pool import AnswerSet

ROWS = "qid\tquestion\tanswer\tlabel\n1\twhy?\tso.\t1\n2\thow?\tthus.\t0\n1\twhy?\tno.\t0\n1\twhy?\tso.\t0\n"


def written(folder: Path, text: str, name: str = "rows.tsv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_rows_of_one_question_belong_together(tmp_path: Path):
    data = read_answer_sets([written(tmp_path, ROWS)])
    assert data.examples == (
        AnswerSet("why?", ("so.", "no."), (True, False), "1"),
        AnswerSet("how?", ("thus.",), (False,), "2"),
    )
    assert (data.repeated, data.count, data.rejects) == (1, 3, ())


def test_json_lines_with_negatives_and_pairs_of_anything_else(tmp_path: Path):
    lines = (
        '{"question": "why?", "answers": ["so.", "thus."], "negatives": ["no."]}\n{"title": "how?", "text": "well."}\n'
    )
    data = read_answer_sets([written(tmp_path, lines, "pairs.jsonl")])
    assert data.examples == (
        AnswerSet("why?", ("so.", "no.", "thus."), (True, False, True)),
        AnswerSet("how?", ("well.",), (True,)),
    )


def test_which_questions_count(tmp_path: Path):
    sets = read_answer_sets([written(tmp_path, ROWS + "3\twho?\tI.\t1\n")]).examples
    assert [[answers.question for answers in select(sets, keep)] for keep in ("both", "positive", "all")] == [
        ["why?"],
        ["why?", "who?"],
        ["why?", "how?", "who?"],
    ]


def test_bad_rows_are_told_and_good_ones_kept(tmp_path: Path):
    path = written(tmp_path, ROWS + "1\twhy?\tmaybe.\t2\n1\twhy?\n1\t\tno question\t1\n")
    data = read_answer_sets([path])
    assert len(data.examples) == 2
    assert [reject.where for reject in data.rejects] == [f"{path}:{line}" for line in (6, 7, 8)]
    assert "Expected the label 0 or 1, but got '2'" in data.rejects[0].reason


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["a", "b", "c"]), st.booleans()), min_size=1))
def test_every_row_is_there_once(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str, bool]]):
    text = "".join(f"{number}\tq{number}\t{answer}\t{int(label)}\n" for number, answer, label in rows)
    path = written(tmp_path_factory.mktemp("rows"), "qid\tquestion\tanswer\tlabel\n" + text)
    data = read_answer_sets([path])
    labelled = {
        (answers.id, answer, label)
        for answers in data.examples
        for answer, label in zip(answers.answers, answers.labels, strict=True)
    }
    right = {(str(number), answer) for number, answer, label in rows if label}
    assert labelled == {(str(n), answer, (str(n), answer) in right) for n, answer, _ in rows}
    assert data.repeated == len(rows) - len(labelled)
