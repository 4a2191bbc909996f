"""`eval linking`: measures entity linking on questions whose subject is an entity of the graph.

Questions are lines of SimpleQuestions as published, `subject TAB relation TAB object TAB question`. Those whose subject
is not in the home's graph are skipped and counted. A subject under a name that the graph does not know counts as wrong.
The rows: the entity with most facts among all names (Wang (2018), ch. 4.3.3), among the longest names, and the linker
without and with context.

`accuracy` is over all questions, `accuracy_known` over those whose subject is a candidate. `answered@.7` is the share
of questions whose best candidate has that probability, `accuracy@.7` the accuracy over these. `questions_per_second`
is by processor time.
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
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared

TASK = "linking"
MEASURE = "accuracy"
SURE = 0.7
"""Probability in the names of two measures."""
SALIENCE = Weights(words=0, characters=0, salience=1, share=0, context=0)
LONGEST = Weights(words=1000, characters=0, salience=1, share=0, context=0)
_NAMESPACES = ((re.compile(r"[mg]\.\w+"), "http://rdf.freebase.com/ns/"),
               (re.compile(r"Q\d+"), "http://www.wikidata.org/entity/"))  # fmt: skip
_REPORT_EVERY = 200  # questions between two reports of progress


class LinkingQuestion(NamedTuple):
    """A line of the data with the entity of its subject."""

    line: int
    question: str
    subject: int


class LinkingSet(NamedTuple):
    """Questions whose subject is in the graph, and the number of the others."""

    questions: list[LinkingQuestion]
    left_out: int


def evaluate_linking(
    data: Path, *, limit: int | None = None, home: Path | None = None, progress: Progress = silent
) -> list[Row]:
    """A row for each linker, compared with salience alone by accuracy.

    Args:
        data: SimpleQuestions as published, with Freebase's or Wikidata's identifiers, or with IRIs.
        limit: largest number of questions about entities of the graph.
        home: the home with the graph, by default that of the environment.

    Raises:
        TrainingDataError: a line is malformed, or no subject is in the graph.
        GraphError: the home has no graph.
    """
    with open_graph(Home.open(home)) as graph:
        linking_set = read_questions(data, graph.triples, limit=limit)
        if not linking_set.questions:
            raise TrainingDataError(
                f"Expected questions about entities of the graph in {data}, but got {linking_set.left_out} about "
                "others; add their graph with `qa-bot kg add`."
            )
        rows = [
            Row(
                TASK,
                data.name,
                "",
                name,
                "",
                len(linking_set.questions),
                _measured(name, linker, linking_set, progress),
            )
            for name, linker in _linkers(graph)
        ]
    return compared(rows, MEASURE)


def read_questions(path: Path, triples: TripleIndex, *, limit: int | None = None) -> LinkingSet:
    """The first `limit` questions about entities of the graph. Raises TrainingDataError with the line."""
    questions: list[LinkingQuestion] = []
    read = 0
    for number, subject, question in _lines(path):
        if len(questions) == limit:
            break
        read += 1
        if (entity := triples.id_of(subject)) is not None:
            questions.append(LinkingQuestion(number, question, entity))
    return LinkingSet(questions, read - len(questions))


def measured(linker: Linker, questions: Sequence[LinkingQuestion], progress: Progress = silent) -> dict[str, Score]:
    """The measures of the module's docstring."""
    right: dict[str, float] = {}
    known: dict[str, float] = {}
    sure: dict[str, float] = {}
    begin = time.process_time()  # independent of other processes
    for done, (line, question, subject) in enumerate(questions, start=1):
        candidates, key = linker.candidates(question), str(line)
        right[key] = float(bool(candidates) and candidates[0].entity == subject)
        if any(candidate.entity == subject for candidate in candidates):
            known[key] = right[key]
        if candidates and candidates[0].score >= SURE:
            sure[key] = right[key]
        if done % _REPORT_EVERY == 0:
            progress("linked", done)
    seconds = time.process_time() - begin
    return {
        MEASURE: Score.of(right),
        f"{MEASURE}_known": Score.of(known),
        "answered@.7": Score.of({key: float(key in sure) for key in right}),
        f"{MEASURE}@.7": Score.of(sure),
        "questions_per_second": single_value(len(questions) / max(seconds, 1e-9)),
    }


def _measured(name: str, linker: Linker, linking_set: LinkingSet, progress: Progress) -> dict[str, Score]:
    scores = measured(linker, linking_set.questions, lambda _, done: progress(f"linked by {name}", done))
    return {**scores, "left_out": single_value(linking_set.left_out)}


def single_value(value: float) -> Score:
    """A figure that is not a mean over questions."""
    return Score(float(value), float("nan"), {})


def _linkers(graph: Graph) -> Iterator[tuple[str, Linker]]:
    names, salience = graph.mentions, graph.triples.salience
    yield "salience", Linker(names, salience, weights=SALIENCE)
    yield "longest name, then salience", Linker(names, salience, weights=LONGEST)
    yield "linker", Linker(names, salience)
    yield "linker with context", Linker(names, salience, context=Vocabulary(graph.triples).about)


def _lines(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line numbers, IRIs of subjects, and questions."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise TrainingDataError(f"Expected a file of questions, but got {path}: {error.strerror}.") from None
    with file:
        for number, line in enumerate(file, start=1):
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
    """The IRI of a subject or relation of SimpleQuestions.

    `www.freebase.com/m/02qx` and `m.02qx` are `http://rdf.freebase.com/ns/m.02qx`, `Q42` is
    `http://www.wikidata.org/entity/Q42`; other names are returned unchanged.
    """
    if path := re.fullmatch(r"(?:https?://)?www\.freebase\.com/(.+?)/?", name):
        return _NAMESPACES[0][1] + path[1].replace("/", ".")
    return next((space + name for form, space in _NAMESPACES if form.fullmatch(name)), name)
