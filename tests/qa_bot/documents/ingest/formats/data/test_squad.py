"""SQuAD files: one document for each paragraph."""

import json

from qa_bot.documents.ingest import Limits

DATA = {
    "version": "1.1",
    "data": [
        {
            "title": "Domestic_cat",
            "paragraphs": [
                {"context": 'Cats sleep \\ a "lot" {[.', "qas": [{"id": "q", "question": "How?", "answers": []}]},
                {"context": "Cats purr."},
            ],
        },
        {"title": "Dog", "paragraphs": [{"context": "Dogs bark."}]},
    ],
}


def test_each_paragraph_is_a_document(reads):
    records, rejects, _ = reads("dev.json", json.dumps(DATA))
    assert [(record.id, record.title, record.text) for record in records] == [
        ("dev.json#1.1", "Domestic cat", 'Cats sleep \\ a "lot" {[.'),
        ("dev.json#1.2", "Domestic cat", "Cats purr."),
        ("dev.json#2.1", "Dog", "Dogs bark."),
    ]
    assert rejects == []


def test_lines_of_an_indented_file(reads, tmp_path):
    text = json.dumps(DATA, indent=1)
    records, _, _ = reads("dev.json", text)
    line = text[: text.index("Dog")].count("\n")  # the article's brace stands a line above its title
    assert records[2].where == f"{tmp_path}/dev.json:{line}"


def test_bad_articles_and_paragraphs_are_named(reads):
    data = {
        "data": [{"title": "T", "year": 1}, {"title": "U", "paragraphs": [{"context": 3}, {"context": "Kept."}, "x"]}]
    }
    records, rejects, _ = reads("a.json", json.dumps(data))
    assert [record.text for record in records] == ["Kept."]
    assert [reject.reason for reject in rejects] == [
        "Expected article 1 with a title and a list of paragraphs, but got the fields title, year; correct it.",
        "Expected a text in context of paragraph 2.1, but got none; correct it.",
        "Expected a text in context of paragraph 2.3, but got none; correct it.",
    ]


def test_a_broken_article(reads):
    _, (reject,), _ = reads("a.json", '{"data": [{"title": T}]}')
    assert reject.reason == "Expected article 1 as an object, but got broken JSON; correct it."


def test_file_that_ends_in_the_middle(reads):
    records, (reject,), _ = reads("a.json", json.dumps(DATA)[:-40])
    assert [record.id for record in records] == ["a.json#1.1", "a.json#1.2"]
    assert "ends in the middle" in reject.reason


def test_article_over_the_record_limit(reads):
    data = {"data": [{"title": "T", "paragraphs": [{"context": "x" * 200_000}]}, *DATA["data"]]}
    records, (reject,), _ = reads("a.json", json.dumps(data), limits=Limits(record_bytes=100_000))
    assert [record.id for record in records] == ["a.json#2.1", "a.json#2.2", "a.json#3.1"]
    assert "--max-record-bytes" in reject.reason


def test_deep_nesting_and_other_json(reads):
    _, (reject,), _ = reads("a.json", '{"data": [{"paragraphs": ' + "[" * 100_000 + "]" * 100_000 + "}]}")
    assert "Expected article 1" in reject.reason
    _, (reject,), _ = reads("b.json", '{"data": 3}', format="squad")
    assert "got no article" in reject.reason
