"""Answers a question from a graph: finds its entities, scores its interpretations and states the best one as sentences.

The score of an interpretation is a weighted sum of its features. The weights are fitted so that right interpretations
rank first within their question (a conditional logit, Wang (2018), ch. 4.3). Confidence is decided by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kg_index.answers.graph_words import Vocabulary
from kg_index.answers.interpretations import FEATURES, Interpretation, Interpreter
from kg_index.answers.lookup import Fact, Lookup
from kg_index.answers.superlatives import find_extreme
from kg_index.answers.topics import QuestionEntities, find_entities
from kg_index.answers.verbalise import SHOWN, SpannedText, Verbaliser, shortened
from kg_index.answers.walks import Walker
from kg_index.linking.linker import Linker
from kg_index.relations.relation_scorers import Encode
from kg_index.triples.paths import Step
from qa_core.types import Span

if TYPE_CHECKING:  # torch comes with these
    from kg_index.relations.relation_scorers import RelationScorer
    from kg_index.relations.templates import TemplateTable

LONGEST = 2_000  # characters of a question that are read


@dataclass(frozen=True, slots=True)
class ScoredInterpretation:
    """An interpretation and its score."""

    interpretation: Interpretation
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Facts with one subject that support an answer.

    `text` is their sentences followed by the triples. `span` of the answer equals `source_span` of the text.
    """

    facts: tuple[Fact, ...]
    text: str
    span: Span | None
    source_span: Span | None


class _Overlap(NamedTuple):
    """A text span that an answer and its evidence share; larger is better."""

    answered: bool  # whether it holds an answer, not only a step to it
    length: int
    span: Span | None
    source_span: Span | None


@dataclass(frozen=True, slots=True)
class FactAnswer:
    """An interpretation in words, with its evidence."""

    text: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """All interpretations of a question, best first, and its entities."""

    question: str
    entities: QuestionEntities
    interpretations: tuple[ScoredInterpretation, ...]

    @property
    def features(self) -> dict[str, float]:
        """Features of the best interpretation, its `score`, and `certainty`: the share of the odds of its answers."""
        if not self.interpretations:
            return {}
        best = self.interpretations[0]
        odds = [math.exp(scored.score - best.score) for scored in self.interpretations]
        same = sum(
            o
            for o, scored in zip(odds, self.interpretations, strict=True)
            if _same_answers(scored.interpretation, best.interpretation)
        )
        return {**best.interpretation.features, "score": best.score, "certainty": same / sum(odds)}


class Answerer:
    """Answers from one generation of a graph."""

    def __init__(
        self,
        lookup: Lookup,
        encode: Encode,
        weights: Mapping[str, float],
        *,
        templates: TemplateTable | None = None,
        scorer: RelationScorer | None = None,
    ) -> None:
        """
        Args:
            encode: texts to unit vectors.
            weights: by feature of `kg_index.answers.interpretations.FEATURES`; missing ones are 0.
            templates: known templates.
            scorer: a trained scorer of relations.
        """
        self.lookup, self._weights = lookup, weights
        self.vocabulary = Vocabulary(lookup.triples)
        self.linker = Linker(lookup.mentions, lookup.triples.salience, context=self.vocabulary.about)
        self.verbaliser = Verbaliser(lookup, self.vocabulary)
        self._walker = Walker(lookup.triples, self.vocabulary)
        self._interpreter = Interpreter(self._walker, encode, templates=templates, scorer=scorer)

    def parse(self, question: str, *, check: Callable[[], object] = lambda: None) -> ParsedQuestion:
        """All interpretations of the first `LONGEST` characters.

        Args:
            check: called between topics; may raise to stop.
        """
        text = question[:LONGEST]
        entities = find_entities(text, self.linker, self.lookup.triples, self.vocabulary)
        interpretations = [
            ScoredInterpretation(interpretation, self.score(interpretation.features))
            for interpretation in self._interpreter.interpret(text, entities, check=check)
        ]
        interpretations.sort(key=lambda s: (-s.score, s.interpretation.relation, s.interpretation.topic.id))
        return ParsedQuestion(question, entities, tuple(interpretations))

    def score(self, features: Mapping[str, float]) -> float:
        return sum(weight * features.get(name, 0.0) for name, weight in self._weights.items())

    def extreme(self, parsed: ParsedQuestion) -> tuple[ParsedQuestion, FactAnswer] | None:
        """The largest, longest, second nearest … of a class with its value, if the question asks for one."""
        extreme = find_extreme(parsed.question, parsed.entities, self.lookup.triples, self.vocabulary)
        if extreme is None:
            return None
        first = f"The {extreme.phrase} is {self.verbaliser.value(extreme.member)}."
        proof = self.verbaliser.sentence([extreme.member], extreme.predicate, [extreme.value]).text
        fact = Fact(extreme.member, extreme.predicate, extreme.value)
        text = f"{first} {proof}"
        evidence = Evidence((fact,), f"{proof}\n{self._triple(fact)}", (len(first) + 1, len(text)), (0, len(proof)))
        path = (Step(extreme.predicate, False),)
        answers, features = (extreme.member,), dict.fromkeys(FEATURES, 0.0)
        relation = self.lookup.triples.term(extreme.predicate)
        interpretation = Interpretation(extreme.kind, path, relation, extreme.phrase, answers, False, features)
        one = ParsedQuestion(parsed.question, parsed.entities, (ScoredInterpretation(interpretation, 0.0),))
        return one, FactAnswer(text, (evidence,))

    def verbalise(self, interpretation: Interpretation, *, limit: int = 1_000) -> FactAnswer:
        """State an interpretation in at most `limit` characters, with its evidence."""
        answers = self._by_salience(interpretation.answers)
        chains = {answer: self._chain(interpretation, answer) for answer in answers[:SHOWN]}
        shown = SHOWN
        text = self._sentences(interpretation, answers, chains, shown)
        while len(text.text) > limit and shown > 1:
            shown //= 2
            text = self._sentences(interpretation, answers, chains, shown)
        pairs = (pair for answer in answers[:shown] for pair in zip(chains[answer], interpretation.path, strict=True))
        ends = {fact: _end(fact, step) for fact, step in pairs}
        text = SpannedText(text.text[:limit], text.spans)
        return FactAnswer(text.text, tuple(self._evidence(ends, text, frozenset(answers))))

    def _sentences(
        self, interpretation: Interpretation, answers: Sequence[int], chains: Mapping[int, tuple[Fact, ...]], shown: int
    ) -> SpannedText:
        """Sentences for the steps to the answers and for the answers, which may be a count or a list."""
        *first, last = interpretation.path
        middles = [interpretation.topic.id]
        sentences: list[SpannedText] = []
        for step in first:
            following = list(dict.fromkeys(_end(chain[0], step) for chain in chains.values()))
            sentences.append(self._sentence(middles, step, following, shown))
            middles = following
        if interpretation.counted:
            unit_of = None if last.inverse else last.predicate
            sentences.append(self.verbaliser.count(answers, unit_of, shown=shown, more=interpretation.more))
        elif last.predicate in self.vocabulary.types:
            sentences.append(self.verbaliser.listed(answers, shown=shown, more=interpretation.more))
        else:
            sentences.append(self._sentence(middles, last, answers, shown, more=interpretation.more))
        return _joined(sentences)

    def _sentence(
        self, starts: Sequence[int], step: Step, ends: Sequence[int], shown: int, *, more: bool = False
    ) -> SpannedText:
        subjects, objects = (ends, starts) if step.inverse else (starts, ends)
        return self.verbaliser.sentence(subjects, step.predicate, objects, shown=shown, more=more)

    def _chain(self, interpretation: Interpretation, answer: int) -> tuple[Fact, ...]:
        """The facts from the topic to an answer; the first of several chains."""
        start = interpretation.topic.id
        *first, last = interpretation.path
        if not first:
            return (_fact(start, last, answer),)
        (step,) = first
        middle = next(m for m in self._walker.ends(start, step) if self._has_fact(m, last, answer))
        return _fact(start, step, middle), _fact(middle, last, answer)

    def _has_fact(self, start: int, step: Step, end: int) -> bool:
        subject, object_ = (end, start) if step.inverse else (start, end)
        return step.predicate in self.lookup.triples.predicates(subject, object_)

    def _evidence(self, ends: Mapping[Fact, int], answer: SpannedText, answers: frozenset[int]) -> Iterator[Evidence]:
        """Facts grouped by subject, in the order of the answer; `ends` are the terms that their steps lead to."""
        subjects: dict[int, dict[int, list[Fact]]] = {}
        for fact in ends:
            subjects.setdefault(fact.subject, {}).setdefault(fact.predicate, []).append(fact)
        for subject, groups in subjects.items():
            facts = [fact for group in groups.values() for fact in group]
            terms = [ends[fact] for fact in facts]
            sentence = self._about(subject, groups)
            overlap = _overlap(answer, sentence, terms, answers)
            if not overlap.answered:  # a name inside the answer may start this sentence with a capital
                small = self._about(subject, groups, capital=False)
                if (other := _overlap(answer, small, terms, answers))[:2] > overlap[:2]:
                    sentence, overlap = small, other
            text = "\n".join([sentence.text, *map(self._triple, facts)])
            yield Evidence(tuple(facts), text, overlap.span, overlap.source_span)

    def _about(self, subject: int, groups: Mapping[int, Sequence[Fact]], *, capital: bool = True) -> SpannedText:
        """Sentences for facts with one subject, grouped by predicate."""
        return _joined(
            [
                self.verbaliser.kind(subject, [fact.object for fact in group], capital=capital)
                if predicate in self.vocabulary.types
                else self.verbaliser.sentence([subject], predicate, [fact.object for fact in group], capital=capital)
                for predicate, group in groups.items()
            ]
        )

    def _triple(self, fact: Fact) -> str:
        """The triple as a line; a long literal is shortened."""
        terms = (shortened(self.lookup.triples.term(i)) for i in (fact.subject, fact.predicate, fact.object))
        written = (term if term.startswith(('"', "_:")) else f"<{term}>" for term in terms)
        return " ".join([*written, "."])

    def _by_salience(self, answers: Sequence[int]) -> list[int]:
        """Answers with most facts first, ties by id."""
        ids = np.array(answers, np.int64)
        salience = self.lookup.triples.salience(ids)
        order: list[int] = ids[np.lexsort((ids, -salience))].tolist()
        return order


def _same_answers(one: Interpretation, other: Interpretation) -> bool:
    return one.answers == other.answers and one.counted == other.counted


def _fact(start: int, step: Step, end: int) -> Fact:
    return Fact(end, step.predicate, start) if step.inverse else Fact(start, step.predicate, end)


def _end(fact: Fact, step: Step) -> int:
    return fact.subject if step.inverse else fact.object


def _joined(sentences: Sequence[SpannedText]) -> SpannedText:
    text, spans = "", dict[int, Span]()
    for sentence in sentences:
        text += " " if text else ""
        spans |= {number: (start + len(text), end + len(text)) for number, (start, end) in sentence.spans.items()}
        text += sentence.text
    return SpannedText(text, spans)


def _overlap(answer: SpannedText, source: SpannedText, terms: Sequence[int], answers: frozenset[int]) -> _Overlap:
    """The best text that answer and source share, from the first to the last of some consecutive terms."""
    best = run = _Overlap(False, 0, None, None)
    for term in terms:
        span, source_span = answer.spans.get(term), source.spans.get(term)
        if span is None or source_span is None or not _same(answer.text, source.text, span, source_span):
            run = _Overlap(False, 0, None, None)
            continue
        if run.span and run.source_span and span[0] > run.span[0]:
            longer = (run.span[0], span[1]), (run.source_span[0], source_span[1])
            if _same(answer.text, source.text, *longer):
                span, source_span = longer
        answered = term in answers or (span[0] < answer.spans[term][0] and run.answered)
        run = _Overlap(answered, span[1] - span[0], span, source_span)
        best = max(best, run, key=lambda overlap: overlap[:2])
    return best


def _same(text: str, source: str, span: Span, source_span: Span) -> bool:
    """Whether both spans exist and have the same text."""
    whole = span[1] <= len(text) and source_span[1] <= len(source)
    return whole and text[slice(*span)] == source[slice(*source_span)]
