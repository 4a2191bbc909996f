"""Questions whose answers are facts, and which interpretations of them are right.

JSON lines   {"question": …, "answers": [label, IRI or value, …]}; without answers the graph cannot answer it
TSV          subject TAB relation TAB object TAB question, as SimpleQuestions is published
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import orjson

from kg_index.answers.interpretations import Interpretation
from kg_index.answers.lookup import Lookup
from qa_lab.evaluate.graph.linking import iri_of
from qa_lab.train.errors import TrainingDataError


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """`answers` are all right ones, as labels, values and IRIs that are compared with case folded.

    `fact` tells of a TSV's line whether its own triple is in the graph. `number` is the line.
    """

    number: int
    question: str
    answers: frozenset[str]
    fact: bool | None = None

    @property
    def answerable(self) -> bool:
        return bool(self.answers)

    def right(self, interpretation: Interpretation, lookup: Lookup) -> bool:
        """Whether an interpretation's answers are all of the wanted ones and no others."""
        if interpretation.counted:
            return self.answers == {str(len(interpretation.answers))}
        found = [
            {lookup.label(each).casefold(), lookup.triples.term(each).casefold()} for each in interpretation.answers
        ]
        known = frozenset[str]().union(*found)
        return len(found) == len(self.answers) and self.answers <= known and all(each & self.answers for each in found)


def read_fact_questions(path: Path, lookup: Lookup, *, limit: int | None = None) -> list[FactQuestion]:
    """Questions of either form. Of a TSV those are left out whose subject or relation the graph does not have at all.

    Raises:
        TrainingDataError: a line is malformed, or none is left.
    """
    try:
        lines = path.read_bytes().splitlines()[:limit]
    except OSError as error:
        raise TrainingDataError(f"Expected a file of questions, but got {path}: {error.strerror}.") from None
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    found = [each for number, line in numbered if (each := _read(path, number, line, lookup)) is not None]
    if not found:
        raise TrainingDataError(
            f"Expected questions about entities and relations of the graph in {path}, but got none."
        )
    return found


def _read(path: Path, number: int, line: bytes, lookup: Lookup) -> FactQuestion | None:
    try:
        if line.lstrip()[:1] == b"{":
            told = orjson.loads(line)
            if not isinstance(told["answers"], list):
                raise TypeError("answers are no list")
            return FactQuestion(number, str(told["question"]), frozenset(str(a).casefold() for a in told["answers"]))
        subject, relation, object_, question = line.decode("utf-8").split("\t")
    except (ValueError, KeyError, TypeError) as error:
        raise TrainingDataError(
            f"{path}, line {number}: Expected a JSON object with question and answers, or subject, relation, "
            f"object and question between tabs, but got {line[:80]!r} ({error})."
        ) from None
    s, p, o = (lookup.triples.id_of(iri_of(each)) for each in (subject, relation, object_))
    if s is None or p is None or p not in _predicates(lookup):
        return None
    objects = lookup.triples.objects(s, p).tolist()
    return FactQuestion(
        number,
        question,
        frozenset(lookup.triples.term(each).casefold() for each in objects),
        o is not None and o in objects,
    )


def _predicates(lookup: Lookup) -> frozenset[int]:
    return frozenset(lookup.triples.predicate_counts()[0].tolist())
