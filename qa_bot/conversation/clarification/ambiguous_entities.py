"""Names that stand for several entities of the graph: how each is told apart, and what can be asked about it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

from kg_index.answers.answerer import ScoredInterpretation
from kg_index.answers.interpretations import Interpretation
from kg_index.answers.topics import Topic
from kg_index.answers.verbalise import form_of
from kg_index.triples.paths import Step
from qa_bot.conversation.clarification.bare_topics import ChoiceWithTarget
from qa_core.text.analysis import terms
from qa_core.types import Choice

if TYPE_CHECKING:
    from qa_bot.answering.graph.facts import FactResult, Facts

MARGIN = 1.5
"""Log-odds by which the best interpretation is much likelier than another one: 4.5 to 1."""
LEAST_SHARE = 0.1
"""Of a name: entities that it hardly ever stands for are not meant by it alone."""
LONGEST_CLAUSE = 50
"""Characters of a description that tell an entity apart."""
MOST = 3
"""Entities of a bare name, and ways to write one."""
SHARED = 20
"""Subjects of one object from which on it tells little about each of them."""
LOOKED_AT = 50
"""Predicates of an entity."""
ASKED = 10
"""Predicates of these that a question is made of."""
LONGEST_NAME = 100
"""Characters."""


def senses(
    found: FactResult, facts: Facts, *, check: Callable[[], object] = lambda: None
) -> Iterator[ChoiceWithTarget]:
    """The question with each of the entities that it may mean, where these are about as likely and answer otherwise."""
    close = close_interpretations(found.parsed.interpretations)
    question = found.parsed.question
    for each in close if len(close) > 1 and not _told_apart(question, close, facts) else ():
        topic = each.interpretation.topic
        rivals = [other.interpretation.topic.id for other in close if other is not each]
        for name, written in namings(topic.id, topic.text, rivals, facts):
            asked = question[: topic.start] + written + question[topic.end :]
            check()
            if told := _told(asked, facts, partial(_is_same, each.interpretation)):
                yield Choice(name, asked), told
                break


def close_interpretations(interpretations: Sequence[ScoredInterpretation]) -> list[ScoredInterpretation]:
    """The best interpretation for each entity of the best one's mention, best first, without those of equal answers."""
    kept: dict[int, ScoredInterpretation] = {}
    for each in interpretations:
        interpretation, best = each.interpretation, interpretations[0].interpretation
        same = (interpretation.topic.start, interpretation.topic.end) == (best.topic.start, best.topic.end)
        if (
            same
            and not interpretation.topic.is_value
            and _asks(interpretation)
            and interpretations[0].score - each.score <= MARGIN
        ):
            kept.setdefault(interpretation.topic.id, each)
    different: dict[object, ScoredInterpretation] = {}
    for each in kept.values():
        different.setdefault((each.interpretation.answers, each.interpretation.counted), each)
    return [*different.values()]


def namings(entity: int, mention: str, rivals: Collection[int], facts: Facts) -> list[tuple[str, str]]:
    """What a button calls an entity, and how a question does: its own name where no other entity has it, else the
    mention with a kind, another name, or the beginning of its description."""
    lookup, vocabulary = facts.lookup, facts.answerer.vocabulary
    label = lookup.label(entity)
    unique = [name for name in vocabulary.names(entity).texts if lookup.entities(name)[:2] == [entity]]
    unique.sort(key=label.__ne__)  # stable: the label first
    taken = frozenset[int]().union(*map(vocabulary.kinds, rivals))
    kinds = [vocabulary.names(kind).texts[0] for kind in sorted(vocabulary.kinds(entity) - taken)]
    clause = vocabulary.description(entity).partition(";")[0].strip(" .")
    added = [*kinds, *([clause] if 0 < len(clause) <= LONGEST_CLAUSE else [])]
    told = [*((name, name) for name in unique), *((f"{label} ({each})", f"{mention} ({each})") for each in added)]
    if unique[:1] != [label]:  # a name that few know tells less than a kind
        told.sort(key=lambda each: each[0] in unique)
    return [each for each in told if max(map(len, each)) <= LONGEST_NAME][:MOST]


def topics(
    found: FactResult,
    facts: Facts,
    carrying: frozenset[str],
    *,
    defined: bool,
    check: Callable[[], object] = lambda: None,
) -> Iterator[ChoiceWithTarget]:
    """What can be asked about the entities that a bare name stands for, in turn; `carrying` are the name's terms.

    Where a definition is asked for, only a name of several entities is open.
    """
    entities = {
        topic.id: topic
        for topic in reversed(found.parsed.entities.topics)
        if not topic.is_value and topic.share >= LEAST_SHARE and carrying.issubset(terms(topic.text))
    }
    meant = [*reversed(entities.values())][:MOST]
    told = [
        _facts_of(topic, [other.id for other in meant if other is not topic], facts, check)
        for topic in (meant if len(meant) > defined else ())
    ]
    return (offer for each in zip_longest(*told) for offer in each if offer is not None)


def _facts_of(
    topic: Topic, rivals: Sequence[int], facts: Facts, check: Callable[[], object]
) -> Iterator[ChoiceWithTarget]:
    """Questions about an entity that have an answer, what tells most about it first."""
    for predicate in _predicates(topic.id, facts):
        relation = facts.answerer.verbaliser.predicate(predicate)
        for name, written in namings(topic.id, topic.text, rivals, facts):
            asked = f"What is the {relation} of {written}?"
            check()
            if told := _told(asked, facts, partial(_is_about, topic, predicate)):
                yield Choice(f"{name}: {relation}" if rivals else relation, asked), told
                break


def _predicates(entity: int, facts: Facts) -> list[int]:
    """Predicates whose names are nouns: first what few share, entities before values."""
    triples, vocabulary = facts.lookup.triples, facts.answerer.vocabulary
    ranked = []
    for predicate in triples.predicates_of(entity)[:LOOKED_AT].tolist():
        if predicate in vocabulary.hidden or form_of(facts.answerer.verbaliser.predicate(predicate)) != "noun":
            continue
        objects = triples.objects(entity, predicate)
        sharing = len(triples.subjects(predicate, int(objects[0])))
        ranked.append((sharing >= SHARED, bool(triples.is_literal(int(objects[0]))), sharing, predicate))
    return [predicate for *_, predicate in sorted(ranked)][:ASKED]


def _told(question: str, facts: Facts, is_meant: Callable[[Interpretation], bool]) -> str:
    """What the graph answers, empty where that is not what is meant, or not given."""
    found = facts.find(question)
    given = found.accepted and found.answer is not None and is_meant(found.parsed.interpretations[0].interpretation)
    return found.answer.text if found.answer is not None and given else ""


def _is_same(one: Interpretation, other: Interpretation) -> bool:
    return one.topic.id == other.topic.id and one.answers == other.answers and one.counted == other.counted


def _is_about(topic: Topic, predicate: int, interpretation: Interpretation) -> bool:
    return interpretation.topic.id == topic.id and interpretation.path == (Step(predicate, False),)


def _told_apart(question: str, close: Sequence[ScoredInterpretation], facts: Facts) -> bool:
    """Whether the question says beside the name what some of the entities are and others are not."""
    topic, vocabulary = close[0].interpretation.topic, facts.answerer.vocabulary
    said = frozenset(terms(f"{question[: topic.start]} {question[topic.end :]}"))
    named = [
        any(stems and stems <= said for kind in vocabulary.kinds(entity) for stems in vocabulary.names(kind).stems)
        for entity in (each.interpretation.topic.id for each in close)
    ]
    return any(named) and not all(named)


def _asks(interpretation: Interpretation) -> bool:
    """Whether the question says which relation is meant, in words that all belong to it."""
    return bool(interpretation.features["whole"]) and interpretation.features["precision"] > 0
