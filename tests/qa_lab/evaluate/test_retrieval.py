import pytest

from qa_lab.evaluate.datasets import DatasetError, read_dataset
from qa_lab.evaluate.report import as_json
from qa_lab.evaluate.retrieval import MEASURES, evaluate_retrieval


def test_hand_worked_figures(ours):
    # q1: BM25 of "cats" gives d1 2 · 2.2 / (2 + 1.2 (.25 + .75 · 3 / 2.33)) = 1.27 times idf and d2
    # 2.2 / (1 + 1.2 (.25 + .75 · 2 / 2.33)) = 1.06 times idf: the relevant d2 is second. q2 finds d3 alone.
    (row,) = evaluate_retrieval(read_dataset(ours), engines=["plain"])
    assert row.scores["AP"].per_query == {"q1": 0.5, "q2": 1.0}
    assert row.scores["P@1"].mean == 0.5
    assert row.scores["AP"].standard_error == pytest.approx(0.25)
    assert set(row.scores) == set(MEASURES)


def test_the_least_grade_that_counts(ours):
    (row,) = evaluate_retrieval(read_dataset(ours), engines=["plain"], relevant=2)
    assert row.scores["AP"].per_query == {"q1": 0.5, "q2": 0.0}  # q2 has nothing above grade 1


def test_judgements_of_another_corpus_are_refused(ours):
    (ours / "dev.qrels.tsv").write_text("q1\tx1\t1\nq1\td2\t0\nq2\tx2\t2\n")
    with pytest.raises(DatasetError, match=r"call relevant, but got none of the 2 \(such as x1\); check that .*corpus"):
        evaluate_retrieval(read_dataset(ours), engines=["plain"])


def test_missing_relevant_documents_are_counted(ours, caplog):
    with (ours / "dev.qrels.tsv").open("a") as file:
        file.write("q1\tx1\t1\nq1\tx2\t0\n")
    evaluate_retrieval(read_dataset(ours), engines=["plain"])
    assert "1 of 3 documents that the judgements of tiny call relevant are missing (such as x1)" in caplog.text


def test_judgements_without_a_relevant_document_are_named(ours, caplog):
    (ours / "dev.qrels.tsv").write_text("q1\td2\t0\n")
    evaluate_retrieval(read_dataset(ours), engines=["plain"])
    assert "No query of tiny (dev) has a grade of 1 or more" in caplog.text


def test_json_of_one_engine(ours):
    payload = as_json(evaluate_retrieval(read_dataset(ours), engines=["keyword"]))
    assert (payload["task"], payload["data"], payload["split"], payload["queries"]) == ("retrieval", "tiny", "dev", 2)
    assert (payload["engine"], payload["encoder"]) == ("keyword", None)
    assert payload["AP"] == 0.75
    assert payload["AP_se"] == 0.25
    assert "models" not in payload


def test_every_engine_with_every_encoder_but_keywords_once(ours, axes):
    rows = evaluate_retrieval(read_dataset(ours), encoders=["starter", str(axes)])
    assert [(row.engine, row.encoder) for row in rows] == [
        ("keyword", ""),
        ("dense", "starter"),
        ("hybrid", "starter"),
        ("dense", str(axes)),
        ("hybrid", str(axes)),
    ]
    assert rows[0].versus is None
    assert all(row.versus for row in rows[1:])


def test_dense_figures_of_an_encoder_of_axes(ours, axes):
    # "cats" is an axis: d1, "cats cats sleep", has a cosine of 2 / √5 with it, and d2, whose "run" has no vector, of 1
    (row,) = evaluate_retrieval(read_dataset(ours), engines=["dense"], encoders=[str(axes)])
    assert row.scores["RR"].per_query["q1"] == 1.0


def test_runs_are_written_to_a_file_each(ours, tmp_path):
    data = read_dataset(ours)
    evaluate_retrieval(data, engines=["plain"], run=tmp_path / "one.trec")
    lines = [line.split() for line in (tmp_path / "one.trec").read_text().splitlines()]
    assert [(query, document, rank) for query, _, document, rank, *_ in lines] == [
        ("q1", "d1", "1"),
        ("q1", "d2", "2"),
        ("q2", "d3", "1"),
    ]
    evaluate_retrieval(data, engines=["plain", "keyword"], run=tmp_path / "two.trec")
    assert sorted(path.name for path in tmp_path.glob("two*")) == ["two-keyword.trec", "two-plain.trec"]
