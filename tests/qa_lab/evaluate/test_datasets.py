import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_core.types import Question
from qa_lab.evaluate.datasets import DatasetError, Query, read_dataset, splits


def test_our_layout(ours):
    data = read_dataset(ours)
    assert (data.name, data.split, data.corpus) == ("tiny", "dev", ours / "corpus.jsonl")
    assert data.queries == (  # q3 is not judged
        Query(Question("cats", "", "q1"), "Do cats run?"),
        Query(Question("boats", "Do boats float?", "q2"), "boats"),
    )
    assert data.qrels == {"q1": {"d2": 3}, "q2": {"d3": 1}}


def test_the_published_layout_keeps_the_queries_of_the_split(published):
    data = read_dataset(published, split="train")
    assert data.queries == (Query(Question("boats float", "", "q2")),)
    assert data.qrels == {"q2": {"d3": 1}}


def test_limit_keeps_the_first_judged_queries_and_their_judgements(ours):
    data = read_dataset(ours, limit=1)
    assert [query.question.id for query in data.queries] == list(data.qrels) == ["q1"]


def test_a_packed_corpus(ours):
    (ours / "corpus.jsonl").rename(ours / "corpus.jsonl.gz")
    assert read_dataset(ours).corpus == ours / "corpus.jsonl.gz"


def test_a_missing_split_is_reported_with_the_existing_ones(ours, published):
    assert splits(ours) == ["dev"]
    with pytest.raises(DatasetError, match=r"test\.queries\.jsonl with test\.qrels\.tsv or queries\.jsonl.*splits dev"):
        read_dataset(ours, split="test")
    with pytest.raises(DatasetError, match="splits test, train"):
        read_dataset(published)


def test_a_folder_without_judgements(tmp_path):
    with pytest.raises(DatasetError, match="no split"):
        read_dataset(tmp_path)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(DatasetError, match=r"gone is not a folder; name it with --data"):
        read_dataset(tmp_path / "gone")


def test_a_missing_corpus(ours):
    (ours / "corpus.jsonl").unlink()
    with pytest.raises(DatasetError, match=r"corpus\.jsonl or corpus\.jsonl\.gz"):
        read_dataset(ours)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"_id": "q9", "text"', "jsonl:2: Expected a JSON object"),
        (b'["q9", "cats"]', "jsonl:2: Expected a JSON object"),
        (b'{"_id": "q1", "text": "again"}', "jsonl:2: Expected distinct ids, but got 'q1' again"),
        (b'{"_id": "q9"}', "jsonl:2: Expected _id with text"),
        (b'{"text": "cats"}', "jsonl:2: Expected _id with text"),
        (b'{"_id": "q9", "title": ["cats"]}', "jsonl:2: Expected a string in the field title"),
    ],
)
def test_a_bad_query_names_its_line(ours, line, message):
    (ours / "dev.queries.jsonl").write_bytes(b'{"_id": "q1", "text": "cats"}\n' + line + b"\n")
    with pytest.raises(DatasetError, match=message):
        read_dataset(ours)


def test_a_bad_judgement_names_its_line(ours):
    (ours / "dev.qrels.tsv").write_text("q1\td1\tgood\n")
    with pytest.raises(DatasetError, match=r"dev\.qrels\.tsv:1"):
        read_dataset(ours)


def test_queries_and_judgements_that_do_not_belong_together(ours):
    (ours / "dev.qrels.tsv").write_text("z1\td1\t1\n")
    with pytest.raises(DatasetError, match="3 queries and 1 judged ids"):
        read_dataset(ours)


def test_missing_judged_queries_are_reported_and_left_out(ours, caplog):
    with (ours / "dev.qrels.tsv").open("a") as file:
        file.write("z1\td1\t1\n")
    assert list(read_dataset(ours).qrels) == ["q1", "q2"]
    assert "1 queries that are not in" in caplog.text


def test_invalid_utf8_is_replaced_and_counted(ours, caplog):
    (ours / "dev.queries.jsonl").write_bytes(b'\xef\xbb\xbf{"_id": "q1", "text": "caf\xe9"}\n\n')
    assert read_dataset(ours).queries[0].question.title == "caf\ufffd"
    assert "invalid UTF-8: 1" in caplog.text


@settings(max_examples=30)
@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip),
    number=st.integers(-(2**63), 2**64 - 1),
)
def test_any_text_comes_back(text, number):
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "corpus.jsonl").touch()
        (folder / "dev.queries.jsonl").write_text(json.dumps({"_id": number, "text": text}) + "\n")
        (folder / "dev.qrels.tsv").write_text(f"{number}\td\t1\n")
        (query,) = read_dataset(folder).queries
    assert query.question == Question(text.strip(), "", str(number))


def test_files_of_ms_marco(tmp_path):
    (tmp_path / "collection.tsv").write_text("7\tcats sleep\n8\tdogs bark\n")
    (tmp_path / "queries.dev.tsv").write_text("1\twhy do cats sleep\n2\tnobody judged this\n")
    (tmp_path / "qrels.dev.tsv").write_text("1\t0\t7\t1\n")
    dataset = read_dataset(tmp_path)
    assert [(query.question.id, query.question.title) for query in dataset.queries] == [("1", "why do cats sleep")]
    assert dataset.qrels == {"1": {"7": 1}}
    assert dataset.corpus.name == "collection.tsv"
    assert splits(tmp_path) == ["dev"]
    (tmp_path / "queries.dev.tsv").write_text("1\n")
    with pytest.raises(DatasetError, match=r"queries\.dev\.tsv:1: Expected an id, a tab and a question"):
        read_dataset(tmp_path)
