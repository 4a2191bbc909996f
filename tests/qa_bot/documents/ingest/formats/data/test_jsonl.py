"""JSONL records: known shapes and refusals."""

import json

import pytest


def one(reads, fields):
    records, rejects, _ = reads("a.jsonl", json.dumps(fields) + "\n")
    return records[0] if records else rejects[0].reason


def shape(record):
    return record.id, record.title, record.body, record.text, record.url


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"_id": "d1", "title": "T", "text": "X", "metadata": {"url": "http://u"}}, ("d1", "T", "", "X", "http://u")),
        ({"id": "d1", "title": "T", "text": "X", "url": "http://u"}, ("d1", "T", "", "X", "http://u")),
        ({"id": 7, "text": " X "}, ("7", "", "", "X", "")),
        ({"text": "X", "metadata": {"url": 3}, "title": None}, ("a.jsonl#1", "", "", "X", "")),
        ({"_id": "d1", "title": "Only a title", "text": ""}, ("d1", "Only a title", "", "Only a title", "")),
        ({"question": "Q?", "answer": "A."}, ("a.jsonl#1", "Q?", "", "A.", "")),
        ({"Frage": "Q?", "Antwort": "A."}, ("a.jsonl#1", "Q?", "", "A.", "")),
        ({"pregunta": "Q?", "respuestas": ["A.", "B."]}, ("a.jsonl#1", "Q?", "", "A.\nB.", "")),
        ({"text": "X", "q": "Q?", "a": "A."}, ("a.jsonl#1", "", "", "X", "")),
        ({"question": "Q?", "body": "More.", "answer": "A."}, ("a.jsonl#1", "Q?", "More.", "A.", "")),
        ({"question": "Q?", "answer": ["A.", "B."]}, ("a.jsonl#1", "Q?", "", "A.\nB.", "")),
        ({"question": "Q?", "answers": ["A.", "B.", "A.", " "]}, ("a.jsonl#1", "Q?", "", "A.\nB.", "")),
    ],
)
def test_known_shapes(reads, fields, expected):
    assert shape(one(reads, fields)) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([1, 2], "Expected a JSON object, but got a list"),
        ("text", "but got a string"),
        (None, "but got null"),
        ({"id": "1", "title": "T"}, "Expected the field text, or question and answer, but got id, title"),
        ({}, "but got none"),
        ({"text": 3}, "Expected a string in the field text, but got a number"),
        ({"text": ["a"]}, "Expected a string in the field text, but got a list"),
        ({"id": True, "text": "X"}, "Expected a string in the field id, but got true or false"),
        ({"id": {}, "text": "X"}, "Expected a string in the field id, but got an object"),
        ({"text": "X", "url": 1}, "Expected a string in the field url"),
        ({"question": "Q?", "answer": ""}, "but got no answer"),
        ({"question": "", "answer": "A."}, "but got no question"),
        ({"question": "Q?", "answers": [1]}, "Expected a list of strings in the field answers"),
        ({"question": "Q?", "answers": []}, "but got no answer"),
        ({"text": " ", "title": ""}, "got an empty text and no title"),
    ],
)
def test_bad_fields_are_named(reads, fields, expected):
    assert expected in one(reads, fields)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"date": "2024-02-03"}, "2024-02-03"),
        ({"lastModified": "3 March 2024", "date": "2023-01-01"}, "2024-03-03"),
        ({"created_at": "2024-02-03T10:00:00Z", "updated_at": None}, "2024-02-03T10:00:00+00:00"),
        ({"metadata": {"url": "http://u", "Date": "3.2.2024"}}, "2024-02-03"),
        ({"date": "03/04/2024", "created": "2024-02-03"}, "2024-02-03"),
        ({"date": 2024, "updated": True, "published": ["2024-02-03"], "metadata": "2024-02-03"}, ""),
        ({"date": "soon", "birthdate": "1990-01-01", "expires": "2030-01-01", "metadata": {"date": {}}}, ""),
    ],
)
def test_the_date_that_a_record_states(reads, fields, expected):
    assert one(reads, {"text": "X", **fields}).date == expected
    assert one(reads, {"question": "Q?", "answer": "A.", **fields}).date == expected


def test_a_record_is_found_by_its_date(qa_bot, write_lines):
    rows = [{"id": "a", "text": "The ferret eats at noon.", "date": "2024-02-03"}, {"id": "b", "text": "A ferret."}]
    qa_bot("add", write_lines("dated.jsonl", *rows))
    results = qa_bot("search", "ferret", "--since", "2024", "--until", "2024", "--json").json["results"]
    assert [result["document"] for result in results] == ["a"]


def test_bad_line_in_the_middle(reads, tmp_path):
    records, (reject,), _ = reads("a.jsonl", '{"id": "1", "text": "X"}\n{"id": "2", "te\n\n{"id": "4", "text": "Y"}')
    assert [record.id for record in records] == ["1", "4"]
    assert records[1].where == f"{tmp_path}/a.jsonl:4"
    assert reject.where == f"{tmp_path}/a.jsonl:2"
    assert "broken JSON" in reject.reason


def test_deep_nesting(reads):
    deep = "[" * 100_000 + "]" * 100_000
    records, (first, second), _ = reads(
        "a.jsonl", f'{{"text": {deep}}}\n{{"text": "X"}}\n{{"text": {"9" * 5000}, "id": 1}}\n'
    )
    assert [record.text for record in records] == ["X"]
    assert "nested too deeply" in first.reason
    assert "broken JSON" in second.reason


def test_what_cannot_be_stored_is_replaced_and_told(reads):
    (record,), rejects, (notice,) = reads("a.jsonl", r'{"id": "x\ud800", "text": "a\u0000b \ud83d\ude00"}')
    assert (record.id, record.text) == ("x\ufffd", "a\ufffdb 😀")
    assert rejects == []
    assert notice.message == "2 NUL characters or lone surrogates replaced."


def test_html_is_markdown(reads):
    record = one(reads, {"question": "Tea &amp; milk?", "answer": "<p>Yes.</p><ol><li>Go</li><li>Pay</li></ol>"})
    assert (record.title, record.text, record.markdown) == ("Tea & milk?", "Yes.\n\n1. Go\n2. Pay", True)
    assert "HTML without text" in one(reads, {"text": "<p></p>"})
    assert one(reads, {"text": "a < b and c > d"}).markdown is False


@pytest.mark.parametrize("indent", [None, 2])
def test_questions_inside_an_object(reads, indent):
    groups = [{"name": "Fees", "items": [{"question": "How much?", "answer": "<b>Ten</b> euros."}]}]
    data = {"meta": {"version": 1}, "groups": groups, "more": {"Where?": "Here.", "Sure?": ["Yes.", "No."]}}
    records, rejects, _ = reads("faq.json", json.dumps(data, indent=indent))
    assert [(record.id, record.title, record.text) for record in records] == [
        ("faq.json#1.1", "How much?", "**Ten** euros."),
        ("faq.json#1.2", "Where?", "Here."),
        ("faq.json#1.3", "Sure?", "Yes.\nNo."),
    ]
    assert rejects == []
    records, _, _ = reads("list.json", json.dumps({"groups": groups}, indent=indent))
    assert [(record.id, record.title) for record in records] == [("list.json#1.1", "How much?")]
