"""Interprets a question: a topic, a path of predicates from it, and the answers at its end (Wang (2018), ch. 4.3).

Features measure how well an interpretation explains the question; `kg_index/answers/answerer.py` weighs them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from typing import TYPE_CHECKING

from kg_index.answers.answer_type import AnswerType, asks_for_list
from kg_index.answers.candidate_paths import CandidatePath, CandidatePathFinder, TopicView
from kg_index.answers.topics import QuestionEntities, Topic
from kg_index.answers.verbalise import form_of
from kg_index.answers.walks import Walker
from kg_index.relations.keywords import keywords
from kg_index.relations.relation_scorers import Encode, RelationScorer
from kg_index.triples.paths import Path, Step
from kg_index.values.literals import Days, value_of

if TYPE_CHECKING:  # not loaded without mined templates
    from kg_index.relations.templates import TemplateTable

FEATURES = (
    "link",  # share of the topic among the candidates of overlapping mentions
    "link_score",  # probability of the topic among all candidates of the question
    "coverage",  # share of the question's content stems that relation, kinds or topic explain
    "unexplained",  # number of unexplained content stems, at most 4
    "untold",  # the same, if the graph gives names of the relation
    "whole",  # 1 if all stems are explained
    "precision",  # share of the stems of the relation's best name that the question has
    "cosine",  # of the question without its topic and the relation's nearest name
    "soft",  # cosine times the uncovered share
    "template",  # p(r|T) of a known template
    "model",  # probability by a trained scorer among the relations of the topic
    "kind",  # 1 if the answers are of a kind that the question names
    "type",  # 1 if the answer is a number or date as expected, -1 if it is neither
    "prose",  # 1 if the question asks whether, why or how
    "cut",  # 1 if the name seems longer than the mention
    "value",  # 1 if the topic is a value
    "inverse",  # 1 if the first step is inverse
    "guessed",  # 1 if an inverse step has no name but its IRI, which mostly describes its objects
    "guessed_precision",
    "guessed_cosine",
    "steps",  # 1 for two steps
    "size",  # log(1 + number of answers)
)
_MAX_PATHS = 12  # candidate paths of a question whose answers are looked up
_AFTER = re.compile(r"[ -]([^\W\d_]\w*)")
_HYPHEN = re.compile(r"\w-$")
_BEFORE = re.compile(r"([^\W\d_][\w']*)[ -]$")


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A topic, a path and its answers.

    `answers` are at most `MOST_ANSWERS` ids; `more` says that there are others. `counted` says that the question asks
    for their number.
    """

    topic: Topic
    path: Path
    relation: str
    template: str
    answers: tuple[int, ...]
    counted: bool
    features: Mapping[str, float]
    more: bool = False


_OF_TOPIC = re.compile(r"(?P<of>\w+) of (?:the )?<m>|<m>(?:'s|’s|s') (?:\w+ )??(?P<possessed>\w+)\W*$", re.IGNORECASE)
_SYMMETRIC = keywords(
    "spouse wife husband partner sibling brother sister cousin colleague friend neighbour neighbor border twin"
)
"""Stems of relations that hold in both directions."""


class Interpreter:
    """Interprets questions over one generation of a graph."""

    def __init__(
        self,
        walker: Walker,
        encode: Encode,
        *,
        templates: TemplateTable | None = None,
        scorer: RelationScorer | None = None,
    ) -> None:
        """
        Args:
            encode: texts to unit vectors, for questions that share no word with a relation's names.
            templates: known templates.
            scorer: a trained scorer of relations.
        """
        self._walker, self._triples, self._vocabulary = walker, walker.triples, walker.vocabulary
        self._finder = CandidatePathFinder(walker, encode, templates, scorer)

    def interpret(
        self, question: str, entities: QuestionEntities, *, check: Callable[[], object] = lambda: None
    ) -> list[Interpretation]:
        """Interpretations with answers, unordered; `check` is called between topics and may raise to stop."""
        paths: list[CandidatePath] = []
        for view in self._finder.views(question, entities.topics, entities.kinds):
            check()
            paths += self._finder.paths(view)
        for view in self._finder.views(question, entities.kinds) if asks_for_list(question) else ():
            if view.stems <= self._context(view.topic):  # all members of a kind, if nothing restricts them
                paths += self._finder.paths(view, [Step(p, True) for p in self._vocabulary.types])
        paths.sort(key=lambda path: -path.prior)
        interpretations = map(
            self._interpretation, [path for path in paths if not self._is_reversed(path)][:_MAX_PATHS]
        )
        return [interpretation for interpretation in interpretations if interpretation.answers]

    def _is_reversed(self, candidate: CandidatePath) -> bool:
        """Whether the question asks for "the capital of Paris", but the path leads to what Paris is the capital of."""
        (step, *others), match = candidate.path, _OF_TOPIC.search(candidate.view.template)
        if others or not step.inverse or match is None:
            return False
        names = self._vocabulary.names(step.predicate)
        noun = keywords(match["of"] or match["possessed"])
        return bool(noun) and form_of(names.texts[0]) == "noun" and noun <= names.all_stems and not noun & _SYMMETRIC

    def _interpretation(self, candidate: CandidatePath) -> Interpretation:
        """Look up the answers and compute the features."""
        view = candidate.view
        middles, answers, more = self._walker.follow(view.topic.id, candidate.path)
        answer_kinds = self._kinds_among(view.kinds, answers)
        if answer_kinds:
            kinds = {kind.id for kind in answer_kinds}
            answers = [a for a in self._walker.entities(answers) if kinds & self._vocabulary.kinds(a)]
        explained = candidate.fit.explained.union(
            *(keywords(kind.text) for kind in (*answer_kinds, *self._kinds_among(view.kinds, middles))),
            self._context(view.topic),
        )
        rest = len(view.stems - explained)
        counted = view.expected == "count" and not any(isinstance(self._value(a), float) for a in answers)
        of_kind = bool(answer_kinds) or candidate.path[0].predicate in self._vocabulary.types
        features = {
            **_view_features(view),
            **self._relation_features(candidate, rest),
            "kind": of_kind or (view.expected == "count" and not counted and bool(candidate.fit.explained)),
            "type": self._type(view.expected, answers, counted=counted),
            "size": log1p(len(answers)),
        }
        return Interpretation(
            view.topic,
            candidate.path,
            candidate.relation,
            view.template,
            tuple(answers),
            counted,
            {name: float(features[name]) for name in FEATURES},
            more,
        )

    def _relation_features(self, candidate: CandidatePath, rest: int) -> dict[str, float]:
        """Features of the path; `rest` is the number of unexplained stems."""
        stems, fit, path = candidate.view.stems, candidate.fit, candidate.path
        coverage = 1 - rest / len(stems) if stems else 1.0
        has_names = [self._vocabulary.names(step.predicate).from_graph for step in path]
        is_type = path[0].predicate in self._vocabulary.types
        guessed = not is_type and any(step.inverse and not named for step, named in zip(path, has_names, strict=True))
        return {
            "coverage": coverage,
            "unexplained": min(rest, 4),
            "untold": min(rest, 4) * all(has_names),
            "whole": not rest,
            "precision": fit.precision,
            "cosine": fit.cosine,
            "soft": (1 - coverage) * fit.cosine,
            "template": candidate.template,
            "model": candidate.model,
            "inverse": path[0].inverse,
            "guessed": guessed,
            "guessed_precision": guessed * fit.precision,
            "guessed_cosine": guessed * fit.cosine,
            "steps": len(path) - 1,
        }

    def _kinds_among(self, kinds: Sequence[Topic], ids: Iterable[int]) -> list[Topic]:
        """The kinds that some of the terms have."""
        if not kinds:
            return []
        present = frozenset[int]().union(*map(self._vocabulary.kinds, self._walker.entities(ids)))
        return [kind for kind in kinds if kind.id in present]

    def _context(self, topic: Topic) -> frozenset[str]:
        """Stems of the topic's kinds and description, with which a question may disambiguate it."""
        if topic.is_value:
            return frozenset()
        kinds = (self._vocabulary.names(kind).all_stems for kind in self._vocabulary.kinds(topic.id))
        return keywords(self._vocabulary.description(topic.id)).union(*kinds)

    def _value(self, number: int) -> float | Days | None:
        return value_of(self._triples.term(number)) if self._triples.is_literal(number) else None

    def _type(self, expected: AnswerType, answers: Sequence[int], *, counted: bool) -> float:
        match expected:
            case "any" | "prose":
                return 0.0
            case "count":
                return 0.5 if counted else 1.0
            case "entity":
                return 0.0 if self._walker.entities(answers) else -1.0
        kind = Days if expected == "date" else float
        return 1.0 if all(isinstance(self._value(answer), kind) for answer in answers) else -1.0


def _view_features(view: TopicView) -> dict[str, float]:
    topic = view.topic
    return {
        "link": topic.share,
        "link_score": topic.score,
        "prose": view.expected == "prose",
        "cut": _is_cut(view),
        "value": topic.is_value,
    }


def _is_cut(view: TopicView) -> bool:
    """Whether the name seems longer than the mention: "Swift" in "Taylor Swift", "pop" in "k-pop"."""
    question, topic = view.question, view.topic
    if topic.is_value:
        return False
    if _HYPHEN.search(question[max(topic.start - 2, 0) : topic.start]):
        return True
    after = _AFTER.match(question, topic.end)
    if after is not None and after[1][0].isupper():
        return True
    before = _BEFORE.search(question, 0, topic.start)
    return before is not None and before[1][0].isupper() and before.start() > 0
