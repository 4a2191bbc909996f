import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_core.measures.runs import ranking, read_qrels, run_of, tie_break, write_qrels, write_run


def write(folder, text):
    path = folder / "file"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\nq 2\tc d\t-2\n",
        "q1\ta\t2\r\nq1\tb\t0\r\n\r\nq 2\tc d\t-2",
        "\ufeffquery-id\tcorpus-id\tscore\nq1\ta\t2\nq1\ta\t2\nq1\tb\t0\nq 2\tc d\t-2\n",
    ],
)
def test_beir_qrels(tmp_path, text):
    assert read_qrels(write(tmp_path, text)) == {"q1": {"a": 2, "b": 0}, "q 2": {"c d": -2}}


def test_trec_qrels(tmp_path):
    assert read_qrels(write(tmp_path, "q1 0 a 2\nq1\t0\tb\t0\n")) == {"q1": {"a": 2, "b": 0}}


@pytest.mark.parametrize("grades", [(0, 3, 1), (3, 0, 1), (1, 0, 3)])
def test_the_highest_of_several_judgements_counts(tmp_path, grades, caplog):
    path = write(tmp_path, "".join(f"q\ta\t{grade}\n" for grade in grades) + "q\tb\t2\nq\tb\t2\n")
    assert read_qrels(path) == {"q": {"a": 3, "b": 2}}
    assert caplog.messages == [f"{path}: documents judged with different grades: 1; the highest counts."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q\ta\t1\nq\tb\n", r":2: Expected 'query TAB document TAB grade' .*, but got 'q\\tb'"),
        ("q\ta\tgood\n", r":1: Expected .* integer grade, but got 'q\\ta\\tgood'"),
        ("q 0 a 1\nq 0 b 1.5\n", r":2: Expected"),
        (b"q\ta\t1\nq\t\xff\t1\n", r":2: Expected UTF-8, but got b'q\\t\\xff"),
    ],
)
def test_bad_qrels_are_named_by_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_qrels(write(tmp_path, text))


identifiers = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)


@settings(max_examples=30)
@given(run=st.dictionaries(identifiers, st.dictionaries(identifiers, st.floats(allow_nan=False), min_size=1)))
def test_ir_measures_reads_a_written_run(tmp_path_factory, run):
    path = tmp_path_factory.mktemp("run") / "run.trec"
    write_run(path, run)
    rows = {(row.query_id, row.doc_id): row.score for row in ir_measures.read_trec_run(str(path))}
    assert rows == {(query, document): score for query in run for document, score in run[query].items()}


@pytest.mark.parametrize("layout", ["beir", "trec"])
@settings(max_examples=30)
@given(qrels=st.dictionaries(identifiers, st.dictionaries(identifiers, st.integers(-2, 4), min_size=1)))
def test_written_qrels_read_back(tmp_path_factory, layout, qrels):
    path = tmp_path_factory.mktemp("qrels") / "qrels"
    write_qrels(path, qrels, layout=layout)
    assert read_qrels(path) == qrels


@pytest.mark.parametrize("identifier", ["a b", "a\n", "", "a\u2028b"])
def test_ids_with_separators_are_rejected(tmp_path, identifier):
    with pytest.raises(ValueError, match="Expected an id without white space"):
        write_run(tmp_path / "run", {"q": {identifier: 1.0}})
    with pytest.raises(ValueError, match="Expected an id without white space"):
        write_qrels(tmp_path / "qrels", {identifier: {"a": 1}}, layout="trec")


def test_runs_are_written_best_first_with_ties_by_hash(tmp_path):
    path = tmp_path / "run"
    write_run(path, {"q": {"a": 1.0, "b": 2.0, "c": 1.0}}, tag="me")
    tied = sorted("ac", key=lambda document: tie_break("q", document))
    assert path.read_text() == f"q Q0 b 1 2.0 me\nq Q0 {tied[0]} 2 1.0 me\nq Q0 {tied[1]} 3 1.0 me\n"


def test_run_of_keeps_the_ranking():
    assert run_of({"q": ["b", "a"]}) == {"q": {"b": 2.0, "a": 1.0}}
    assert ranking("q", run_of({"q": ["b", "a", "c"]})["q"]) == ["b", "a", "c"]
