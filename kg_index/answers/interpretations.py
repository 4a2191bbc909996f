"""Readings of a question: a topic, a path of predicates from it, and the answers at the path's end (thesis, ch. 4.3).

How well an interpretation explains the question is told by a few features; `kg_index/answers/answerer.py` weighs them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from typing import TYPE_CHECKING

from kg_index.answers.answer_type import AnswerType, listing
from kg_index.answers.candidate_paths import CandidatePath, CandidatePathFinder, TopicView
from kg_index.answers.topics import QuestionEntities, Topic
from kg_index.answers.walks import Walker
from kg_index.relations.keywords import keywords
from kg_index.relations.relation_scorers import Encode
from kg_index.triples.paths import Path, Step
from kg_index.values.literals import Days, value_of

if TYPE_CHECKING:  # torch comes with these
    from kg_index.relations.relation_scorers import RelationScorer
    from kg_index.relations.templates import TemplateTable

FEATURES = (
    "link",  # part of this interpretation of the mention among all that overlap it
    "link_score",  # probability of the topic among all that the question names
    "coverage",  # part of the question's informative stems that relation, kinds or topic explain
    "unexplained",  # how many of them nothing explains, at most 4
    "untold",  # the same, where the graph tells names of the relation, so that more could be expected
    "whole",  # 1 where nothing is left unexplained
    "precision",  # part of the stems of the relation's best name that the question has
    "cosine",  # of the question without its topic and the relation's nearest name
    "soft",  # cosine times what is not covered
    "template",  # p(r|T) of a known template
    "model",  # what a trained scorer gives the relation among those of the topic
    "kind",  # 1 where the answers are of a kind that the question names
    "type",  # 1 where the answer is a number or date as wanted, -1 where it is none
    "prose",  # 1 where the wording asks whether, why or how: what no fact is
    "cut",  # 1 where the name seems to go on beside the mention
    "value",  # 1 where the topic is a value
    "inverse",  # 1 where the first step leads against its triples
    "guessed",  # 1 where such a step has no name but its IRI, which mostly tells what its objects are
    "guessed_precision",
    "guessed_cosine",
    "steps",  # 1 for two steps
    "size",  # log(1 + number of answers)
)
_LOOKED_AT = 12  # drafts of a question whose answers are looked up
_AFTER = re.compile(r"[ -]([^\W\d_]\w*)")
_HYPHEN = re.compile(r"\w-$")
_BEFORE = re.compile(r"([^\W\d_][\w']*)[ -]$")


@dataclass(frozen=True, slots=True)
class Interpretation:
    """`answers` are ids, at most `MOST_ANSWERS`, and `more` says that there are others that were not looked at.

    `counted` says that their number is what is asked for.
    """

    topic: Topic
    path: Path
    relation: str
    template: str
    answers: tuple[int, ...]
    counted: bool
    features: Mapping[str, float]
    more: bool = False


class Interpreter:
    """Reads questions over one generation of a graph."""

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
            encode: texts to unit vectors, for what shares no word with a relation's names.
            templates: known templates, which are looked up.
            scorer: a trained scorer of relations.
        """
        self._walker, self._triples, self._vocabulary = walker, walker.triples, walker.vocabulary
        self._drafter = CandidatePathFinder(walker, encode, templates, scorer)

    def read(
        self, question: str, entities: QuestionEntities, *, check: Callable[[], object] = lambda: None
    ) -> list[Interpretation]:
        """Readings that have an answer, in no order; `check` is called between topics, and may raise."""
        drafts: list[CandidatePath] = []
        for asked in self._drafter.asked(question, entities.topics, entities.kinds):
            check()
            drafts += self._drafter.drafts(asked)
        for asked in self._drafter.asked(question, entities.kinds) if listing(question) else ():
            if asked.stems <= self._context(asked.topic):  # all of them only where nothing tells which
                drafts += self._drafter.drafts(asked, [Step(p, True) for p in self._vocabulary.types])
        drafts.sort(key=lambda draft: -draft.prior)
        interpretations = map(self._answered, drafts[:_LOOKED_AT])
        return [interpretation for interpretation in interpretations if interpretation.answers]

    def _answered(self, draft: CandidatePath) -> Interpretation:
        asked, fit = draft.asked, draft.fit
        middles, answers, more = self._walker.follow(asked.topic.id, draft.path)
        if named := self._kinds_among(asked.kinds, answers):
            kinds = {kind.id for kind in named}
            answers = [a for a in self._walker.entities(answers) if kinds & self._vocabulary.kinds(a)]
        passed = self._kinds_among(asked.kinds, middles)
        explained = fit.explained.union(
            *(keywords(kind.text) for kind in (*named, *passed)), self._context(asked.topic)
        )
        rest = len(asked.stems - explained)
        counted = asked.expected == "count" and not any(isinstance(self._value(a), float) for a in answers)
        numbered = asked.expected == "count" and not counted and bool(fit.explained)
        coverage = 1 - rest / len(asked.stems) if asked.stems else 1.0
        of_kind = draft.path[0].predicate in self._vocabulary.types
        named_by = [(step.inverse, self._vocabulary.names(step.predicate).from_graph) for step in draft.path]
        guessed = not of_kind and any(inverse and not told for inverse, told in named_by)
        features = {
            "link": asked.topic.share,
            "link_score": asked.topic.score,
            "coverage": coverage,
            "unexplained": min(rest, 4),
            "untold": min(rest, 4) * all(told for _, told in named_by),
            "whole": not rest,
            "precision": fit.precision,
            "cosine": fit.cosine,
            "soft": (1 - coverage) * fit.cosine,
            "template": draft.template,
            "model": draft.model,
            "kind": bool(named) or numbered or of_kind,
            "type": self._type(asked.expected, answers, counted=counted),
            "prose": asked.expected == "prose",
            "cut": _goes_on(asked),
            "value": asked.topic.is_value,
            "inverse": draft.path[0].inverse,
            "guessed": guessed,
            "guessed_precision": guessed * fit.precision,
            "guessed_cosine": guessed * fit.cosine,
            "steps": len(draft.path) - 1,
            "size": log1p(len(answers)),
        }
        return Interpretation(
            asked.topic,
            draft.path,
            draft.relation,
            asked.template,
            tuple(answers),
            counted,
            {name: float(value) for name, value in features.items()},
            more,
        )

    def _kinds_among(self, kinds: Sequence[Topic], ids: Iterable[int]) -> list[Topic]:
        """Those kinds of which some of the terms are."""
        if not kinds:
            return []
        found = frozenset[int]().union(*map(self._vocabulary.kinds, self._walker.entities(ids)))
        return [kind for kind in kinds if kind.id in found]

    def _context(self, topic: Topic) -> frozenset[str]:
        """Stems of what the graph says the topic is, with which a question tells senses apart."""
        if topic.is_value:
            return frozenset()
        kinds = (self._vocabulary.names(kind).all_stems for kind in self._vocabulary.kinds(topic.id))
        return keywords(self._vocabulary.description(topic.id)).union(*kinds)

    def _value(self, number: int) -> float | Days | None:
        return value_of(self._triples.term(number)) if self._triples.is_literal(number) else None

    def _type(self, asked: AnswerType, answers: Sequence[int], *, counted: bool) -> float:
        match asked:
            case "any" | "prose":
                return 0.0
            case "count":
                return 0.5 if counted else 1.0
            case "entity":
                return 0.0 if self._walker.entities(answers) else -1.0
        kind = Days if asked == "date" else float
        return 1.0 if all(isinstance(self._value(each), kind) for each in answers) else -1.0


def _goes_on(asked: TopicView) -> bool:
    """Whether the topic's name seems longer: "Taylor Swift" where only "Swift" is known, "k-pop" where "pop" is."""
    question, topic = asked.question, asked.topic
    if topic.is_value:
        return False
    if _HYPHEN.search(question[max(topic.start - 2, 0) : topic.start]):
        return True
    after = _AFTER.match(question, topic.end)
    if after is not None and after[1][0].isupper():
        return True
    before = _BEFORE.search(question, 0, topic.start)
    return before is not None and before[1][0].isupper() and before.start() > 0
