import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from kg_index.relations.template_text import NO_PATH
from kg_index.relations.templates import TemplateTable
from kg_index.training.mining import Bounds, QuestionAnswers, Tools, mine, mine_chunk
from kg_index.values.literals import Days, SameValue

NAMES = {"Bill Gates": [1, 9], "William Gates": [2], "Gates the elder": [2], "Seattle": [3], "Dune": [4]}
EDGES = {(2, "child", 1), (1, "parent", 2), (1, "born", 3), (2, "lives", 3)}
PREDICATES = ["born", "child", "lives", "parent", "people", "published", "pages"]
VALUES = [(3, "people", 737_015.0), (4, "published", Days.of(1965, 8)), (4, "pages", 1965.0)]


class Found(NamedTuple):
    start: int
    end: int
    entities: Sequence[int]


class Step(NamedTuple):
    predicate: int
    inverse: bool


class Names:
    def find(self, text: str) -> list[Found]:
        spans = [(match.start(), name) for name in NAMES for match in re.finditer(name, text)]
        return [Found(start, start + len(name), NAMES[name]) for start, name in sorted(spans)]


class Graph:
    """Brute force over `EDGES`."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def term(self, number: int) -> str:
        return PREDICATES[number]

    def near(self, s: int, value: float | Days, same: SameValue) -> np.ndarray:
        paths = [PREDICATES.index(p) for entity, p, known in VALUES if entity == s and same(known, value)]
        return np.array(paths, np.int64)

    def paths(self, a: int, b: int, *, longest: int) -> list[tuple[Step, ...]]:
        self.asked.append((a, b))
        paths = [(step,) for step, other in _steps(a) if other == b]
        if longest == 2:
            paths += [(one, two) for one, middle in _steps(a) for two, other in _steps(middle) if other == b]
        return paths


def _steps(a: int) -> list[tuple[Step, int]]:
    there = [(Step(PREDICATES.index(p), False), o) for s, p, o in sorted(EDGES) if s == a]
    return there + [(Step(PREDICATES.index(p), True), s) for s, p, o in sorted(EDGES) if o == a]


def tools() -> Tools:
    return Tools(Names(), Graph())


ONE_STEP = Bounds(longest=1)


def rows(pairs: list[tuple[str, ...]], bounds: Bounds = ONE_STEP) -> dict[tuple[str, str], float]:
    """From pairs of a question and its answers."""
    return {row[:2]: row.times for row in mine_chunk(map(pair, pairs), tools(), bounds).counts.rows()}


def pair(texts: tuple[str, ...]) -> QuestionAnswers:
    return QuestionAnswers(texts[0], texts[1:])


def test_duplicate_predicates_share_one() -> None:
    """The thesis' example: parent, and child backwards, are found between the two; each counts a half."""
    paths = rows([("Who is Bill Gates' father?", "William Gates")])
    assert paths == {("who is <m> father", "parent"): 0.5, ("who is <m> father", "^child"): 0.5}


def test_two_steps() -> None:
    paths = rows([("Who is Bill Gates?", "near Seattle")], Bounds())
    # born; parent, then lives; child backwards, then lives
    thirds = {("who is <m>", name): pytest.approx(1 / 3) for name in ("born", "parent / lives", "^child / lives")}
    assert paths == thirds


def test_numbers_and_dates_of_the_answer_tell_predicates() -> None:
    assert rows([("How many live in Seattle?", "about 740 thousand")]) == {("how many live in <m>", "people"): 1}
    assert rows([("How many live in Seattle?", "about 800 thousand")]) == {}, "more than one per cent away"
    halves = {("when was <m> out", "published"): 1.0, ("when was <m> out", "pages"): 1.0}
    assert rows([("When was Dune out?", "It came in 1965.")]) == halves, "a year is a date, and a number"
    assert rows([("When was Dune out?", "It came in 1966.")]) == {}, "a year has to agree"


def test_a_name_that_is_repeated_counts_once() -> None:
    repeated = ("Who is Bill Gates' father?", "William Gates said William Gates is, and William Gates alone")
    assert rows([repeated]) == {("who is <m> father", "parent"): 0.5, ("who is <m> father", "^child"): 0.5}
    twice = ("Was Seattle the Seattle of old?", "Bill Gates")
    assert rows([twice]) == {("was <m> the seattle of old", "^born"): 1}, "the first place of a name is the slot"


def test_names_of_an_entity_count_once_for_a_pair() -> None:
    names = ("Who is Bill Gates' father?", "William Gates", "Gates the elder", "William Gates")
    assert rows([names]) == {("who is <m> father", "parent"): 0.5, ("who is <m> father", "^child"): 0.5}
    other = ("Who is Bill Gates' father?", "William Gates", "Seattle")
    assert rows([other])["who is <m> father", "born"] == 1, "another entity counts too"
    silent = ("Who wrote Dune?", "William Gates", "Gates the elder", "Seattle")
    assert rows([silent]) == {("who wrote <m>", NO_PATH): 2}, "of two entities, one by two names"


def test_numbers_may_agree_in_three_digits() -> None:
    question = "How many live in Seattle?"
    assert rows([(question, "737 thousand")], Bounds(digits=3)) == {("how many live in <m>", "people"): 1}
    assert rows([(question, "740 thousand")], Bounds(digits=3)) == {}


def test_no_path_is_counted_once_for_two_mentions() -> None:
    assert rows([("Who wrote Dune?", "Bill Gates")]) == {("who wrote <m>", NO_PATH): 1}  # of two entities by that name
    assert rows([("Who wrote Dune?", "Ann")]) == {}
    assert rows([("Who wrote that?", "Dune")]) == {}


def test_each_mention_makes_a_template() -> None:
    paths = rows([("Did William Gates live in Seattle?", "Bill Gates did")])
    assert {template for template, _ in paths} == {"did <m> live in seattle", "did william gates live in <m>"}


def test_an_entity_is_not_asked_for_itself_and_a_bare_mention_is_no_template() -> None:
    graph = Graph()
    mine_chunk(map(pair, [("Where is Seattle?", "Seattle"), ("Dune", "Seattle")]), Tools(Names(), graph), Bounds())
    assert graph.asked == []


@pytest.mark.parametrize(
    ("bounds", "lookups"),
    [
        (Bounds(), 4),
        (Bounds(entities=1), 2),
        (Bounds(mentions=1), 2),
        (Bounds(lookups=3), 3),
        (Bounds(words=3), 0),
        (Bounds(characters=3), 0),
    ],
)
def test_work_is_bounded(bounds: Bounds, lookups: int) -> None:
    graph = Graph()
    mine_chunk([pair(("Where is Bill Gates now?", "Seattle or William Gates"))], Tools(Names(), graph), bounds)
    assert len(graph.asked) == lookups


PAIRS = [
    QuestionAnswers("Who is Bill Gates' father?", ["William Gates"]),
    QuestionAnswers("Where was Bill Gates born?", ["Seattle"]),
    QuestionAnswers("Who wrote Dune?", ["Bill Gates"]),
] * 5


@pytest.mark.parametrize(
    ("processes", "chunk", "held"), [(1, 100, 100), (1, 1, 1), (1, 4, 3), pytest.param(2, 2, 3, id="two processes")]
)
def test_counts_do_not_depend_on_how_they_were_made(tmp_path: Path, processes: int, chunk: int, held: int) -> None:
    out = tmp_path / "templates.tsv"
    progress = list(mine(PAIRS, tools, out, bounds=ONE_STEP, processes=processes, chunk=chunk, held=held))
    assert (progress[-1].pairs, progress[-1].with_mentions) == (15, 15)
    assert [report.pairs for report in progress] == sorted(report.pairs for report in progress)
    assert {row[:2]: row.times for row in TemplateTable.load(out).rows()} == {
        ("where was <m> born", "born"): 5,
        ("who is <m> father", "^child"): 2.5,
        ("who is <m> father", "parent"): 2.5,
        ("who wrote <m>", NO_PATH): 5,
    }
    assert list(tmp_path.iterdir()) == [out]


def test_no_pairs_make_an_empty_table(tmp_path: Path) -> None:
    assert list(mine([], tools, tmp_path / "t.tsv", processes=1)) == []
    assert len(TemplateTable.load(tmp_path / "t.tsv")) == 0


def test_a_broken_run_leaves_the_old_table(tmp_path: Path) -> None:
    out = tmp_path / "t.tsv"
    out.write_text("a\tr\t1\n")

    def broken():
        yield PAIRS[0]
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        list(mine(broken(), partial(tools), out, processes=1, chunk=1))
    assert out.read_text() == "a\tr\t1\n"
    assert list(tmp_path.iterdir()) == [out]
