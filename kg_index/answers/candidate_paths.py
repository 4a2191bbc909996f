"""Paths that a question may ask for, before their answers are looked up (thesis, ch. 4.3.5).

Candidates are the steps from a topic, and paths of two steps each of which the question names. How well the names of
a step fit what was asked is told by shared stems and by vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kg_index.answers.answer_type import ASKING, AnswerType, expected_type
from kg_index.answers.topics import Topic
from kg_index.answers.walks import Walker
from kg_index.relations.keywords import keywords
from kg_index.relations.relation_scorers import Encode, without_slot
from kg_index.relations.template_text import path_text, template_of
from kg_index.triples.paths import Path, Step
from qa_core.types import FloatArray

if TYPE_CHECKING:  # torch comes with these
    from kg_index.relations.relation_scorers import RelationScorer
    from kg_index.relations.templates import TemplateTable

_MIDDLES = 8  # entities at the end of a first step from which a second one is tried
_FIRST = 6  # first steps that are followed
_REMEMBERED = 20_000  # predicates whose names' vectors are kept


class Fit(NamedTuple):
    """How well a predicate or path fits what was asked."""

    explained: frozenset[str]  # stems of the question
    precision: float  # part of the stems of its best name that the question has
    cosine: float  # of its nearest name


@dataclass(frozen=True, slots=True, eq=False)
class TopicView:
    """A question seen from one topic; `kinds` are those that are named beside it."""

    question: str
    topic: Topic
    expected: AnswerType
    kinds: tuple[Topic, ...]
    vector: FloatArray | None  # (D,) of what is asked about the topic
    template: str
    stems: frozenset[str]  # of the words that say something, the topic's aside
    fits: dict[int, Fit] = field(default_factory=dict)  # by predicate, as far as they were needed


class CandidatePath(NamedTuple):
    """A path, and what the question, known templates and a trained scorer say for it."""

    asked: TopicView
    path: Path
    relation: str
    fit: Fit
    template: float  # p(r|T)
    model: float

    @property
    def prior(self) -> float:
        """What decides whose answers are looked up."""
        covered = len(self.fit.explained) / len(self.asked.stems) if self.asked.stems else 0.5
        fits = self.fit.precision + 2 * self.fit.cosine + 2 * covered + 2 * self.template + self.model
        return fits + self.asked.topic.share - 0.2 * len(self.path)


class CandidatePathFinder:
    """Drafts paths over one generation of a graph; see `kg_index.answers.interpretations.Interpreter`."""

    def __init__(
        self, walker: Walker, encode: Encode, templates: TemplateTable | None, scorer: RelationScorer | None
    ) -> None:
        self._walker, self._vocabulary, self._encode = walker, walker.vocabulary, encode
        self._templates, self._scorer = templates, scorer
        self._vectors: dict[int, FloatArray] = {}

    def asked(self, question: str, topics: Sequence[Topic], kinds: Sequence[Topic] = ()) -> list[TopicView]:
        """The question as each of the topics sees it."""
        templates = [template_of(question, topic.start, topic.end) for topic in topics]
        rests = list(map(without_slot, templates))
        vectors = self._encode(rests) if rests else ()
        sort = expected_type(question)
        return [
            TopicView(
                question,
                topic,
                sort,
                tuple(kind for kind in kinds if kind.end <= topic.start or kind.start >= topic.end),
                vector if rest else None,
                template,
                keywords(template) - ASKING,
            )
            for topic, template, rest, vector in zip(topics, templates, rests, vectors, strict=True)
        ]

    def drafts(self, asked: TopicView, steps: Sequence[Step] | None = None) -> list[CandidatePath]:
        """Paths that begin with one of some steps, by default of all that the topic has."""
        singles = self._walker.steps(asked.topic.id) if steps is None else steps
        paths = [*((step,) for step in singles), *self._doubles(asked, singles)]
        if not paths:
            return []
        terms = self._walker.triples.term
        relations = [path_text((terms(p), inverse) for p, inverse in path) for path in paths]
        fits = [_together([asked.fits[step.predicate] for step in path]) for path in paths]
        known, model = self._known(asked.template, relations), self._modelled(asked.template, relations)
        return [CandidatePath(asked, *row) for row in zip(paths, relations, fits, known, model, strict=True)]

    def _doubles(self, asked: TopicView, singles: Sequence[Step]) -> Iterator[Path]:
        """Paths of two steps that each explain something the other does not."""
        self._compare(asked, singles)
        first = [step for step in singles if asked.fits[step.predicate].explained]
        first.sort(key=lambda step: -asked.fits[step.predicate].precision)
        for step in first[:_FIRST]:
            one = asked.fits[step.predicate].explained
            if not (rest := asked.stems - one):
                continue
            middles = self._walker.entities(self._walker.ends(asked.topic.id, step)[:_MIDDLES])
            seconds = {second for middle in middles for second in self._walker.steps(middle)}
            names = self._vocabulary.names
            useful = sorted(each for each in seconds if not rest.isdisjoint(names(each.predicate).all_stems))
            self._compare(asked, useful)
            for other in useful:
                back = other == Step(step.predicate, not step.inverse)
                if one - asked.fits[other.predicate].explained and not back:
                    yield (step, other)

    def _compare(self, asked: TopicView, steps: Iterable[Step]) -> None:
        new = list(dict.fromkeys(step.predicate for step in steps if step.predicate not in asked.fits))
        asking = asked.vector
        vectors = {} if asking is None else self._vectors_of(new)
        for predicate in new:
            names = self._vocabulary.names(predicate)
            precision = max((len(asked.stems & own) / len(own) for own in names.stems if own), default=0.0)
            nearest = 0.0 if asking is None else float((vectors[predicate] @ asking).max())
            asked.fits[predicate] = Fit(asked.stems & names.all_stems, precision, nearest)

    def _vectors_of(self, predicates: Sequence[int]) -> dict[int, FloatArray]:
        """Vectors of the names of each; those that are new are encoded together."""
        known = self._vectors
        found = {predicate: known[predicate] for predicate in predicates if predicate in known}
        new = [predicate for predicate in predicates if predicate not in found]
        if new:
            texts = [self._vocabulary.names(predicate).texts for predicate in new]
            rows = self._encode([text for each in texts for text in each])
            made = dict(zip(new, np.split(rows, np.cumsum([len(each) for each in texts])[:-1]), strict=True))
            if len(known) + len(made) > _REMEMBERED:
                self._vectors = known = {}
            known |= made
            found |= made
        return found

    def _known(self, template: str, relations: Sequence[str]) -> list[float]:
        likely = () if self._templates is None else self._templates.lookup(template, allowed=relations)
        by_name = {each.relation: each.probability for each in likely}
        return [by_name.get(relation, 0.0) for relation in relations]

    def _modelled(self, template: str, relations: Sequence[str]) -> list[float]:
        """Scores of a trained scorer, which are logits, as a softmax over the topic's relations."""
        if self._scorer is None:
            return [0.0] * len(relations)
        (scores,) = self._scorer.score([template], [relations])
        weights = np.exp(scores - scores.max())
        return [float(weight) for weight in weights / weights.sum()]


def _together(fits: Sequence[Fit]) -> Fit:
    return Fit(
        frozenset[str]().union(*(fit.explained for fit in fits)),
        sum(fit.precision for fit in fits) / len(fits),
        sum(fit.cosine for fit in fits) / len(fits),
    )
