from collections.abc import Callable
from pathlib import Path

import pytest

from qa_bot.documents.graph import GraphError, add
from qa_bot.home.folder import Home
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.graph.linking import evaluate_linking, iri_of
from qa_lab.evaluate.report import as_json, table

NS = "http://rdf.freebase.com/ns/"
LABEL, ABOUT = "http://www.w3.org/2000/01/rdf-schema#label", "http://schema.org/description"
FACTS = {"m.city": 4, "m.texas": 1, "m.state": 9, "m.nyc": 2}
NAMES = {"m.city": "Paris", "m.texas": "Paris", "m.state": "New York", "m.nyc": "New York City"}
LINES = (
    "www.freebase.com/m/city\twww.freebase.com/x/y\twww.freebase.com/m/a\twhere is paris",
    "www.freebase.com/m/nobody\twww.freebase.com/x/y\twww.freebase.com/m/a\twhere is paris",
    "www.freebase.com/m/texas\twww.freebase.com/x/y\twww.freebase.com/m/a\twhich county in texas is paris in",
    "www.freebase.com/m/nyc\twww.freebase.com/x/y\twww.freebase.com/m/a\twho lives in new york city",
    "www.freebase.com/m/city\twww.freebase.com/x/y\twww.freebase.com/m/a\twho lives there",
)


@pytest.fixture
def with_graph(tmp_path: Path, write_lines: Callable[..., Path]) -> Path:
    facts = [f"<{NS}{name}> <{NS}has.part> <{NS}p{i}> ." for name, count in FACTS.items() for i in range(count)]
    names = [f'<{NS}{entity}> <{LABEL}> "{name}"@en .' for entity, name in NAMES.items()]
    about = f'<{NS}m.texas> <{ABOUT}> "A small town in Lamar County, Texas"@en .'
    path = tmp_path / "with-graph"
    add(Home.open(path), [write_lines("facts.nt", *facts, *names, about)])
    return path


def test_rows_worked_by_hand(with_graph: Path, write_lines: Callable[..., Path]) -> None:
    """Four questions are about the graph: the salient Paris, the one in Texas, the longer name, one without a name.

    The first Paris has five triples and the one in Texas three, its label and description with them: without context
    their odds are √6 to √4, so that the better one has .55 and is not sure.
    """
    rows = {row.engine: row for row in evaluate_linking(write_lines("sq.tsv", *LINES), home=with_graph)}
    assert [*rows] == ["salience", "longest name, then salience", "linker", "linker with context"]
    accuracy = {name: row.scores["accuracy"].per_query for name, row in rows.items()}
    assert accuracy["salience"] == {"1": 1, "3": 0, "4": 0, "5": 0}
    assert accuracy["longest name, then salience"] == accuracy["linker"] == {"1": 1, "3": 0, "4": 1, "5": 0}
    assert accuracy["linker with context"] == {"1": 1, "3": 1, "4": 1, "5": 0}
    assert {row.scores["accuracy_known"].mean for row in rows.values()} == {1 / 3, 2 / 3, 1}
    linker = rows["linker"].scores
    assert linker["answered@.7"].per_query == {"1": 0, "3": 0, "4": 1, "5": 0}
    assert linker["accuracy@.7"].per_query == {"4": 1}
    assert {(row.queries, row.scores["left_out"].mean) for row in rows.values()} == {(4, 1)}
    assert rows["linker"].versus is not None
    assert rows["linker"].scores["questions_per_second"].mean > 0


def test_only_so_many_questions_of_the_graph(with_graph: Path, write_lines: Callable[..., Path]) -> None:
    first = evaluate_linking(write_lines("sq.tsv", *LINES), home=with_graph, limit=2)[0]
    assert (first.queries, first.scores["left_out"].mean) == (2, 1)
    assert as_json([first])["accuracy"] == 0.5
    assert table([first]).row_count == len(first.scores)


def test_subjects_as_a_graph_names_them() -> None:
    assert iri_of("www.freebase.com/m/02qx") == f"{NS}m.02qx"
    assert iri_of("http://www.freebase.com/m/02_qx/") == f"{NS}m.02_qx"
    assert iri_of("Q42") == "http://www.wikidata.org/entity/Q42"
    assert iri_of("http://example.org/lima") == "http://example.org/lima"
    assert iri_of("www.freebase.com/people/person/gender") == f"{NS}people.person.gender"
    assert iri_of("m.02qx") == f"{NS}m.02qx"


@pytest.mark.parametrize("line", ["a\tb\tc", "a\tb\tc\td\te", "\tb\tc\twho", "a\tb\tc\t  "])
def test_a_malformed_line_is_told(with_graph: Path, write_lines: Callable[..., Path], line: str) -> None:
    with pytest.raises(TrainingDataError, match=r"bad.tsv, line 2: Expected subject, relation, object and question"):
        evaluate_linking(write_lines("bad.tsv", LINES[0], line), home=with_graph)


def test_unmeasurable_data_is_rejected(with_graph: Path, tmp_path: Path, write_lines: Callable[..., Path]) -> None:
    with pytest.raises(TrainingDataError, match="got 1 about others"):
        evaluate_linking(write_lines("others.tsv", LINES[1]), home=with_graph)
    with pytest.raises(TrainingDataError, match=r"none.tsv: No such file"):
        evaluate_linking(tmp_path / "none.tsv", home=with_graph)
    (tmp_path / "bytes.tsv").write_bytes(b"a\tb\tc\t\xff\n")
    with pytest.raises(TrainingDataError, match="line 1: Expected UTF-8"):
        evaluate_linking(tmp_path / "bytes.tsv", home=with_graph)
    with pytest.raises(GraphError, match="kg add"):
        evaluate_linking(write_lines("sq.tsv", *LINES), home=tmp_path / "without-graph")


def test_the_command_line(qa_bot, home: Path, write_lines: Callable[..., Path]) -> None:
    data = write_lines("sq.tsv", *LINES)
    refused = qa_bot("eval", "linking", "--data", data)
    assert (refused.code, "kg add" in refused.err) == (1, True)
    named = [f'<{NS}{entity}> <{LABEL}> "{name}"@en .' for entity, name in NAMES.items()]
    add(Home.open(home), [write_lines("names.nt", *named)])
    payload = qa_bot("eval", "linking", "--data", data, "--json").json
    assert (payload["task"], payload["queries"], payload["left_out"]) == ("linking", 4, 1)
    assert [row["engine"] for row in payload["models"]][::3] == ["salience", "linker with context"]
