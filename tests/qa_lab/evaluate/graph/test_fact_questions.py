"""Questions about facts as files give them, and which interpretations are right."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kg_index.answers.interpretations import Interpretation
from kg_index.answers.lookup import Lookup
from kg_index.answers.topics import Topic
from kg_index.triples.paths import Step
from qa_bot.documents import graph
from qa_bot.home.folder import Home
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.graph.fact_questions import FactQuestion, read_fact_questions

NS = "http://rdf.freebase.com/ns/"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
YEAR = "<http://www.w3.org/2001/XMLSchema#gYear>"
LINES = (
    f"<{NS}m.a> <{NS}people.person.child> <{NS}m.b> .",
    f"<{NS}m.a> <{NS}people.person.child> <{NS}m.c> .",
    f'<{NS}m.b> {LABEL} "Bea"@en .',
    f'<{NS}m.c> {LABEL} "Cea"@en .',
    f'<{NS}m.d> {LABEL} "Bea"@en .',
    f'<{NS}m.a> <{NS}people.person.born> "1867"^^{YEAR} .',
)


@pytest.fixture
def lookup(tmp_path: Path, write_lines: Callable[..., Path]) -> Iterator[Lookup]:
    home = Home.open(tmp_path / "place")
    graph.add(home, [write_lines("facts.nt", *LINES)])
    with graph.open_graph(home) as opened:
        yield opened.lookup


def interpretation(lookup: Lookup, *answers: str, counted: bool = False) -> Interpretation:
    ids = [lookup.triples.id_of(name if name.startswith('"') else NS + name) for name in answers]
    assert None not in ids
    return Interpretation(Topic(0, 0, 1, "a", 1.0, 1.0), (Step(0, False),), "r", "<m>", tuple(ids), counted, {})


def fact_question(*answers: str) -> FactQuestion:
    return FactQuestion(1, "?", frozenset(name.casefold() for name in answers))


def test_right_are_all_answers_and_no_others(lookup: Lookup) -> None:
    both = fact_question("Bea", "CEA")
    assert both.right(interpretation(lookup, "m.b", "m.c"), lookup)
    assert not both.right(interpretation(lookup, "m.b"), lookup)
    assert not both.right(interpretation(lookup, "m.b", "m.c", "m.a"), lookup)
    assert not both.right(interpretation(lookup, "m.b", "m.d"), lookup)  # twice the one, never the other
    assert fact_question(f"{NS}m.b").right(interpretation(lookup, "m.b"), lookup)
    assert not fact_question(f"{NS}m.b").right(interpretation(lookup, "m.d"), lookup)
    assert fact_question("1867").right(interpretation(lookup, f'"1867"^^{YEAR}'), lookup)
    assert not fact_question().right(interpretation(lookup, "m.b"), lookup)


def test_a_count_is_right_by_its_number(lookup: Lookup) -> None:
    counted = interpretation(lookup, "m.b", "m.c", counted=True)
    assert fact_question("2").right(counted, lookup)
    assert not fact_question("3").right(counted, lookup)
    assert not fact_question("Bea", "Cea").right(counted, lookup)


def test_lines_of_json(lookup: Lookup, write_lines: Callable[..., Path]) -> None:
    path = write_lines(
        "q.jsonl",
        {"question": "Who?", "answers": ["Bea", 7]},
        "",
        {"question": "Why?", "answers": []},
        {"question": "Whose?", "answers": ["X"], "more": 1},
    )
    first, second, third = read_fact_questions(path, lookup)
    assert (first.number, first.question, first.answers, first.fact) == (1, "Who?", {"bea", "7"}, None)
    assert (second.number, second.answerable, first.answerable) == (3, False, True)
    assert third.number == 4
    assert [name.number for name in read_fact_questions(path, lookup, limit=2)] == [1, 3]


def test_lines_of_simple_questions(lookup: Lookup, write_lines: Callable[..., Path]) -> None:
    """Those about other entities or relations are left out; of the others all objects in the graph are answers."""
    lead = "www.freebase.com/"
    path = write_lines(
        "q.tsv",
        f"{lead}m/a\t{lead}people/person/child\t{lead}m/b\twhose child is it",
        f"{lead}m/a\t{lead}people/person/child\t{lead}m/z\twhose other child is it",
        f"{lead}m/z\t{lead}people/person/child\t{lead}m/b\twhose",
        f"{lead}m/a\t{lead}people/person/pet\t{lead}m/b\twhich pet",
        f"{lead}m/b\t{lead}people/person/child\t{lead}m/c\tno fact",
    )
    known, other, none = read_fact_questions(path, lookup)
    assert known.answers == other.answers == {f"{NS}m.b", f"{NS}m.c"}
    assert (known.fact, other.fact, none.fact) == (True, False, False)
    assert (none.number, none.answerable) == (5, False)
    assert read_fact_questions(path, lookup, limit=3)[-1].number == 5  # two others are left out
    assert known.right(interpretation(lookup, "m.b", "m.c"), lookup)


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "{",
        '{"question": "a"}',
        '{"question": "a", "answers": null}',
        '{"question": "a", "answers": "Bea"}',
        "no tabs",
        "a\tb\tc",
        "a\tb\tc\td\te",
    ],
)
def test_a_malformed_line_is_told_with_its_number(lookup: Lookup, write_lines: Callable[..., Path], line: str) -> None:
    path = write_lines("q.txt", {"question": "Who?", "answers": []}, line)
    with pytest.raises(TrainingDataError, match=r"q\.txt, line 2: Expected a JSON object with question and answers"):
        read_fact_questions(path, lookup)


def test_bytes_that_are_no_text_and_files_without_a_question(lookup: Lookup, tmp_path: Path) -> None:
    path = tmp_path / "q.tsv"
    path.write_bytes(b"\xff\t\xff\t\xff\t\xff\n")
    with pytest.raises(TrainingDataError, match="line 1"):
        read_fact_questions(path, lookup)
    path.write_bytes(b"\n\n")
    with pytest.raises(TrainingDataError, match="but got none"):
        read_fact_questions(path, lookup)
    with pytest.raises(TrainingDataError, match="Expected a file of questions"):
        read_fact_questions(tmp_path / "nowhere", lookup)
