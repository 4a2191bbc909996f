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
from kg_index.answers.interpretations import Interpretation, Interpreter
from kg_index.answers.lookup import Fact, Lookup
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
    """Facts with one subject that an answer rests on.

    `text` says them, then gives the triples; `source_span` of it says what `span` of the answer does.
    """

    facts: tuple[Fact, ...]
    text: str
    span: Span | None
    source_span: Span | None


class _Shared(NamedTuple):
    """What an answer and its evidence both say: an answer itself rather than what leads to it, and as much of it as
    there is."""

    answered: bool
    length: int
    span: Span | None
    source_span: Span | None


@dataclass(frozen=True, slots=True)
class FactAnswer:
    """An interpretation in words, and what it rests on."""

    text: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """All interpretations of a question, best first, and what they were made from."""

    question: str
    entities: QuestionEntities
    interpretations: tuple[ScoredInterpretation, ...]

    @property
    def features(self) -> dict[str, float]:
        """Of the best interpretation, with its `score`, and `certainty`: the part of the odds that its answers have."""
        if not self.interpretations:
            return {}
        best = self.interpretations[0]
        odds = [math.exp(each.score - best.score) for each in self.interpretations]
        same = sum(
            o
            for o, each in zip(odds, self.interpretations, strict=True)
            if _alike(each.interpretation, best.interpretation)
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
            weights: of features by name; those of `kg_index.answers.interpretations.FEATURES` that are missing count
            nothing. templates: known templates.
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
        asked = question[:LONGEST]
        entities = find_entities(asked, self.linker, self.lookup.triples, self.vocabulary)
        interpretations = [
            ScoredInterpretation(each, self.score(each.features))
            for each in self._interpreter.read(asked, entities, check=check)
        ]
        interpretations.sort(key=lambda each: (-each.score, each.interpretation.relation, each.interpretation.topic.id))
        return ParsedQuestion(question, entities, tuple(interpretations))

    def score(self, features: Mapping[str, float]) -> float:
        return sum(weight * features.get(name, 0.0) for name, weight in self._weights.items())

    def verbalise(self, interpretation: Interpretation, *, limit: int = 1_000) -> FactAnswer:
        """An interpretation in words, where it can be within `limit` characters, with the facts behind it."""
        answers = self._by_salience(interpretation.answers)
        chains = {answer: self._chain(interpretation, answer) for answer in answers[:SHOWN]}
        shown = SHOWN
        worded = self._worded(interpretation, answers, chains, shown)
        while len(worded.text) > limit and shown > 1:
            shown //= 2
            worded = self._worded(interpretation, answers, chains, shown)
        led = (pair for answer in answers[:shown] for pair in zip(chains[answer], interpretation.path, strict=True))
        ends = {fact: _end(fact, step) for fact, step in led}
        worded = SpannedText(worded.text[:limit], worded.spans)
        return FactAnswer(worded.text, tuple(self._evidence(ends, worded, frozenset(answers))))

    def _worded(
        self, interpretation: Interpretation, answers: Sequence[int], chains: Mapping[int, tuple[Fact, ...]], shown: int
    ) -> SpannedText:
        """What leads to the answers, then the answers; a count or all of a kind stand for themselves."""
        *first, last = interpretation.path
        middles = [interpretation.topic.id]
        said: list[SpannedText] = []
        for step in first:
            following = list(dict.fromkeys(_end(chain[0], step) for chain in chains.values()))
            said.append(self._said(middles, step, following, shown))
            middles = following
        if interpretation.counted:
            unit_of = None if last.inverse else last.predicate
            said.append(self.verbaliser.count(answers, unit_of, shown=shown, more=interpretation.more))
        elif last.predicate in self.vocabulary.types:
            said.append(self.verbaliser.listed(answers, shown=shown, more=interpretation.more))
        else:
            said.append(self._said(middles, last, answers, shown, more=interpretation.more))
        return _joined(said)

    def _said(
        self, starts: Sequence[int], step: Step, ends: Sequence[int], shown: int, *, more: bool = False
    ) -> SpannedText:
        subjects, objects = (ends, starts) if step.inverse else (starts, ends)
        return self.verbaliser.sentence(subjects, step.predicate, objects, shown=shown, more=more)

    def _chain(self, interpretation: Interpretation, answer: int) -> tuple[Fact, ...]:
        """Facts that lead from the topic to an answer; of several ways the first."""
        start = interpretation.topic.id
        *first, last = interpretation.path
        if not first:
            return (_fact(start, last, answer),)
        (one,) = first
        middle = next(m for m in self._walker.ends(start, one) if self._leads(m, last, answer))
        return _fact(start, one, middle), _fact(middle, last, answer)

    def _leads(self, start: int, step: Step, end: int) -> bool:
        subject, object_ = (end, start) if step.inverse else (start, end)
        return step.predicate in self.lookup.triples.predicates(subject, object_)

    def _evidence(self, ends: Mapping[Fact, int], worded: SpannedText, answers: frozenset[int]) -> Iterator[Evidence]:
        """Facts by their subjects, in the order in which they are said; `ends` are where their steps lead to."""
        subjects: dict[int, dict[int, list[Fact]]] = {}
        for fact in ends:
            subjects.setdefault(fact.subject, {}).setdefault(fact.predicate, []).append(fact)
        for subject, groups in subjects.items():
            own = [fact for group in groups.values() for fact in group]
            told = [ends[fact] for fact in own]
            sentence = self._about(subject, groups)
            shared = _shared(worded, sentence, told, answers)
            if not shared.answered:  # a name within the answer begins the sentence here, with a capital
                small = self._about(subject, groups, capital=False)
                if (other := _shared(worded, small, told, answers))[:2] > shared[:2]:
                    sentence, shared = small, other
            text = "\n".join([sentence.text, *map(self._triple, own)])
            yield Evidence(tuple(own), text, shared.span, shared.source_span)

    def _about(self, subject: int, groups: Mapping[int, Sequence[Fact]], *, capital: bool = True) -> SpannedText:
        """Facts with one subject, by predicate, in words."""
        return _joined(
            [
                self.verbaliser.kind(subject, [fact.object for fact in group], capital=capital)
                if predicate in self.vocabulary.types
                else self.verbaliser.sentence([subject], predicate, [fact.object for fact in group], capital=capital)
                for predicate, group in groups.items()
            ]
        )

    def _triple(self, fact: Fact) -> str:
        """Of a long literal only the beginning."""
        terms = (shortened(self.lookup.triples.term(each)) for each in (fact.subject, fact.predicate, fact.object))
        written = (term if term.startswith(('"', "_:")) else f"<{term}>" for term in terms)
        return " ".join([*written, "."])

    def _by_salience(self, answers: Sequence[int]) -> list[int]:
        """Those with most facts first; values by themselves."""
        ids = np.array(answers, np.int64)
        salience = self.lookup.triples.salience(ids)
        return [int(each) for each in ids[np.lexsort((ids, -salience))]]


def _alike(one: Interpretation, other: Interpretation) -> bool:
    return one.answers == other.answers and one.counted == other.counted


def _fact(start: int, step: Step, end: int) -> Fact:
    return Fact(end, step.predicate, start) if step.inverse else Fact(start, step.predicate, end)


def _end(fact: Fact, step: Step) -> int:
    return fact.subject if step.inverse else fact.object


def _joined(said: Sequence[SpannedText]) -> SpannedText:
    text, spans = "", dict[int, Span]()
    for each in said:
        text += " " if text else ""
        spans |= {number: (start + len(text), end + len(text)) for number, (start, end) in each.spans.items()}
        text += each.text
    return SpannedText(text, spans)


def _shared(worded: SpannedText, source: SpannedText, ends: Sequence[int], answers: frozenset[int]) -> _Shared:
    """The best stretch that both texts have word for word, of some terms that follow each other."""
    best = run = _Shared(False, 0, None, None)
    for end in ends:
        span, source_span = worded.spans.get(end), source.spans.get(end)
        if span is None or source_span is None or not _same(worded.text, source.text, span, source_span):
            run = _Shared(False, 0, None, None)
            continue
        if run.span and run.source_span and span[0] > run.span[0]:
            longer = (run.span[0], span[1]), (run.source_span[0], source_span[1])
            if _same(worded.text, source.text, *longer):
                span, source_span = longer
        answer = end in answers or (span[0] < worded.spans[end][0] and run.answered)
        run = _Shared(answer, span[1] - span[0], span, source_span)
        best = max(best, run, key=lambda each: each[:2])
    return best


def _same(text: str, source: str, span: Span, source_span: Span) -> bool:
    """Whether two stretches are there, of one length, and alike."""
    whole = span[1] <= len(text) and source_span[1] <= len(source)
    return whole and text[slice(*span)] == source[slice(*source_span)]
