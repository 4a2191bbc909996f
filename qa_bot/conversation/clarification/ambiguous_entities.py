"""Names of several entities in the graph: choices that distinguish them, and questions about them."""

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
"""Share of a name's uses; rarer entities of the name are ignored."""
LONGEST_CLAUSE = 50
"""Characters of a description that distinguishes an entity."""
MOST = 3
"""Most entities of a bare name, and most ways to write one."""
SHARED = 20
"""Subjects of one object from which on it says little about each of them."""
LOOKED_AT = 50
"""Predicates of an entity that are ranked."""
ASKED = 10
"""Predicates that become questions."""
LONGEST_NAME = 100
"""Characters."""


def senses(
    result: FactResult, facts: Facts, *, check: Callable[[], object] = lambda: None
) -> Iterator[ChoiceWithTarget]:
    """The question with each entity that it may mean, if these are about equally likely and have other answers."""
    close = close_interpretations(result.parsed.interpretations)
    question = result.parsed.question
    for scored in close if len(close) > 1 and not _is_distinguished(question, close, facts) else ():
        topic = scored.interpretation.topic
        rivals = [other.interpretation.topic.id for other in close if other is not scored]
        for name, written in namings(topic.id, topic.text, rivals, facts):
            precise = question[: topic.start] + written + question[topic.end :]
            check()
            if text := _answer_text(precise, facts, partial(_is_same, scored.interpretation)):
                yield Choice(name, precise), text
                break


def close_interpretations(interpretations: Sequence[ScoredInterpretation]) -> list[ScoredInterpretation]:
    """The best interpretation of each entity of the best one's mention, best first, without equal answers."""
    by_entity: dict[int, ScoredInterpretation] = {}
    for scored in interpretations:
        interpretation, best = scored.interpretation, interpretations[0].interpretation
        same = (interpretation.topic.start, interpretation.topic.end) == (best.topic.start, best.topic.end)
        if (
            same
            and not interpretation.topic.is_value
            and _asks(interpretation)
            and interpretations[0].score - scored.score <= MARGIN
        ):
            by_entity.setdefault(interpretation.topic.id, scored)
    different: dict[object, ScoredInterpretation] = {}
    for scored in by_entity.values():
        different.setdefault((scored.interpretation.answers, scored.interpretation.counted), scored)
    return [*different.values()]


def namings(entity: int, mention: str, rivals: Collection[int], facts: Facts) -> list[tuple[str, str]]:
    """Pairs of a button's label and the text in a question: a unique name of the entity, or the mention with a kind or
    the beginning of the entity's description."""
    lookup, vocabulary = facts.lookup, facts.answerer.vocabulary
    label = lookup.label(entity)
    unique = [name for name in vocabulary.names(entity).texts if lookup.entities(name)[:2] == [entity]]
    unique.sort(key=label.__ne__)  # stable: the label first
    taken = frozenset[int]().union(*map(vocabulary.kinds, rivals))
    kinds = [vocabulary.names(kind).texts[0] for kind in sorted(vocabulary.kinds(entity) - taken)]
    clause = vocabulary.description(entity).partition(";")[0].strip(" .")
    added = [*kinds, *([clause] if 0 < len(clause) <= LONGEST_CLAUSE else [])]
    pairs = [*((name, name) for name in unique), *((f"{label} ({kind})", f"{mention} ({kind})") for kind in added)]
    if unique[:1] != [label]:  # a rare name is less helpful than a kind
        pairs.sort(key=lambda pair: pair[0] in unique)
    return [pair for pair in pairs if max(map(len, pair)) <= LONGEST_NAME][:MOST]


def topics(
    result: FactResult,
    facts: Facts,
    carrying: frozenset[str],
    *,
    defined: bool,
    check: Callable[[], object] = lambda: None,
) -> Iterator[ChoiceWithTarget]:
    """Questions about the entities of a bare name, in turns; `carrying` holds the name's terms.

    A definition is only ambiguous if several entities have the name.
    """
    entities = {
        topic.id: topic
        for topic in reversed(result.parsed.entities.topics)
        if not topic.is_value and topic.share >= LEAST_SHARE and carrying.issubset(terms(topic.text))
    }
    meant = [*reversed(entities.values())][:MOST]
    by_entity = [
        _facts_of(topic, [other.id for other in meant if other is not topic], facts, check)
        for topic in (meant if len(meant) > defined else ())
    ]
    return (choice for row in zip_longest(*by_entity) for choice in row if choice is not None)


def _facts_of(
    topic: Topic, rivals: Sequence[int], facts: Facts, check: Callable[[], object]
) -> Iterator[ChoiceWithTarget]:
    """Questions about an entity that the graph answers, the most specific first."""
    for predicate in _predicates(topic.id, facts):
        relation = facts.answerer.verbaliser.predicate(predicate)
        for name, written in namings(topic.id, topic.text, rivals, facts):
            query = f"What is the {relation} of {written}?"
            check()
            if text := _answer_text(query, facts, partial(_is_about, topic, predicate)):
                yield Choice(f"{name}: {relation}" if rivals else relation, query), text
                break


def _predicates(entity: int, facts: Facts) -> list[int]:
    """Predicates with nouns as names; rare objects first, entities before values."""
    triples, vocabulary = facts.lookup.triples, facts.answerer.vocabulary
    ranked = []
    for predicate in triples.predicates_of(entity)[:LOOKED_AT].tolist():
        if predicate in vocabulary.hidden or form_of(facts.answerer.verbaliser.predicate(predicate)) != "noun":
            continue
        objects = triples.objects(entity, predicate)
        sharing = len(triples.subjects(predicate, int(objects[0])))
        ranked.append((sharing >= SHARED, bool(triples.is_literal(int(objects[0]))), sharing, predicate))
    return [predicate for *_, predicate in sorted(ranked)][:ASKED]


def _answer_text(question: str, facts: Facts, is_meant: Callable[[Interpretation], bool]) -> str:
    """The graph's answer, or "" if it is not accepted or means something else."""
    result = facts.find(question)
    accepted = (
        result.accepted and result.answer is not None and is_meant(result.parsed.interpretations[0].interpretation)
    )
    return result.answer.text if result.answer is not None and accepted else ""


def _is_same(one: Interpretation, other: Interpretation) -> bool:
    return one.topic.id == other.topic.id and one.answers == other.answers and one.counted == other.counted


def _is_about(topic: Topic, predicate: int, interpretation: Interpretation) -> bool:
    return interpretation.topic.id == topic.id and interpretation.path == (Step(predicate, False),)


def _is_distinguished(question: str, close: Sequence[ScoredInterpretation], facts: Facts) -> bool:
    """Whether the question has words for the kinds of some of the entities and not of the others."""
    topic, vocabulary = close[0].interpretation.topic, facts.answerer.vocabulary
    stems_beside = frozenset(terms(f"{question[: topic.start]} {question[topic.end :]}"))
    named = [
        any(
            stems and stems <= stems_beside
            for kind in vocabulary.kinds(entity)
            for stems in vocabulary.names(kind).stems
        )
        for entity in (item.interpretation.topic.id for item in close)
    ]
    return any(named) and not all(named)


def _asks(interpretation: Interpretation) -> bool:
    """Whether the question says which relation is meant, in words that all belong to it."""
    return bool(interpretation.features["whole"]) and interpretation.features["precision"] > 0
