"""Proposes paths that a question may ask for, before their answers are looked up (Wang (2018), ch. 4.3.5).

Candidates are all single steps from a topic, and paths of two steps if the question names both. Shared stems and
vectors measure how well the names of a step fit the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kg_index.answers.answer_type import QUESTION_STEMS, AnswerType, expected_type
from kg_index.answers.topics import Topic
from kg_index.answers.walks import Walker
from kg_index.relations.keywords import keywords
from kg_index.relations.relation_scorers import Encode, RelationScorer, without_slot
from kg_index.relations.template_text import path_text, template_of
from kg_index.triples.paths import Path, Step
from qa_core.types import FloatArray

if TYPE_CHECKING:  # not loaded without mined templates
    from kg_index.relations.templates import TemplateTable

_MIDDLES = 8  # entities at the end of a first step from which second steps are tried
_FIRST = 6  # first steps that are followed
_CACHE = 20_000  # predicates with cached vectors


class Fit(NamedTuple):
    """How well a predicate or path fits the question."""

    explained: frozenset[str]  # stems of the question
    precision: float  # share of the stems of its best name that the question has
    cosine: float  # with its nearest name


@dataclass(frozen=True, slots=True, eq=False)
class TopicView:
    """A question with one topic selected; `kinds` are the classes named outside the topic."""

    question: str
    topic: Topic
    expected: AnswerType
    kinds: tuple[Topic, ...]
    vector: FloatArray | None  # (D,) of the question without the topic, None if nothing remains
    template: str
    stems: frozenset[str]  # of the content words outside the topic
    fits: dict[int, Fit] = field(default_factory=dict)  # by predicate, filled as needed


class CandidatePath(NamedTuple):
    """A path with its scores by the question, known templates and a trained scorer."""

    view: TopicView
    path: Path
    relation: str
    fit: Fit
    template: float  # p(r|T)
    model: float

    @property
    def prior(self) -> float:
        """Score that selects the paths whose answers are looked up."""
        covered = len(self.fit.explained) / len(self.view.stems) if self.view.stems else 0.5
        fits = self.fit.precision + 2 * self.fit.cosine + 2 * covered + 2 * self.template + self.model
        return fits + self.view.topic.share - 0.2 * len(self.path)


class CandidatePathFinder:
    """Finds candidate paths in one generation of a graph; see `kg_index.answers.interpretations.Interpreter`."""

    def __init__(
        self, walker: Walker, encode: Encode, templates: TemplateTable | None, scorer: RelationScorer | None
    ) -> None:
        self._walker, self._vocabulary, self._encode = walker, walker.vocabulary, encode
        self._templates, self._scorer = templates, scorer
        self._vectors: dict[int, FloatArray] = {}

    def views(self, question: str, topics: Sequence[Topic], kinds: Sequence[Topic] = ()) -> list[TopicView]:
        """The question with each of the topics selected."""
        templates = [template_of(question, topic.start, topic.end) for topic in topics]
        rests = list(map(without_slot, templates))
        vectors = self._encode(rests) if rests else ()
        expected = expected_type(question)
        return [
            TopicView(
                question,
                topic,
                expected,
                tuple(kind for kind in kinds if kind.end <= topic.start or kind.start >= topic.end),
                vector if rest else None,
                template,
                keywords(template) - QUESTION_STEMS,
            )
            for topic, template, rest, vector in zip(topics, templates, rests, vectors, strict=True)
        ]

    def paths(self, view: TopicView, steps: Sequence[Step] | None = None) -> list[CandidatePath]:
        """Candidate paths that begin with one of the steps, by default any step from the topic."""
        singles = self._walker.steps(view.topic.id) if steps is None else steps
        paths = [*((step,) for step in singles), *self._doubles(view, singles)]
        if not paths:
            return []
        terms = self._walker.triples.term
        relations = [path_text((terms(p), inverse) for p, inverse in path) for path in paths]
        fits = [_path_fit([view.fits[step.predicate] for step in path]) for path in paths]
        known, model = self._template_scores(view.template, relations), self._model_scores(view.template, relations)
        return [CandidatePath(view, *row) for row in zip(paths, relations, fits, known, model, strict=True)]

    def _doubles(self, view: TopicView, singles: Sequence[Step]) -> Iterator[Path]:
        """Paths of two steps, each of which explains something that the other does not."""
        self._compare(view, singles)
        first = [step for step in singles if view.fits[step.predicate].explained]
        first.sort(key=lambda step: -view.fits[step.predicate].precision)
        for step in first[:_FIRST]:
            explained = view.fits[step.predicate].explained
            if not (rest := view.stems - explained):
                continue
            middles = self._walker.entities(self._walker.ends(view.topic.id, step)[:_MIDDLES])
            seconds = {second for middle in middles for second in self._walker.steps(middle)}
            names = self._vocabulary.names
            useful = sorted(second for second in seconds if not rest.isdisjoint(names(second.predicate).all_stems))
            self._compare(view, useful)
            for second in useful:
                back = second == Step(step.predicate, not step.inverse)
                if explained - view.fits[second.predicate].explained and not back:
                    yield (step, second)

    def _compare(self, view: TopicView, steps: Iterable[Step]) -> None:
        """Fill `view.fits` for the predicates of the steps."""
        new = list(dict.fromkeys(step.predicate for step in steps if step.predicate not in view.fits))
        query = view.vector
        vectors = {} if query is None else self._vectors_of(new)
        for predicate in new:
            names = self._vocabulary.names(predicate)
            precision = max((len(view.stems & stems) / len(stems) for stems in names.stems if stems), default=0.0)
            cosine = 0.0 if query is None else float((vectors[predicate] @ query).max())
            view.fits[predicate] = Fit(view.stems & names.all_stems, precision, cosine)

    def _vectors_of(self, predicates: Sequence[int]) -> dict[int, FloatArray]:
        """Vectors (N, D) of the N names of each predicate; cached, new ones are encoded in one batch."""
        vectors = {predicate: self._vectors[predicate] for predicate in predicates if predicate in self._vectors}
        new = [predicate for predicate in predicates if predicate not in vectors]
        if new:
            texts = [self._vocabulary.names(predicate).texts for predicate in new]
            rows = self._encode([text for names in texts for text in names])
            made = dict(zip(new, np.split(rows, np.cumsum([len(names) for names in texts])[:-1]), strict=True))
            if len(self._vectors) + len(made) > _CACHE:
                self._vectors = {}
            self._vectors |= made
            vectors |= made
        return vectors

    def _template_scores(self, template: str, relations: Sequence[str]) -> list[float]:
        likely = () if self._templates is None else self._templates.lookup(template, allowed=relations)
        by_name = {row.relation: row.probability for row in likely}
        return [by_name.get(relation, 0.0) for relation in relations]

    def _model_scores(self, template: str, relations: Sequence[str]) -> list[float]:
        """Softmax of the trained scorer's logits over the topic's relations."""
        if self._scorer is None:
            return [0.0] * len(relations)
        (scores,) = self._scorer.score([template], [relations])
        weights = np.exp(scores - scores.max())
        return [float(weight) for weight in weights / weights.sum()]


def _path_fit(fits: Sequence[Fit]) -> Fit:
    return Fit(
        frozenset[str]().union(*(fit.explained for fit in fits)),
        sum(fit.precision for fit in fits) / len(fits),
        sum(fit.cosine for fit in fits) / len(fits),
    )
