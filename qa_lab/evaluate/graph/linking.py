"""`eval linking`: which entity does a question name? Accuracy over questions whose subject is an entity of the graph.

Questions are lines of SimpleQuestions as published, `subject TAB relation TAB object TAB question`; those whose subject
is not in the home's graph are left out and counted. A question that names its subject in no way the graph knows stays
in and is answered wrongly. The rows: the entity with most facts of all that any words name (thesis, 4.3.3), the same
of the longest name, and our linker without and with what the graph says about entities.

`accuracy` is of all questions, `accuracy_known` of those whose subject is among the readings at all; `answered@.7` are
those whose best reading has that probability, `accuracy@.7` is the accuracy among these. `questions_per_second` are by
time of the processor.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kg_index.answers.graph_words import Vocabulary
from kg_index.linking.linker import Linker, Weights
from kg_index.triples.triple_index import TripleIndex
from qa_bot.documents.graph import Graph, open_graph
from qa_bot.home.folder import Home
from qa_core.measures.metrics import Score
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.train.errors import TrainingDataError

TASK = "linking"
MEASURE = "accuracy"
SURE = 0.7
"""In the names of two measures."""
SALIENCE = Weights(words=0, characters=0, salience=1, share=0, context=0)
LONGEST = Weights(words=1000, characters=0, salience=1, share=0, context=0)
_NAMESPACES = ((re.compile(r"[mg]\.\w+"), "http://rdf.freebase.com/ns/"),
               (re.compile(r"Q\d+"), "http://www.wikidata.org/entity/"))  # fmt: skip
_TOLD = 200  # questions between two reports of progress


class LinkingQuestion(NamedTuple):
    """A line of the data, and the entity that its subject is in the graph."""

    line: int
    question: str
    subject: int


class LinkingSet(NamedTuple):
    """Questions whose subject is in the graph, and how many others there were."""

    questions: list[LinkingQuestion]
    left_out: int


def evaluate_linking(
    data: Path, *, limit: int | None = None, home: Path | None = None, progress: Progress = silent
) -> list[Row]:
    """A row for each way to link, compared with salience alone by accuracy.

    Args:
        data: SimpleQuestions as published, with Freebase's or Wikidata's identifiers, or with IRIs.
        limit: lines that are read.
        home: whose graph it is, by default that of the environment; it is only read.

    Raises:
        TrainingDataError: a line is malformed, or no subject is in the graph.
        GraphError: the home has no graph.
    """
    with open_graph(Home.open(home)) as graph:
        asked = read_questions(data, graph.triples, limit=limit)
        if not asked.questions:
            raise TrainingDataError(
                f"Expected questions about entities of the graph in {data}, but got {asked.left_out} about others; "
                "add the graph that they were asked of with `qa-bot kg add`."
            )
        rows = [
            Row(TASK, data.name, "", name, "", len(asked.questions), _measured(name, linker, asked, progress))
            for name, linker in _linkers(graph)
        ]
    return compared(rows, MEASURE)


def read_questions(path: Path, triples: TripleIndex, *, limit: int | None = None) -> LinkingSet:
    """The questions of a file, of its first `limit` lines. Raises TrainingDataError with the line."""
    found: list[LinkingQuestion] = []
    read = 0
    for number, subject, question in _lines(path, limit):
        read += 1
        if (entity := triples.id_of(subject)) is not None:
            found.append(LinkingQuestion(number, question, entity))
    return LinkingSet(found, read - len(found))


def measured(linker: Linker, questions: Sequence[LinkingQuestion], progress: Progress = silent) -> dict[str, Score]:
    """Accuracy by question, of all, of those whose subject is a reading, and of those with a sure one."""
    right: dict[str, float] = {}
    known: dict[str, float] = {}
    sure: dict[str, float] = {}
    begin = time.process_time()  # nothing here waits: what others do on the machine does not count
    for done, (line, question, subject) in enumerate(questions, start=1):
        found, key = linker.candidates(question), str(line)
        right[key] = float(bool(found) and found[0].entity == subject)
        if any(reading.entity == subject for reading in found):
            known[key] = right[key]
        if found and found[0].score >= SURE:
            sure[key] = right[key]
        if done % _TOLD == 0:
            progress("linked", done)
    seconds = time.process_time() - begin
    return {
        MEASURE: Score.of(right),
        f"{MEASURE}_known": Score.of(known),
        "answered@.7": Score.of({key: float(key in sure) for key in right}),
        f"{MEASURE}@.7": Score.of(sure),
        "questions_per_second": _figure(len(questions) / max(seconds, 1e-9)),
    }


def _measured(name: str, linker: Linker, asked: LinkingSet, progress: Progress) -> dict[str, Score]:
    found = measured(linker, asked.questions, lambda _, done: progress(f"linked by {name}", done))
    return {**found, "left_out": _figure(asked.left_out)}


def _figure(value: float) -> Score:
    """One that is no mean over questions."""
    return Score(float(value), float("nan"), {})


def _linkers(graph: Graph) -> Iterator[tuple[str, Linker]]:
    names, salience = graph.mentions, graph.triples.salience
    yield "salience", Linker(names, salience, weights=SALIENCE)
    yield "longest name, then salience", Linker(names, salience, weights=LONGEST)
    yield "linker", Linker(names, salience)
    yield "linker with context", Linker(names, salience, context=Vocabulary(graph.triples).about)


def _lines(path: Path, limit: int | None) -> Iterator[tuple[int, str, str]]:
    """Numbers of lines, IRIs of subjects, questions."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise TrainingDataError(f"Expected a file of questions, but got {path}: {error.strerror}.") from None
    with file:
        for number, line in enumerate(file, start=1):
            if limit is not None and number > limit:
                break
            try:
                columns = line.decode("utf-8").rstrip("\r\n").split("\t")
            except UnicodeDecodeError as error:
                raise TrainingDataError(f"{path}, line {number}: Expected UTF-8, but got {error}.") from None
            if len(columns) != 4 or not columns[0] or not columns[3].strip():
                raise TrainingDataError(
                    f"{path}, line {number}: Expected subject, relation, object and question between tabs, but got "
                    f"{line[:80]!r}."
                )
            yield number, iri_of(columns[0]), columns[3]


def iri_of(name: str) -> str:
    """A subject or relation as a graph names it: `www.freebase.com/m/02qx` is `http://rdf.freebase.com/ns/m.02qx`.

    So is `m.02qx`; Wikidata's `Q42` is `http://www.wikidata.org/entity/Q42`; what is neither stays as it is.
    """
    if found := re.fullmatch(r"(?:https?://)?www\.freebase\.com/(.+?)/?", name):
        return _NAMESPACES[0][1] + found[1].replace("/", ".")
    return next((space + name for form, space in _NAMESPACES if form.fullmatch(name)), name)
