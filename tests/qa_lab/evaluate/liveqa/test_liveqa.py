import pytest

from qa_lab.evaluate.datasets import DatasetError, read_dataset
from qa_lab.evaluate.liveqa.liveqa import Replies, evaluate_liveqa, scores
from qa_lab.evaluate.report import as_json

SCORES = ["avg_score", "avg_score_forced", "avg_score_condensed", "unjudged@1"]
SUCCESS = ["succ@2+", "succ@3+", "succ@4+", "prec@2+", "prec@3+", "prec@4+"]
MEASURES = [*SCORES, *SUCCESS, "nDCG@10", "AP", "RR", "R@100", "R@1000", "answered"]


def test_hand_worked_figures():
    qrels = {"q1": {"a": 3, "b": 1}, "q2": {"a": 2}, "q3": {"a": 1}, "q4": {"a": 1}}
    lists = {"q1": ["b", "a"], "q2": ["a"], "q3": ["x", "a"], "q4": []}
    replies = Replies(lists, served=lists, abstained={"q2", "q4"})
    results = {name: score.mean for name, score in scores(qrels, replies).items()}
    assert list(results) == MEASURES
    assert results["answered"] == 2 / 4  # q1 and q3; q4 found nothing at all
    assert results["avg_score"] == (1 + 0 + 0 + 0) / 4
    assert results["avg_score_forced"] == (1 + 2 + 0 + 0) / 4
    assert results["avg_score_condensed"] == (1 + 2 + 1 + 0) / 4
    assert results["unjudged@1"] == 1 / 2
    assert (results["succ@2+"], results["prec@2+"]) == (1 / 4, 1 / 2)
    assert results["RR"] == (1 + 1 + 1 / 2 + 0) / 4  # whatever was abstained
    assert results["R@100"] == 3 / 4


def test_first_documents_are_those_that_are_served():
    results = scores({"q": {"a": 3}}, Replies(ranked={"q": ["a", "b"]}, served={"q": ["b", "a"]}))
    assert (results["avg_score"].mean, results["avg_score_condensed"].mean, results["RR"].mean) == (0, 3, 1)


def test_the_whole_pipeline_over_a_tiny_collection(ours):
    rows = evaluate_liveqa(read_dataset(ours), engines=["hybrid", "keyword"])
    assert [(row.engine, row.encoder, row.query) for row in rows] == [("hybrid", "starter", ""), ("keyword", "", "")]
    assert list(rows[0].scores) == MEASURES
    assert rows[1].scores["RR"].per_query == {"q1": 0.5, "q2": 1.0}
    assert rows[1].measure == "nDCG@10"
    payload = as_json(rows)["models"][1]
    assert {*MEASURES, *(f"{name}_se" for name in MEASURES)} <= set(payload)


def test_nothing_is_answered_where_precision_cannot_be_had(ours):
    (row,) = evaluate_liveqa(
        read_dataset(ours), engines=["keyword"], flags={"serve.liveqa_precision": 1.0, "ranking.formula": "evidence"}
    )
    assert row.scores["answered"].mean == 0
    assert row.scores["avg_score"].mean == 0
    assert row.scores["avg_score_forced"].mean > 0


def test_a_persons_summary_as_the_question(ours):
    rows = evaluate_liveqa(read_dataset(ours), engines=["keyword"], summary=True)
    assert [row.query for row in rows] == ["", "summary"]
    assert rows[1].scores["RR"].per_query["q1"] == 1.0  # "Do cats run?" finds "cats run" first


def test_a_missing_summary_is_reported(published):
    with pytest.raises(DatasetError, match="Expected a summary of every query, but got none for 1"):
        evaluate_liveqa(read_dataset(published, split="test"), summary=True)


def test_the_document_with_the_id_of_the_question_is_left_out(ours):
    """A question of a collection of questions finds another one, not itself."""
    (ours / "dev.queries.jsonl").write_text('{"_id": "d1", "title": "cats run"}\n')
    (ours / "dev.qrels.tsv").write_text("query-id\tcorpus-id\tscore\nd1\td1\t3\nd1\td2\t1\n")
    for row in evaluate_liveqa(read_dataset(ours), engines=["keyword", "hybrid"]):
        assert row.scores["R@1000"].mean == 0.5
