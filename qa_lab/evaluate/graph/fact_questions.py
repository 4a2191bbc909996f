"""Reads questions whose answers are facts, and decides which interpretations are right.

JSON lines   {"question": …, "answers": [label, IRI or value, …]}; no answers if the graph has none
TSV          subject TAB relation TAB object TAB question, the published format of SimpleQuestions
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import orjson

from kg_index.answers.interpretations import Interpretation
from kg_index.answers.lookup import Lookup
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.graph.linking import iri_of


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """A question of line `number`.

    `answers` are all right answers as case-folded labels, values or IRIs. `fact` says of a TSV line whether its triple
    is in the graph.
    """

    number: int
    question: str
    answers: frozenset[str]
    fact: bool | None = None

    @property
    def answerable(self) -> bool:
        return bool(self.answers)

    def right(self, interpretation: Interpretation, lookup: Lookup) -> bool:
        """Whether an interpretation has exactly the right answers."""
        if interpretation.counted:
            return self.answers == {str(len(interpretation.answers))}
        names = [{lookup.label(a).casefold(), lookup.triples.term(a).casefold()} for a in interpretation.answers]
        matches = self.answers <= frozenset[str]().union(*names) and all(answer & self.answers for answer in names)
        return len(names) == len(self.answers) and matches


def read_fact_questions(path: Path, lookup: Lookup, *, limit: int | None = None) -> list[FactQuestion]:
    """The first `limit` questions of either format, without TSV lines with a subject or relation not in the graph.

    Raises TrainingDataError if a line is malformed or no question is left.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise TrainingDataError(f"Expected a file of questions, but got {path}: {error.strerror}.") from None
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    parsed = (_read(path, number, line, lookup) for number, line in numbered)
    questions = list(islice((question for question in parsed if question is not None), limit))
    if not questions:
        raise TrainingDataError(
            f"Expected questions about entities and relations of the graph in {path}, but got none."
        )
    return questions


def _read(path: Path, number: int, line: bytes, lookup: Lookup) -> FactQuestion | None:
    try:
        if line.lstrip()[:1] == b"{":
            row = orjson.loads(line)
            if not isinstance(row["answers"], list):
                raise TypeError("answers are not a list")
            return FactQuestion(number, str(row["question"]), frozenset(str(a).casefold() for a in row["answers"]))
        subject, relation, object_, question = line.decode("utf-8").split("\t")
    except (ValueError, KeyError, TypeError) as error:
        raise TrainingDataError(
            f"{path}, line {number}: Expected a JSON object with question and answers, or subject, relation, "
            f"object and question between tabs, but got {line[:80]!r} ({error})."
        ) from None
    s, p, o = (lookup.triples.id_of(iri_of(name)) for name in (subject, relation, object_))
    if s is None or p is None or p not in _predicates(lookup):
        return None
    objects = lookup.triples.objects(s, p).tolist()
    return FactQuestion(
        number,
        question,
        frozenset(lookup.triples.term(answer).casefold() for answer in objects),
        o is not None and o in objects,
    )


def _predicates(lookup: Lookup) -> frozenset[int]:
    return frozenset(lookup.triples.predicate_counts()[0].tolist())
