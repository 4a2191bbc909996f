import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.studies.people.forms import KEY, Plan, StudyKey, make_forms
from qa_lab.studies.people.material import Case, read_cases, write_cases


def shown(path: Path) -> dict:
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.DOTALL)[1])


def test_forms_are_blind_and_the_key_knows_who_wrote_what(folder: Path, key: StudyKey, cases: list[Case]):
    forms = sorted(folder.glob("form-*.html"))
    assert [form.name for form in forms] == ["form-1-1.html", "form-2-1.html"]
    for form in forms:
        page = shown(form)
        assert page["study"] == key.study
        assert not {"plain", "voice", KEY} & set(re.findall(r"\w+", json.dumps(page)))
        items = key.forms[page["form"]]
        assert [part["question"] for part in page["pages"]] == ["quality", "style", "topic"] * 2
        replies = [reply for part in page["pages"] if part["question"] == "quality" for reply in part["replies"]]
        assert sorted(int(reply["item"]) for reply in replies) == list(range(6))
        systems = {"quality": {"plain", "voice", "topic"}, "style": {"plain", "voice"}, "topic": {"plain", "topic"}}
        for part in page["pages"]:
            assert {items[reply["item"]].system for reply in part["replies"]} == systems[part["question"]]
            case = next(case for case in cases if case.context == part["context"])
            assert part["hint"] == case.hint
            for reply in part["replies"]:
                item = items[reply["item"]]
                assert reply["text"] == case.replies[item.system][item.reply]
                assert item.case == case.id
                assert reply.keys() == {"item", "text"}  # all replies on a page look the same


def test_a_form_needs_no_network(folder: Path):
    text = (folder / "form-1-1.html").read_text()
    assert "default-src 'none'" in text
    assert not re.search(r"(?:https?:)?//\w|@import|<link|<img|src=\"", re.sub(r'json">.*?</script>', "", text))


def test_forms_have_a_limited_number_of_contexts_and_each_has_its_judges(cases: list[Case], tmp_path: Path):
    many = [replace(cases[0], id=str(number)) for number in range(5)]
    forms = make_forms(many, Plan(judges=3, cases=2, seed=4), tmp_path / "many")
    assert len(forms) == 9
    key = StudyKey.load(tmp_path / "many")
    for judge in "123":
        names = [name for name in key.forms if name.startswith(judge)]
        assert sorted({item.case for name in names for item in key.forms[name].values()}) == list("01234")
    assert key.plan.baseline == "plain"
    first = {tuple(reply["text"] for reply in shown(form)["pages"][0]["replies"]) for form in forms}
    assert len(first) > 1
    again = make_forms(many, Plan(judges=3, cases=2, seed=4), tmp_path / "again")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in forms]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan(baseline="none"), "Expected systems among plain, voice, topic, but got 'none'"),
        (Plan(topic=("Voice",)), "but got 'Voice'"),
    ],
)
def test_unknown_systems_are_refused(cases: list[Case], tmp_path: Path, plan: Plan, message: str):
    with pytest.raises(DatasetError, match=message):
        make_forms(cases, plan, tmp_path / "new")


def test_what_cannot_be_asked_is_refused(cases: list[Case], folder: Path, plan: Plan, tmp_path: Path):
    with pytest.raises(DatasetError, match="Expected a new folder"):
        make_forms(cases, plan, folder)
    with pytest.raises(DatasetError, match="Expected a hint in every case"):
        make_forms([replace(cases[0], hint="")], plan, tmp_path / "bare")
    with pytest.raises(DatasetError, match="Expected the name of a persona"):
        Plan(style=("voice",))
    with pytest.raises(DatasetError, match="Expected at least one judge"):
        Plan(judges=0)
    with pytest.raises(FileNotFoundError, match="Expected the key of a study"):
        StudyKey.load(tmp_path)
    (tmp_path / KEY).write_text('{"study": 1}')
    with pytest.raises(DatasetError, match="Expected the key of a study, but got KeyError"):
        StudyKey.load(tmp_path)


def test_cases_are_read_as_they_were_written(cases: list[Case], tmp_path: Path):
    write_cases(tmp_path / "replies.jsonl", cases)
    assert read_cases(tmp_path / "replies.jsonl") == cases


GOOD = '{"context": "Hi", "replies": {"a": ["x"], "b": ["y"]}}'


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{"], ":1: Expected a JSON object"),
        (["[]"], ":1: Expected a JSON object, but got list"),
        ([GOOD, '{"context": "Hi"}'], ":2: Expected replies by system, but got None"),
        (['{"context": " ", "replies": {"a": ["x"], "b": ["y"]}}'], "1: context: Expected a text"),
        (['{"context": "Hi", "replies": {"a": "x", "b": ["y"]}}'], "replies of a: Expected a list"),
        (['{"context": "Hi", "replies": {"a": ["x"]}}'], "Expected replies of two systems"),
        ([GOOD, '{"context": "Ho", "replies": {"a": ["x"], "c": ["y"]}}'], "but b, c are in some only"),
        ([GOOD, GOOD.replace("{", '{"id": "1", ', 1)], "Expected distinct ids, but got '1' again"),
        ([], "Expected replies of two systems"),
        ([GOOD.replace("Hi", "H" * 3000)], "Expected a text of up to 2,000"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, lines: list[str], message: str):
    path = tmp_path / "replies.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(DatasetError, match=message):
        read_cases(path)
