import json
from pathlib import Path

import pytest

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.studies.people.answers import read_answers
from qa_lab.studies.people.forms import StudyKey
from tests.qa_lab.studies.people.conftest import Save, rated

FULL = rated((4, 5, 3), (2, 1, 3))


def test_answers_have_the_systems_again(key: StudyKey, saved: Save):
    ratings = read_answers([saved("1-1", "Ann", FULL, {("mars", "voice")}), saved("2-1", "Bob", FULL)], key)
    assert {(rating.item.case, rating.item.system): rating.quality for rating in ratings} == FULL
    ticked = [(r.judge, r.item.case, r.item.system) for r in ratings if r.style or r.topic]
    assert ticked == [("Ann", "mars", "voice")]
    assert {r.item.system for r in ratings if r.topic is not None} == {"plain", "topic"}


def test_csv_and_json_say_the_same(key: StudyKey, saved: Save, tmp_path: Path):
    path = saved("1-1", "Ann", FULL, {("tea", "topic")})
    lines = ["study,form,judge,item,quality,style,topic"]
    for answer in json.loads(path.read_text())["answers"]:
        boxes = ["" if answer[name] is None else str(answer[name]).lower() for name in ("style", "topic")]
        lines.append(",".join([key.study, "1-1", '"Ann"', answer["item"], str(answer["quality"]), *boxes]))
    table = tmp_path / "answers.csv"
    table.write_bytes("\ufeff".encode() + "\r\n".join(lines).encode())
    assert read_answers([table], key) == read_answers([path], key)
    table.write_text("\n".join([*lines[:2], lines[2] + ",7"]))
    with pytest.raises(DatasetError, match=r"answers.csv:3: Expected 7 fields, but got 8"):
        read_answers([table], key)
    table.write_text(lines[0] + "\n" + lines[1].replace('"Ann"', '"Ann', 1))
    with pytest.raises(DatasetError, match=r"answers.csv:2: Expected 7 fields, but got 3"):
        read_answers([table], key)
    table.write_text("a,b\n")
    with pytest.raises(DatasetError, match="Expected the columns study,form"):
        read_answers([table], key)


def test_incomplete_forms_are_refused_or_accepted_as_such(key: StudyKey, saved: Save):
    path = saved("1-1", "Ann", {**FULL, ("tea", "plain"): None})
    with pytest.raises(DatasetError, match="Expected 14 answers, but got 13; ask Ann to complete"):
        read_answers([path], key)
    ratings = read_answers([path], key, partial=True)
    assert [rating.quality for rating in ratings].count(None) == 1
    whole = json.loads(path.read_text())
    whole["answers"] = [{**answer, "style": None} for answer in whole["answers"]]
    path.write_text(json.dumps(whole))
    with pytest.raises(DatasetError, match="Expected 14 answers, but got 9"):
        read_answers([path], key)


def test_a_form_counts_once_a_judge(key: StudyKey, saved: Save, tmp_path: Path):
    path = saved("1-1", "Ann", FULL)
    copy = tmp_path / "copy.json"
    copy.write_bytes(path.read_bytes())
    with pytest.raises(DatasetError, match="Expected each form once a judge, but Ann gave 1-1"):
        read_answers([path, copy], key)
    assert len(read_answers([path, saved("1-1", "Bob", FULL)], key)) == 12
    whole = json.loads(path.read_text())
    path.write_text(json.dumps({**whole, "answers": [*whole["answers"], whole["answers"][0]]}))
    with pytest.raises(DatasetError, match="Expected each reply once"):
        read_answers([path], key)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"study": "other"}, "Expected answers to the study .*, but got 'other'"),
        ({"form": "9-9"}, "Expected a form of the study, but got '9-9'"),
        ({"form": ["1-1"]}, "Expected a form of the study"),
        ({"judge": " "}, "Expected a judge's name"),
        ({"judge": "A\u001b[2J"}, "Expected a judge's name"),
        ({"judge": "A" * 61}, "Expected a judge's name"),
        ({"judge": None}, "Expected a judge's name"),
        ({"format": 2}, "Expected the answers of a form of format 1"),
        ({"answers": {}}, "Expected the answers of a form"),
        ({"answers": []}, "Expected answers, but got none"),
        ({"answers": [7]}, "answer 1: Expected an object, but got 7"),
    ],
)
def test_hostile_files_are_refused(key: StudyKey, saved: Save, changes: dict, message: str):
    with pytest.raises(DatasetError, match=message):
        read_answers([saved("1-1", "Ann", FULL, **changes)], key)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("quality", 6, "Expected a quality from 1 to 5, but got 6"),
        ("quality", True, "Expected a quality from 1 to 5, but got True"),
        ("quality", 2.5, "but got 2.5"),
        ("quality", float("nan"), "but got nan"),
        ("quality", "5", "but got '5'"),
        ("item", "99", "Expected a reply of form 1-1, but got '99'"),
        ("item", 0, "Expected a reply of form 1-1, but got 0"),
        ("style", 1, "Expected true or false for style, but got 1"),
    ],
)
def test_hostile_answers_are_refused(key: StudyKey, saved: Save, field: str, value: object, message: str):
    path = saved("1-1", "Ann", FULL)
    whole = json.loads(path.read_text())
    whole["answers"][0][field] = value
    path.write_text(json.dumps(whole))
    with pytest.raises(DatasetError, match=message):
        read_answers([path], key)


def test_questions_must_be_answered_as_they_were_asked(key: StudyKey, saved: Save):
    path = saved("1-1", "Ann", FULL)
    whole = json.loads(path.read_text())
    for answer in whole["answers"]:
        answer["style"] = True
    path.write_text(json.dumps(whole))
    with pytest.raises(DatasetError, match="Expected no answer about style, but got True"):
        read_answers([path], key)


def test_other_files_are_refused(key: StudyKey, tmp_path: Path):
    path = tmp_path / "odd.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DatasetError, match="Expected UTF-8"):
        read_answers([path], key)
    path.write_text("[" * 200_000)
    with pytest.raises(DatasetError, match="Expected JSON"):
        read_answers([path], key)
    with path.open("wb") as file:
        file.truncate(16 * 2**20 + 1)
    with pytest.raises(DatasetError, match="Expected up to 16,777,216 bytes"):
        read_answers([path], key)
    with pytest.raises(DatasetError, match="Expected files of answers"):
        read_answers([], key)
