"""`eval facts` over a graph of four facts: every figure by hand."""

from collections.abc import Callable
from contextlib import ExitStack
from math import isnan
from pathlib import Path

import pytest

from qa_bot.answering.graph.facts import FactsError, open_facts
from qa_bot.documents import graph
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.graph.fact_questions import read_fact_questions
from qa_lab.evaluate.graph.facts import MEASURE, TASK, evaluate_facts, measured
from qa_lab.evaluate.report import as_json, table

NS = "http://rdf.freebase.com/ns/"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
LINES = (
    f"<{NS}m.peru> <{NS}country.capital> <{NS}m.lima> .",
    f"<{NS}m.chile> <{NS}country.capital> <{NS}m.santiago> .",
    f"<{NS}m.peru> <{NS}country.money> <{NS}m.sol> .",
    *(f'<{NS}m.{name}> {LABEL} "{name.title()}"@en .' for name in ("peru", "lima", "chile", "santiago", "sol")),
    f'<{NS}country.capital> {LABEL} "capital"@en .',
)


@pytest.fixture
def graph_home(tmp_path: Path, write_lines: Callable[..., Path]) -> Path:
    graph.add(Home.open(tmp_path / "place"), [write_lines("facts.nt", *LINES)])
    return tmp_path / "place"


@pytest.fixture
def questions(write_lines: Callable[..., Path]) -> Path:
    return write_lines(
        "questions.jsonl",
        {"question": "What is the capital of Peru?", "answers": ["Lima"]},
        {"question": "What is the capital of Chile?", "answers": ["Lima"]},
        {"question": "What is zyzzyva?", "answers": ["Zyzzyva"]},
        {"question": "Why do cats sleep?", "answers": []},
    )


def test_figures_by_hand(graph_home: Path, questions: Path) -> None:
    """One of three answers is right, one is wrong, one is missing; the unanswerable question is not answered."""
    reports: list[tuple[str, int]] = []
    (row,) = evaluate_facts(questions, home=graph_home, progress=lambda stage, done, *_: reports.append((stage, done)))
    assert (row.task, row.data, row.engine, row.queries) == (TASK, "questions.jsonl", "all", 4)
    means = {name: score.mean for name, score in row.scores.items()}
    assert means[MEASURE] == pytest.approx(1 / 3)
    assert means["answered"] == pytest.approx(2 / 3)
    assert means["precision"] == pytest.approx(1 / 2)
    assert means["abstained"] == 1
    assert 0 < means["p50_ms"] <= means["p99_ms"]
    assert row.scores[MEASURE].per_query == {"1": 1.0, "2": 0.0, "3": 0.0}
    assert reports == []
    assert as_json([row])
    assert table([row])


def test_simple_questions_have_a_row_for_exact_facts(graph_home: Path, write_lines: Callable[..., Path]) -> None:
    lead = "www.freebase.com/"
    data = write_lines(
        "sq.tsv",
        f"{lead}m/peru\t{lead}country/capital\t{lead}m/lima\twhat is the capital of peru",
        f"{lead}m/peru\t{lead}country/capital\t{lead}m/cusco\twhat is the capital of peru",
        f"{lead}m/france\t{lead}country/capital\t{lead}m/paris\twhat is the capital of france",
    )
    every, exact = evaluate_facts(data, home=graph_home)
    assert (every.engine, every.queries) == ("all", 2)
    assert (exact.engine, exact.queries) == ("fact in the graph", 1)
    assert exact.scores[MEASURE].mean == every.scores[MEASURE].mean == 1
    assert isnan(every.scores["abstained"].mean)
    assert evaluate_facts(data, home=graph_home, limit=1)[0].queries == 1


def test_progress_is_told_now_and_then(graph_home: Path, write_lines: Callable[..., Path]) -> None:
    data = write_lines("many.jsonl", *({"question": "capital of Peru", "answers": ["Lima"]} for _ in range(101)))
    reports: list[tuple[str, int]] = []
    with ExitStack() as held:
        facts = open_facts(Home.open(graph_home), Config(), held)
        scores = measured(
            facts, read_fact_questions(data, facts.lookup), lambda stage, done, *_: reports.append((stage, done))
        )
    assert reports == [("asked", 50), ("asked", 100)]
    assert len(scores[MEASURE].per_query) == 101


def test_without_a_graph_or_questions_it_says_so(graph_home: Path, tmp_path: Path, questions: Path) -> None:
    with pytest.raises(FactsError, match="there is none yet"):
        evaluate_facts(questions, home=tmp_path / "bare")
    with pytest.raises(TrainingDataError, match="Expected a file of questions"):
        evaluate_facts(tmp_path / "none.jsonl", home=graph_home)
