import json

import pytest

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.workplace.questions import read_questions
from qa_lab.reference.replies import Turn


def test_questions_with_their_gold(questions):
    first, second = read_questions(questions)
    assert (first.id, first.turn, first.type) == ("q1", Turn("How many days of leave carry over?"), "direct")
    assert first.gold == (("five days", "5 days"),)
    assert (first.documents, first.lead) == (("leave.md",), 300)
    assert second.gold == ()


def test_turns_know_the_questions_before_them(dialogues):
    first, second = read_questions(dialogues)
    assert (first.id, first.type, first.turn.earlier) == ("hotels/0", "turn 1", ())
    assert (second.id, second.type) == ("hotels/1", "follow-up")
    assert second.turn == Turn("and trains?", ("What may a hotel cost?",), "hotels")


def test_a_limit_counts_questions_and_turns(dialogues, questions):
    assert [question.id for question in read_questions(questions, limit=1)] == ["q1"]
    assert [question.id for question in read_questions(dialogues, limit=1)] == ["hotels/0"]
    assert len(read_questions(dialogues, limit=5)) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "but got no JSON: unexpected end of data"),
        ("[]", "Expected a JSON object with _id, .* but got \\[\\] as the line, which is an object; correct the line"),
        ('{"_id": "a", "title": "b"}', "but got no gold; correct"),
        ('{"title": "b", "gold": []}', "but got no _id; correct"),
        ('{"_id": "a", "title": 3, "gold": []}', "but got 3 as title, which is a string"),
        ('{"_id": "a", "title": "b", "gold": [["re:("]]}', "but got the invalid regular expression \\( \\(missing"),
        ('{"_id": "a", "title": "b", "gold": ["14 kg"]}', 'but got "14 kg" as a group of gold, which is a list'),
        ('{"_id": "a", "title": "b", "gold": "14 kg"}', 'but got "14 kg" as gold, which is a list'),
        ('{"_id": "a", "title": "b", "gold": [], "wrong": "5"}', 'but got "5" as wrong, which is a list'),
        ('{"_id": "a", "title": "b", "gold": [], "lead": "ten"}', 'but got "ten" as lead, which is a number'),
        ('{"_id": "a", "turns": "b"}', 'but got "b" as turns, which is a list'),
        ('{"_id": "a", "turns": ["b"]}', 'but got "b" as a turn, which is an object'),
        ('{"_id": "a", "turns": [{"gold": []}]}', "but got no title"),
    ],
)
def test_invalid_lines(tmp_path, line, message):
    path = tmp_path / "q.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(DatasetError, match=message) as error:
        read_questions(path)
    assert f"{path}:2: " in str(error.value)
    assert "Error" not in str(error.value)


def test_ids_that_repeat(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text(2 * (json.dumps({"_id": "a", "title": "b", "gold": []}) + "\n"))
    with pytest.raises(DatasetError, match="distinct ids, but got 'a' again"):
        read_questions(path)


def test_no_questions(tmp_path):
    (tmp_path / "q.jsonl").write_text("\n")
    with pytest.raises(DatasetError, match="but got none"):
        read_questions(tmp_path / "q.jsonl")
    with pytest.raises(DatasetError, match="which is no file"):
        read_questions(tmp_path / "gone.jsonl")
