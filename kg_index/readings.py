"""Readings of a question: a topic, a path of predicates from it, and the answers at the path's end (thesis, ch. 4.3).

Candidates are the predicates of the topic in either direction, and paths of two steps each of which the question names.
How well a reading explains the question is told by a few features; `kg_index/answers.py` weighs them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import log1p
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kg_index.keywords import keywords
from kg_index.literals import Days, value_of
from kg_index.paths import Path, Step
from kg_index.relation_scorers import Encode, asked_text
from kg_index.shapes import ASKING, Wanted, listing, wanted
from kg_index.template_text import path_text, template_of
from kg_index.topics import Spotted, Topic
from kg_index.triples import TripleIndex
from kg_index.vocabulary import Vocabulary
from qa_core.types import FloatArray

if TYPE_CHECKING:  # torch comes with these
    from kg_index.relations import RelationScorer
    from kg_index.templates import TemplateTable

FEATURES = (
    "link",  # part of this reading of the mention among all that overlap it
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
MOST_ANSWERS = 1_000
_LOOKED_AT = 12  # readings of a question whose answers are looked up
_PREDICATES = 2_000  # of a topic that are compared
_MIDDLES = 8  # entities at the end of a first step from which a second one is tried
_FIRST = 6  # first steps that are followed
_REMEMBERED = 20_000  # vectors of predicates
_SHARPNESS = 10.0  # of the softmax over a scorer's scores
_AFTER = re.compile(r"[ -]([^\W\d_]\w*)")
_HYPHEN = re.compile(r"\w-$")
_BEFORE = re.compile(r"([^\W\d_][\w']*)[ -]$")


class Fit(NamedTuple):
    """How well a predicate or path fits what was asked."""

    explained: frozenset[str]
    precision: float
    cosine: float


@dataclass(frozen=True, slots=True)
class Reading:
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


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question seen from one topic; `kinds` are those that are named beside it."""

    question: str
    topic: Topic
    wanted: Wanted
    kinds: tuple[Topic, ...]
    vector: FloatArray | None  # (D,) of what is asked about the topic
    template: str
    stems: frozenset[str]
    fits: dict[int, Fit] = field(default_factory=dict)

    @cached_property
    def cut(self) -> bool:
        """Whether the name seems to go on: "Taylor Swift" where only "Swift" is known, "k-pop" where "pop" is."""
        if self.topic.is_value:
            return False
        if _HYPHEN.search(self.question[max(self.topic.start - 2, 0) : self.topic.start]):
            return True
        after = _AFTER.match(self.question, self.topic.end)
        if after is not None and after[1][0].isupper():
            return True
        before = _BEFORE.search(self.question, 0, self.topic.start)
        return before is not None and before[1][0].isupper() and before.start() > 0


class _Draft(NamedTuple):
    """A path before its answers are looked up."""

    asked: _Asked
    path: Path
    relation: str
    fit: Fit
    template: float
    model: float

    @property
    def promise(self) -> float:
        """What decides whose answers are looked up."""
        covered = len(self.fit.explained) / len(self.asked.stems) if self.asked.stems else 0.5
        fits = self.fit.precision + 2 * self.fit.cosine + 2 * covered + 2 * self.template + self.model
        return fits + self.asked.topic.share - 0.2 * len(self.path)


class Reader:
    """Reads questions over one generation of a graph."""

    def __init__(
        self,
        triples: TripleIndex,
        vocabulary: Vocabulary,
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
        self._triples, self._vocabulary, self._encode = triples, vocabulary, encode
        self._templates, self._scorer = templates, scorer
        self._vectors = lru_cache(maxsize=_REMEMBERED)(self._encoded)

    def read(self, question: str, spotted: Spotted, *, check: Callable[[], object] = lambda: None) -> list[Reading]:
        """Readings that have an answer, in no order; `check` is called between topics, and may raise."""
        drafts: list[_Draft] = []
        for topic in spotted.topics:
            check()
            drafts += self._drafts(self._asked(question, topic, spotted.kinds), self._singles(topic.id))
        if listing(question):
            for kind in spotted.kinds:
                steps = [Step(p, True) for p in self._vocabulary.types]
                drafts += self._drafts(self._asked(question, kind, ()), steps)
        drafts.sort(key=lambda draft: -draft.promise)
        readings = map(self._answered, drafts[:_LOOKED_AT])
        return [reading for reading in readings if reading.answers]

    def follow(self, start: int, path: Path) -> tuple[list[int], list[int], bool]:
        """What stands between the steps of a path, its ends without the start, and whether there are more.

        At each step `MOST_ANSWERS` are kept; blank nodes without a name are no ends.
        """
        middles, ends, more = [], [start], False
        for place, step in enumerate(path):
            if place:
                middles = ends = self._entities(ends)
            found: dict[int, None] = {}
            for each in ends:
                found.update(dict.fromkeys(self.ends(each, step)))
                if len(found) >= MOST_ANSWERS:
                    more = True
                    break
            ends = list(found)[:MOST_ANSWERS]
        return middles, [end for end in ends if end != start and not self._nameless(end)], more

    def _nameless(self, number: int) -> bool:
        return self._triples.term(number).startswith("_:") and not self._vocabulary.names(number).told

    def ends(self, start: int, step: Step) -> list[int]:
        """Where a step leads."""
        lookup = self._triples
        found = lookup.subjects(step.predicate, start) if step.inverse else lookup.objects(start, step.predicate)
        ends: list[int] = found[:MOST_ANSWERS].tolist()
        return ends

    def _asked(self, question: str, topic: Topic, kinds: Sequence[Topic]) -> _Asked:
        template = template_of(question, topic.start, topic.end)
        rest = asked_text(template)
        vector = self._encode([rest])[0] if rest else None
        beside = tuple(kind for kind in kinds if kind.end <= topic.start or kind.start >= topic.end)
        return _Asked(question, topic, wanted(question), beside, vector, template, keywords(template) - ASKING)

    def _drafts(self, asked: _Asked, singles: Sequence[Step]) -> list[_Draft]:
        paths = [*((step,) for step in singles), *self._doubles(asked, singles)]
        if not paths:
            return []
        relations = [path_text((self._triples.term(p), inverse) for p, inverse in path) for path in paths]
        fits = [self._together([self._fit(asked, step.predicate) for step in path]) for path in paths]
        known, model = self._known(asked.template, relations), self._modelled(asked.template, relations)
        return [_Draft(asked, *row) for row in zip(paths, relations, fits, known, model, strict=True)]

    def _singles(self, topic: int) -> list[Step]:
        hidden = self._vocabulary.hidden
        into = [Step(p, True) for p in self._triples.predicates_to(topic)[:_PREDICATES].tolist() if p not in hidden]
        if self._triples.is_literal(topic):
            return into
        out = self._triples.predicates_of(topic)[:_PREDICATES].tolist()
        return [*(Step(p, False) for p in out if p not in hidden), *into]

    def _doubles(self, asked: _Asked, singles: Sequence[Step]) -> Iterator[Path]:
        """Paths of two steps that each explain something the other does not."""
        first = [step for step in singles if self._fit(asked, step.predicate).explained]
        first.sort(key=lambda step: -self._fit(asked, step.predicate).precision)
        for step in first[:_FIRST]:
            one = self._fit(asked, step.predicate).explained
            if one >= asked.stems:
                continue
            middles = self._entities(self.ends(asked.topic.id, step)[:_MIDDLES])
            for other in sorted({second for middle in middles for second in self._singles(middle)}):
                two = self._fit(asked, other.predicate).explained
                if two - one and one - two and other != Step(step.predicate, not step.inverse):
                    yield (step, other)

    def _fit(self, asked: _Asked, predicate: int) -> Fit:
        known = asked.fits.get(predicate)
        if known is None:
            names = self._vocabulary.names(predicate)
            precision = max((len(asked.stems & own) / len(own) for own in names.stems if own), default=0.0)
            nearest = (
                0.0 if asked.vector is None else float((self._vectors(predicate) @ asked.vector).max(initial=-1.0))
            )
            known = asked.fits[predicate] = Fit(asked.stems & names.all_stems, precision, nearest)
        return known

    def _together(self, fits: Sequence[Fit]) -> Fit:
        count = len(fits)
        return Fit(
            frozenset[str]().union(*(fit.explained for fit in fits)),
            sum(fit.precision for fit in fits) / count,
            sum(fit.cosine for fit in fits) / count,
        )

    def _encoded(self, predicate: int) -> FloatArray:
        return self._encode(self._vocabulary.names(predicate).texts or ("",))

    def _known(self, template: str, relations: Sequence[str]) -> list[float]:
        likely = () if self._templates is None else self._templates.lookup(template, allowed=relations)
        by_name = {each.relation: each.probability for each in likely}
        return [by_name.get(relation, 0.0) for relation in relations]

    def _modelled(self, template: str, relations: Sequence[str]) -> list[float]:
        """Scores of a trained scorer as a softmax over the topic's relations."""
        if self._scorer is None:
            return [0.0] * len(relations)
        (scores,) = self._scorer.score([template], [relations])
        weights = np.exp(_SHARPNESS * (scores - scores.max()))
        return [float(weight) for weight in weights / weights.sum()]

    def _answered(self, draft: _Draft) -> Reading:
        asked, fit = draft.asked, draft.fit
        middles, answers, more = self.follow(asked.topic.id, draft.path)
        if named := self._kinds_among(asked.kinds, answers):
            kinds = {kind.id for kind in named}
            answers = [a for a in self._entities(answers) if kinds & self._vocabulary.kinds(a)]
        passed = self._kinds_among(asked.kinds, middles)
        explained = fit.explained.union(
            *(keywords(kind.text) for kind in (*named, *passed)), self._context(asked.topic)
        )
        rest = len(asked.stems - explained)
        counted = asked.wanted == "count" and not any(isinstance(self._value(a), float) for a in answers)
        numbered = asked.wanted == "count" and not counted and bool(fit.explained)
        coverage = 1 - rest / len(asked.stems) if asked.stems else 1.0
        told = all(self._vocabulary.names(step.predicate).told for step in draft.path)
        inverse = draft.path[0].inverse
        guessed = any(step.inverse and not self._vocabulary.names(step.predicate).told for step in draft.path)
        features = {
            "link": asked.topic.share,
            "link_score": asked.topic.score,
            "coverage": coverage,
            "unexplained": min(rest, 4),
            "untold": min(rest, 4) * told,
            "whole": not rest,
            "precision": fit.precision,
            "cosine": fit.cosine,
            "soft": (1 - coverage) * fit.cosine,
            "template": draft.template,
            "model": draft.model,
            "kind": bool(named) or numbered,
            "type": self._type(asked.wanted, answers, counted=counted),
            "prose": asked.wanted == "prose",
            "cut": asked.cut,
            "value": asked.topic.is_value,
            "inverse": inverse,
            "guessed": guessed,
            "guessed_precision": guessed * fit.precision,
            "guessed_cosine": guessed * fit.cosine,
            "steps": len(draft.path) - 1,
            "size": log1p(len(answers)),
        }
        return Reading(
            asked.topic,
            draft.path,
            draft.relation,
            asked.template,
            tuple(answers),
            counted,
            {name: float(value) for name, value in features.items()},
            more,
        )

    def _kinds_among(self, kinds: Iterable[Topic], ids: Iterable[int]) -> list[Topic]:
        """Those kinds of which some of the terms are."""
        found = frozenset[int]().union(*map(self._vocabulary.kinds, self._entities(ids)))
        return [kind for kind in kinds if kind.id in found]

    def _entities(self, ids: Iterable[int]) -> list[int]:
        return [each for each in ids if not self._triples.is_literal(each)]

    def _context(self, topic: Topic) -> frozenset[str]:
        """Stems of what the graph says the topic is, with which a question tells senses apart."""
        if topic.is_value:
            return frozenset()
        kinds = (self._vocabulary.names(kind).all_stems for kind in self._vocabulary.kinds(topic.id))
        return keywords(self._vocabulary.description(topic.id)).union(*kinds)

    def _value(self, number: int) -> float | Days | None:
        return value_of(self._triples.term(number)) if self._triples.is_literal(number) else None

    def _type(self, asked: Wanted, answers: Sequence[int], *, counted: bool) -> float:
        match asked:
            case "any" | "prose":
                return 0.0
            case "count":
                return 0.5 if counted else 1.0
            case "entity":
                return 0.0 if self._entities(answers) else -1.0
        kind = Days if asked == "date" else float
        return 1.0 if all(isinstance(self._value(each), kind) for each in answers) else -1.0
