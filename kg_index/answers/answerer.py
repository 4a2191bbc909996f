"""From a question to facts: mentions, readings, the best of them, and the sentences that say it (thesis, ch. 4.3).

The score of a reading is a weighted sum of its features, fitted so that right readings stand first among all of a
question (a conditional logit). How far to believe the best one is for the caller to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kg_index.answers.graph_words import Vocabulary
from kg_index.answers.interpretations import Reader, Reading
from kg_index.answers.lookup import Fact, Lookup
from kg_index.answers.topics import Spotted, spot
from kg_index.answers.verbalise import SHOWN, Worded, Wording, shortened
from kg_index.answers.walks import Walker
from kg_index.linking.linker import Linker
from kg_index.relations.relation_scorers import Encode
from kg_index.triples.paths import Step
from qa_core.types import Span

if TYPE_CHECKING:  # torch comes with these
    from kg_index.relations.relation_network import RelationScorer
    from kg_index.relations.templates import TemplateTable

LONGEST = 2_000  # characters of a question that are read


@dataclass(frozen=True, slots=True)
class Scored:
    """A reading and its score."""

    reading: Reading
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
    """A reading in words, and what it rests on."""

    text: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Understood:
    """All readings of a question, best first, and what they were made from."""

    question: str
    spotted: Spotted
    readings: tuple[Scored, ...]

    @property
    def features(self) -> dict[str, float]:
        """Of the best reading, with its `score`, and `certainty`: the part of the odds that its answers have."""
        if not self.readings:
            return {}
        best = self.readings[0]
        odds = [math.exp(each.score - best.score) for each in self.readings]
        same = sum(o for o, each in zip(odds, self.readings, strict=True) if _alike(each.reading, best.reading))
        return {**best.reading.features, "score": best.score, "certainty": same / sum(odds)}


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
        self.wording = Wording(lookup, self.vocabulary)
        self._walker = Walker(lookup.triples, self.vocabulary)
        self._reader = Reader(self._walker, encode, templates=templates, scorer=scorer)

    def understand(self, question: str, *, check: Callable[[], object] = lambda: None) -> Understood:
        """All readings; `check` is called between topics and may raise. Of a long text only the beginning is read."""
        asked = question[:LONGEST]
        spotted = spot(asked, self.linker, self.lookup.triples, self.vocabulary)
        readings = [Scored(each, self.score(each.features)) for each in self._reader.read(asked, spotted, check=check)]
        readings.sort(key=lambda each: (-each.score, each.reading.relation, each.reading.topic.id))
        return Understood(question, spotted, tuple(readings))

    def score(self, features: Mapping[str, float]) -> float:
        return sum(weight * features.get(name, 0.0) for name, weight in self._weights.items())

    def told(self, reading: Reading, *, limit: int = 1_000) -> FactAnswer:
        """A reading in words, where it can be within `limit` characters, with the facts behind it."""
        answers = self._by_salience(reading.answers)
        chains = {answer: self._chain(reading, answer) for answer in answers[:SHOWN]}
        shown = SHOWN
        worded = self._worded(reading, answers, chains, shown)
        while len(worded.text) > limit and shown > 1:
            shown //= 2
            worded = self._worded(reading, answers, chains, shown)
        led = (pair for answer in answers[:shown] for pair in zip(chains[answer], reading.path, strict=True))
        ends = {fact: _end(fact, step) for fact, step in led}
        worded = Worded(worded.text[:limit], worded.spans)
        return FactAnswer(worded.text, tuple(self._evidence(ends, worded, frozenset(answers))))

    def _worded(
        self, reading: Reading, answers: Sequence[int], chains: Mapping[int, tuple[Fact, ...]], shown: int
    ) -> Worded:
        """What leads to the answers, then the answers; a count or all of a kind stand for themselves."""
        *first, last = reading.path
        middles = [reading.topic.id]
        said: list[Worded] = []
        for step in first:
            following = list(dict.fromkeys(_end(chain[0], step) for chain in chains.values()))
            said.append(self._said(middles, step, following, shown))
            middles = following
        if reading.counted:
            unit_of = None if last.inverse else last.predicate
            said.append(self.wording.count(answers, unit_of, shown=shown, more=reading.more))
        elif last.predicate in self.vocabulary.types:
            said.append(self.wording.listed(answers, shown=shown, more=reading.more))
        else:
            said.append(self._said(middles, last, answers, shown, more=reading.more))
        return _joined(said)

    def _said(
        self, starts: Sequence[int], step: Step, ends: Sequence[int], shown: int, *, more: bool = False
    ) -> Worded:
        subjects, objects = (ends, starts) if step.inverse else (starts, ends)
        return self.wording.sentence(subjects, step.predicate, objects, shown=shown, more=more)

    def _chain(self, reading: Reading, answer: int) -> tuple[Fact, ...]:
        """Facts that lead from the topic to an answer; of several ways the first."""
        start = reading.topic.id
        *first, last = reading.path
        if not first:
            return (_fact(start, last, answer),)
        (one,) = first
        middle = next(m for m in self._walker.ends(start, one) if self._leads(m, last, answer))
        return _fact(start, one, middle), _fact(middle, last, answer)

    def _leads(self, start: int, step: Step, end: int) -> bool:
        subject, object_ = (end, start) if step.inverse else (start, end)
        return step.predicate in self.lookup.triples.predicates(subject, object_)

    def _evidence(self, ends: Mapping[Fact, int], worded: Worded, answers: frozenset[int]) -> Iterator[Evidence]:
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

    def _about(self, subject: int, groups: Mapping[int, Sequence[Fact]], *, capital: bool = True) -> Worded:
        """Facts with one subject, by predicate, in words."""
        return _joined(
            [
                self.wording.kind(subject, [fact.object for fact in group], capital=capital)
                if predicate in self.vocabulary.types
                else self.wording.sentence([subject], predicate, [fact.object for fact in group], capital=capital)
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


def _alike(one: Reading, other: Reading) -> bool:
    return one.answers == other.answers and one.counted == other.counted


def _fact(start: int, step: Step, end: int) -> Fact:
    return Fact(end, step.predicate, start) if step.inverse else Fact(start, step.predicate, end)


def _end(fact: Fact, step: Step) -> int:
    return fact.subject if step.inverse else fact.object


def _joined(said: Sequence[Worded]) -> Worded:
    text, spans = "", dict[int, Span]()
    for each in said:
        text += " " if text else ""
        spans |= {number: (start + len(text), end + len(text)) for number, (start, end) in each.spans.items()}
        text += each.text
    return Worded(text, spans)


def _shared(worded: Worded, source: Worded, ends: Sequence[int], answers: frozenset[int]) -> _Shared:
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
