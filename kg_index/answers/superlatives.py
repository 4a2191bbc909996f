"""Answers questions for an extreme: "the largest planet", "the second longest river in Africa".

The question names a class, a superlative and perhaps an entity that the members of the class are linked to. The
superlative, or a word behind it ("the largest population"), names the values that the members are sorted by.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kg_index.answers.answer_type import QUESTION_STEMS
from kg_index.answers.graph_words import Vocabulary
from kg_index.answers.topics import ORDINALS, QuestionEntities, Topic
from kg_index.relations.keywords import keywords
from kg_index.triples.triple_index import TripleIndex
from kg_index.values.literals import value_of

LARGEST = ("area", "diameter", "population", "size")
ATTRIBUTES: dict[str, tuple[bool, tuple[str, ...]]] = {
    **dict.fromkeys(("largest", "biggest", "greatest"), (True, LARGEST)),
    "smallest": (False, LARGEST),
    "highest": (True, ("elevation", "height", "altitude")),
    "tallest": (True, ("height", "elevation")),
    "lowest": (False, ("elevation", "height")),
    "longest": (True, ("length", "duration")),
    "shortest": (False, ("length", "height", "duration")),
    "deepest": (True, ("depth",)),
    "heaviest": (True, ("mass", "weight")),
    "lightest": (False, ("mass", "weight")),
    "farthest": (True, ("distance",)),
    "furthest": (True, ("distance",)),
    "closest": (False, ("distance",)),
    "nearest": (False, ("distance",)),
    "fastest": (True, ("speed",)),
    "slowest": (False, ("speed",)),
    "hottest": (True, ("temperature",)),
    "coldest": (False, ("temperature",)),
    "most": (True, ()),
    "fewest": (False, ()),
    "least": (False, ()),
}
"""Whether the largest value is meant, and the names of values that a superlative means, best first."""
ENOUGH = 0.8
"""Share of the members of a class that must have the value: the extreme of a few proves nothing."""
LEAST_MEMBERS = 3
_WORLD = re.compile(
    r"\b(?:in|on|of|from|to)\s+(?:the\s+|our\s+)?(?:world|earth|globe|planet earth|solar system|universe|sun)\b", re.I
)
_WORDS = re.compile(r"[^\W_]+")


class Extreme(NamedTuple):
    """The member of a class with the extreme value; `phrase` names it, such as "second largest planet"."""

    kind: Topic
    phrase: str
    member: int
    predicate: int
    value: int


class _Target(NamedTuple):
    """What a question asks for: the superlative as written, its direction, its rank, and names of the values."""

    superlative: str
    largest: bool
    rank: int
    attributes: Sequence[str]


def find_extreme(
    question: str, entities: QuestionEntities, triples: TripleIndex, vocabulary: Vocabulary
) -> Extreme | None:
    """The member that the question asks for; None if it asks for none, or if anything in it remains unexplained."""
    target = _target_of(question)
    if target is None:
        return None
    stems = keywords(_WORLD.sub(" ", question)) - QUESTION_STEMS - keywords(target.superlative) - _RANK_STEMS
    for kind in entities.kinds:
        rest = stems - vocabulary.names(kind.id).all_stems
        members, rest, of = _restricted(_members(kind.id, triples, vocabulary), rest, question, entities, triples)
        if len(members) < LEAST_MEMBERS:
            continue
        for attribute in (*sorted(rest), *([] if rest else target.attributes)):
            best = _best(members, attribute, rest, target, triples, vocabulary)
            if best is not None:
                name = f"{vocabulary.names(kind.id).texts[0]}{of and f' of {of}'}"
                value = vocabulary.names(best[1]).texts[0] if attribute in rest else ""
                return Extreme(kind, _phrase(target, name, value), *best)
    return None


def _phrase(target: _Target, name: str, value: str) -> str:
    """ "Second largest planet" or "planet with the second highest number of moons"."""
    ordinal = next((f"{word} " for word, number in ORDINALS.items() if number == target.rank > 1), "")
    if not value:
        return f"{ordinal}{target.superlative} {name}"
    adjective = target.superlative if target.attributes else "highest" if target.largest else "lowest"
    return f"{name} with the {ordinal}{adjective} {value}"


def _target_of(question: str) -> _Target | None:
    words = [word.lower() for word in _WORDS.findall(question)]
    superlative = next((word for word in words if word in ATTRIBUTES), None)
    if superlative is None:
        return None
    largest, attributes = ATTRIBUTES[superlative]
    rank = next((ORDINALS[word] for word in words if word in ORDINALS), 1)
    return _Target(superlative, largest, rank, attributes)


def _members(kind: int, triples: TripleIndex, vocabulary: Vocabulary) -> list[int]:
    return [int(member) for type_ in vocabulary.types for member in triples.subjects(type_, kind)]


def _restricted(
    members: list[int], stems: frozenset[str], question: str, entities: QuestionEntities, triples: TripleIndex
) -> tuple[list[int], frozenset[str], str]:
    """The members that have a fact with an entity that the question names, the other stems, and the entity's name."""
    for topic in entities.topics:
        named = keywords(question[topic.start : topic.end])
        if topic.is_value or not named or not named <= stems:
            continue
        linked = [member for member in members if len(triples.predicates(member, topic.id))]
        if linked:
            return linked, stems - named, topic.text
    return members, stems, ""


def _best(
    members: Sequence[int],
    attribute: str,
    rest: frozenset[str],
    target: _Target,
    triples: TripleIndex,
    vocabulary: Vocabulary,
) -> tuple[int, int, int] | None:
    """Member, predicate and value at the target rank, by a value with this name that nearly all members have."""
    stems = keywords(attribute)
    predicates = {int(p) for member in members[:LEAST_MEMBERS] for p in triples.predicates_of(member)}
    for predicate in sorted(predicates - vocabulary.hidden):
        names = vocabulary.names(predicate)
        if not any(stems | rest <= named for named in [names.stems[0], *names.stems[1:]]):
            continue
        valued = [row for member in members if (row := _valued(member, predicate, triples)) is not None]
        if len(valued) < max(LEAST_MEMBERS, ENOUGH * len(members)) or target.rank > len(valued):
            continue
        valued.sort(key=lambda row: -row[0] if target.largest else row[0])
        number, member, value = valued[target.rank - 1]
        if sum(row[0] == number for row in valued) == 1:
            return member, predicate, value
    return None


def _valued(member: int, predicate: int, triples: TripleIndex) -> tuple[float, int, int] | None:
    """The number that a member has, the member, and the term of the number."""
    objects = np.sort(triples.objects(member, predicate)).tolist()
    numbers = [(value_of(triples.term(term)), term) for term in objects if triples.is_literal(term)]
    return next(((number, member, term) for number, term in numbers if isinstance(number, float)), None)


_RANK_STEMS = keywords(" ".join(ORDINALS)) | keywords("by")
