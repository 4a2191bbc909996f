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
        ({"question": "Q?", "body": "More.", "answer": "A."}, ("a.jsonl#1", "Q?", "More.", "A.", "")),
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
