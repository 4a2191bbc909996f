"""TSV files: columns, headers and quotation marks."""

import pytest

from qa_bot.documents.ingest import Limits


def shape(record):
    return record.id, record.title, record.text, record.url


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("7\tSome passage.", ("7", "", "Some passage.", "")),
        ('7\t"Quoted" passage.', ("7", "", '"Quoted" passage.', "")),
        ("7\tTitle\tSome passage.", ("7", "Title", "Some passage.", "")),
        ("D7\thttp://u\tTitle\tBody.\r", ("D7", "Title", "Body.", "http://u")),
    ],
)
def test_published_columns(reads, line, expected):
    (record,), _, _ = reads("collection.tsv", f"{line}\n")
    assert shape(record) == expected


def test_header_names_the_columns(reads, tmp_path):
    data = 'id\tpassage\ttitle\tset\n1\tFirst.\tOne\tx\n2\t"A ""quoted""\ncell."\tTwo\tx\n3\tThird.\tThree\tx\n'
    records, rejects, _ = reads("a.tsv", data)
    assert [shape(record)[:3] for record in records] == [
        ("1", "One", "First."),
        ("2", "Two", 'A "quoted"\ncell.'),
        ("3", "Three", "Third."),
    ]
    assert [record.where for record in records] == [f"{tmp_path}/a.tsv:{line}" for line in (2, 3, 5)]
    assert rejects == []


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
def test_a_column_has_the_dates(reads, name):
    data = "id\ttext\tLast modified\tset\n1\tFirst.\t2024-02-03\tx\n2\tSecond.\tsoon\tx\n"
    records, _, _ = reads(name, data if name.endswith(".tsv") else data.replace("\t", ","))
    assert [(record.id, record.date) for record in records] == [("1", "2024-02-03"), ("2", "")]


def test_questions_and_answers_under_a_header(reads):
    (record,), (reject,), _ = reads("faq.tsv", "question\tanswer\tlink\nQ?\tA.\thttp://u\nWhy?\t\thttp://u\n")
    assert shape(record) == ("faq.tsv#2", "Q?", "A.", "http://u")
    assert reject.where.endswith("faq.tsv:3")
    assert "no answer" in reject.reason


def test_wrong_number_of_columns(reads):
    records, (reject,), _ = reads("a.tsv", "1\tOne.\nonly one\n3\tThree.\n")
    assert [record.id for record in records] == ["1", "3"]
    assert reject.where.endswith("a.tsv:2")
    assert "Expected 2 (id, text), 3 (id, title, text) or 4 (id, url, title, text) columns, but got 1" in reject.reason
    _, (reject,), _ = reads("b.tsv", "id\ttext\n1\tOne.\tmore\n")
    assert "Expected 2 columns, but got 3" in reject.reason


@pytest.mark.parametrize("header", ["", "id\ttext\n"])
def test_line_over_the_limit(reads, header):
    data = f"{header}1\tOne.\n2\t{'x' * 5000}\n3\tThree.\n"
    records, (reject,), _ = reads("a.tsv", data, limits=Limits(record_bytes=1000))
    assert [record.id for record in records] == ["1", "3"]
    assert "--max-record-bytes" in reject.reason


def test_quotation_mark_that_never_closes(reads):
    records, rejects, _ = reads("a.tsv", 'id\ttext\n1\tOne.\n2\t"' + "long line\n" * 20_000)
    assert [record.id for record in records] == ["1"]
    assert "a quotation mark that never closes?" in rejects[0].reason
    assert rejects[0].where.endswith("a.tsv:3")
