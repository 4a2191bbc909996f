from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.data.pairs import read_pairs, split
from retrievers.training.examples import Pair

MEDQUAD = """<?xml version="1.0"?><Document id="1" url="u"><QAPairs>
<QAPair pid="1"><Question>What is rust?</Question><Answer>Iron
  oxide.</Answer></QAPair>
<QAPair pid="2"><Question>What is dust?</Question><Answer></Answer></QAPair>
</QAPairs></Document>"""


def test_jsonl(write_lines: Callable[..., Path]):
    path = write_lines(
        "a.jsonl",
        {"question": "why?", "answer": "so", "negatives": ["no", "", "no"]},
        {"question": "  how? ", "answers": ["thus", "like this", "thus"]},
        {"_id": "d", "title": "what?", "text": "that"},
        {"question": "WHY?", "answer": "So"},
    )
    data = read_pairs([path])
    assert data.examples == (
        Pair("why?", "so", ("no",)),
        Pair("how?", "thus"),
        Pair("how?", "like this"),
        Pair("what?", "that"),
    )
    assert (data.repeated, data.rejects) == (1, ())


def test_empty_sides_and_broken_lines_are_told_with_file_and_line(write_lines: Callable[..., Path]):
    path = write_lines(
        "a.jsonl",
        {"question": "why?", "answer": "so"},
        {"question": "why?", "answer": "  "},
        {"question": "", "answer": "so"},
        {"question": "why?", "answers": []},
        {"question": "why?", "answer": "so", "negatives": "no"},
        "{broken",
        {"text": "a document without a title"},
    )
    data = read_pairs([path])
    assert len(data.examples) == 1
    reasons = {reject.where.rpartition(":")[2]: reject.reason for reject in data.rejects}
    assert {
        number: part in reasons[number]
        for number, part in {
            "2": "no answer",
            "3": "no question",
            "4": "no answer",
            "5": "list of strings in the field negatives",
            "6": "broken JSON",
            "7": "no question",
        }.items()
    } == dict.fromkeys("234567", True)
    assert all(reject.where.startswith(str(path)) for reject in data.rejects)


def test_medquad(tmp_path: Path):
    (tmp_path / "m.xml").write_text(MEDQUAD)
    data = read_pairs([tmp_path / "m.xml"])
    assert [pair.question for pair in data.examples] == ["What is rust?"]
    assert [reject.where for reject in data.rejects] == [f"{tmp_path / 'm.xml'}:4"]


SELECTION = "1\tpick\tright\t1\n1\tpick\twrong\t0\n2\tbroken\tx\n3\ty\tz\tmaybe\n4\t\tempty\t1\n"


@pytest.mark.parametrize("header", ["", "qid\tquestion\tanswer\tlabel\n"])
def test_answer_selection_gives_its_positives(tmp_path: Path, header: str):
    (tmp_path / "a.tsv").write_text(header + SELECTION)
    data = read_pairs([tmp_path / "a.tsv"])
    assert data.examples == (Pair("pick", "right"),)
    first = 1 + bool(header)
    assert [reject.where.rpartition(":")[2] for reject in data.rejects] == [str(first + n) for n in (2, 3, 4)]


def test_wikiqa_in_its_own_columns(tmp_path: Path):
    (tmp_path / "w.tsv").write_text(
        "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"
        "Q1\thow big\tD1\tBig\tD1-0\tSmall.\t0\nQ1\thow big\tD1\tBig\tD1-1\tVery.\t1\n"
    )
    assert read_pairs([tmp_path / "w.tsv"]).examples == (Pair("how big", "Very."),)


def test_a_table_of_questions_and_answers(tmp_path: Path):
    (tmp_path / "faq.tsv").write_text("question\tanswer\nwhy\tso\n")
    assert read_pairs([tmp_path / "faq.tsv"]).examples == (Pair("why", "so"),)


def test_invalid_utf8_is_replaced_and_counted(tmp_path: Path):
    (tmp_path / "a.jsonl").write_bytes(b'{"question": "caf\xe9?", "answer": "yes"}\n')
    data = read_pairs([tmp_path / "a.jsonl"])
    assert data.examples == (Pair("caf\ufffd?", "yes"),)
    assert "1 invalid" in data.notices[0].message


@given(st.lists(st.text(max_size=5), max_size=30), st.floats(0.05, 0.95))
def test_a_question_stands_on_one_side_whatever_the_order(questions: list[str], share: float):
    pairs = [Pair(question, f"answer {n}") for n, question in enumerate(questions)]
    train, held_out = split(pairs, share)
    assert sorted([*train, *held_out]) == sorted(pairs)
    assert {pair.question for pair in train}.isdisjoint(pair.question for pair in held_out)
    again = split(reversed(pairs), share)
    assert sorted(again[1]) == sorted(held_out)


def test_about_the_share_is_held_out():
    _, held_out = split([Pair(f"question {n}", "a") for n in range(2000)], 0.1)
    assert 150 < len(held_out) < 250
    assert len(split([Pair("Why  so", "a"), Pair("why so", "b")], 0.5)[0]) in (0, 2)
