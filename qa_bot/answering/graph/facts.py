"""Answers questions from the home's graph, with a calibrated confidence by which facts compete with passages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from kg_index.answers.answer_type import asks_for_extreme
from kg_index.answers.answerer import Answerer, Evidence, FactAnswer, ParsedQuestion, ScoredInterpretation
from kg_index.answers.lookup import Lookup
from kg_index.answers.negation import is_negated
from kg_index.answers.question_parts import question_parts, with_topic
from qa_bot.answering.confidence.calibration import Calibration
from qa_bot.answering.graph.joined_facts import joined
from qa_bot.documents.graph import Graph, open_graph
from qa_bot.home.config import Config
from qa_bot.home.encoders import STARTER, resolve
from qa_bot.home.folder import Home
from qa_bot.home.generations import CorruptGenerationError
from qa_bot.home.starter import FACTS, NAMESPACE
from qa_core.types import AnswerSource, Candidate, Clue, Encoder, Passage, Signals, Source

if TYPE_CHECKING:  # torch comes with these
    from kg_index.relations.relation_scorers import RelationScorer
    from kg_index.relations.templates import TemplateTable


log = logging.getLogger(__name__)
Part = TypeVar("Part")

COLLECTION = "graph"
"""Collection of facts as sources."""
EXTREME_CONFIDENCE = 0.9
"""Confidence of an extreme: every word of the question is explained, but the graph may lack members of a class."""
NEGATED = "The graph knows what is, not what is not; ask without the negation."
NO_TOPIC = "The graph knows nothing that this question names; ask otherwise or add facts."


@dataclass(frozen=True, slots=True)
class Fitted:
    """Fitted weights of features and calibration of the best interpretation (`qa_lab/fit/fit_fact_confidence.py`)."""

    weights: Mapping[str, float]
    confidence: Calibration

    @classmethod
    @cache
    def shipped(cls) -> Fitted:
        fitted = orjson.loads(FACTS.read_bytes())
        return cls(fitted["weights"], Calibration.of(fitted["confidence"]))


@dataclass(frozen=True, slots=True)
class FactResult:
    """The graph's answer to a question; `answer` is None if no interpretation has one, or if the question negates."""

    parsed: ParsedQuestion
    answer: FactAnswer | None
    confidence: float
    threshold: float
    is_negated: bool = False

    @property
    def accepted(self) -> bool:
        return self.answer is not None and self.confidence >= self.threshold

    @property
    def reason(self) -> str:
        """Why the answer is not accepted."""
        if self.answer is None:
            return NEGATED if self.is_negated else NO_TOPIC
        topic = self.parsed.interpretations[0].interpretation.topic.text
        return (
            f"What the graph says about “{topic}” probably does not answer this (confidence {self.confidence:.2f}, "
            f"needed {self.threshold:.2f}); ask in other words or add facts about it."
        )


class FactsError(ValueError):
    """The graph is unusable; the message says what to do."""


_UNUSABLE = (ValueError, RuntimeError, OSError, CorruptGenerationError)


def open_facts(home: Home, config: Config, held: ExitStack) -> Facts:
    """Open the current generation of the home's graph, pinned until `held` closes.

    A configured table or scorer that cannot be read is left out with a warning. Raises FactsError if there is no graph.
    """
    encoder = resolve(STARTER, models=home.models)
    settings = config.facts
    try:
        graph = held.enter_context(open_graph(home))
    except _UNUSABLE as error:
        raise FactsError(str(error)) from error
    templates = _optional("facts.templates", settings.templates, open_templates)
    scorer = _optional("facts.relations", settings.relations, lambda folder: open_relations(folder, home.models))
    precision, limit = max(config.answer.precision, settings.precision), config.answer.limit
    facts = Facts(graph, encoder, precision=precision, limit=limit, templates=templates, scorer=scorer)
    return facts.owners() if config.starter.mode == "off" else facts


class Facts:
    """Answers from one generation of the graph; safe to share between threads."""

    def __init__(
        self,
        graph: Graph,
        encoder: Encoder,
        *,
        precision: float,
        limit: int,
        templates: TemplateTable | None = None,
        scorer: RelationScorer | None = None,
    ) -> None:
        """
        Args:
            encoder: the starter encoder, with which the weights were fitted.
            precision: required share of right answers among the accepted ones.
            limit: characters of an answer.
            templates: mined templates.
            scorer: a trained scorer of relations.
        """
        self._without_starter = False
        fitted = Fitted.shipped()
        self._graph, self._limit = graph, limit
        self._calibration, self._threshold = fitted.confidence, fitted.confidence.threshold(precision)
        encode = encoder.encode
        self._answerer = Answerer(
            graph.lookup, lambda texts: encode(texts), fitted.weights, templates=templates, scorer=scorer
        )

    @property
    def lookup(self) -> Lookup:
        """Lookup of facts and labels."""
        return self._answerer.lookup

    @property
    def answerer(self) -> Answerer:
        """The answerer of the graph."""
        return self._answerer

    def find(self, question: str, *, check: Callable[[], object] = lambda: None) -> FactResult:
        """The best answer, for a question with two parts to both; `check` may raise to stop."""
        first, *further = question_parts(question)
        result = self._find(first, check)
        for part in further:
            result = self._with_second(result, part, check)
        return result

    def _with_second(self, first: FactResult, part: str, check: Callable[[], object]) -> FactResult:
        """Both answers as one, as confident as the less confident one; 0 if only one of them is accepted."""
        if first.answer is None or not first.accepted:
            return replace(first, confidence=0.0)
        topic = self.lookup.label(first.parsed.interpretations[0].interpretation.topic.id)
        complete = with_topic(part, topic)
        second = None if complete is None else self._find(complete, check)
        if second is None or second.answer is None or not second.accepted:
            return replace(first, confidence=0.0)
        answer = joined(first.answer, second.answer)
        return replace(first, answer=answer, confidence=min(first.confidence, second.confidence))

    def _find(self, question: str, check: Callable[[], object]) -> FactResult:
        parsed = self._answerer.parse(question, check=check)
        if is_negated(question, parsed.entities):
            return FactResult(parsed, None, 0.0, self._threshold, bool(parsed.interpretations))
        is_explained = bool(parsed.interpretations) and not parsed.features["unexplained"]
        is_extreme = not is_explained and asks_for_extreme(question)
        if is_extreme and (extreme := self._answerer.extreme(parsed)) is not None:
            return self._result(*extreme, EXTREME_CONFIDENCE)
        if not parsed.interpretations:
            return FactResult(parsed, None, 0.0, self._threshold)
        answer = self._answerer.verbalise(parsed.interpretations[0].interpretation, limit=self._limit)
        if is_extreme:
            return FactResult(parsed, answer, 0.0, self._threshold)
        return self._result(parsed, answer, self._calibration.confidence(parsed.features))

    def _result(self, parsed: ParsedQuestion, answer: FactAnswer, confidence: float) -> FactResult:
        """Without the answer if it comes from a graph that may not answer."""
        if self._without_starter and any(self._is_of_starter(evidence) for evidence in answer.evidence):
            return FactResult(parsed, None, 0.0, self._threshold)
        return FactResult(parsed, answer, confidence, self._threshold)

    def owners(self) -> Facts:
        """The same graph, without answers from the starter graph."""
        owners = copy(self)
        owners._without_starter = True
        return owners

    def search(self, question: str, *, top: int, check: Callable[[], object] = lambda: None) -> list[Candidate]:
        """Facts of all interpretations as candidates, best first."""
        candidates: dict[str, Candidate] = {}
        for scored in self._answerer.parse(question, check=check).interpretations:
            for evidence in self._answerer.verbalise(scored.interpretation, limit=self._limit).evidence:
                candidate = self._candidate(evidence, scored)
                candidates.setdefault(candidate.passage.id, candidate)
            if len(candidates) >= top:
                break
        return [*candidates.values()][:top]

    def sources(self, result: FactResult) -> tuple[AnswerSource, ...]:
        """The evidence of an answer as sources."""
        assert result.answer is not None
        return tuple(self._source(evidence, result.confidence) for evidence in result.answer.evidence)

    def trace(self, result: FactResult) -> dict[str, Any]:
        """Mentions, entities, templates and relations with their scores, for JSON."""
        lookup = self.lookup
        entities = result.parsed.entities
        return {
            "mentions": [
                {
                    "text": topic.text,
                    "span": [topic.start, topic.end],
                    "entity": lookup.triples.term(topic.id),
                    "label": lookup.label(topic.id),
                    "score": round(topic.score, 4),
                    "kind": topic in entities.kinds,
                }
                for topic in (*entities.topics, *entities.kinds)
            ],
            "readings": [self._interpretation_json(scored) for scored in result.parsed.interpretations],
            "features": result.parsed.features,
            "confidence": round(result.confidence, 4),
            "threshold": result.threshold,
        }

    def _interpretation_json(self, scored: ScoredInterpretation) -> dict[str, Any]:
        interpretation, lookup = scored.interpretation, self.lookup
        return {
            "entity": lookup.label(interpretation.topic.id),
            "template": interpretation.template,
            "relation": interpretation.relation,
            "score": round(scored.score, 4),
            "answers": [lookup.label(answer) for answer in interpretation.answers[:10]],
            "count": len(interpretation.answers),
            "counted": interpretation.counted,
            "features": {name: round(value, 4) for name, value in interpretation.features.items()},
        }

    def _source(self, evidence: Evidence, score: float) -> AnswerSource:
        source = self._subject_source(evidence)
        return AnswerSource(
            id=self._id(evidence),
            document=source.document,
            collection=source.collection,
            title=source.title,
            url=source.url,
            score=round(score, 6),
            text=evidence.text,
            span=evidence.span,
            source_span=evidence.source_span,
        )

    def _candidate(self, evidence: Evidence, scored: ScoredInterpretation) -> Candidate:
        source = self._subject_source(evidence)
        passage = Passage(self._id(evidence), evidence.text, Clue(source.title), source)
        return Candidate(passage, round(scored.score, 6), Signals(fact=dict(scored.interpretation.features)))

    def _is_of_starter(self, evidence: Evidence) -> bool:
        return self.lookup.triples.term(evidence.facts[0].subject).startswith(NAMESPACE)

    def _subject_source(self, evidence: Evidence) -> Source:
        subject = evidence.facts[0].subject
        term = self.lookup.triples.term(subject)
        url = term if term.startswith(("http://", "https://")) else ""
        return Source(term, self.lookup.label(subject), url, COLLECTION)

    def _id(self, evidence: Evidence) -> str:
        first = evidence.facts[0]
        return " ".join(map(self.lookup.triples.term, (first.subject, first.predicate)))


def _optional(key: str, folder: str, opener: Callable[[Path], Part]) -> Part | None:
    """What a key names; None if it is empty, or if it cannot be opened: the graph answers without it."""
    try:
        return opener(Path(folder)) if folder else None
    except _UNUSABLE as error:
        log.warning("Facts are answered without %s: %s", key, error)
        return None


def open_templates(folder: Path) -> TemplateTable:
    """Mined templates. Raises FactsError, ValueError or OSError."""
    from kg_index.relations.templates import KNOWN, TemplateTable

    if not (folder.expanduser() / KNOWN).is_file():
        raise FactsError(f"Expected the --out of a `qa-bot kg mine`, but there is no {folder / KNOWN}; name another.")
    return TemplateTable.load(folder.expanduser() / KNOWN)


def open_relations(folder: Path, models: Path) -> RelationScorer:
    """A trained scorer of relations. Raises RelationScorerError."""
    from qa_bot.answering.graph.relation_folders import open_scorer

    return open_scorer(folder.expanduser(), models)
