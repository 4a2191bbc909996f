"""Finds the topics of a question: entities by the linker, and values that the graph has as literals.

A code or symbol ("+353", "Fe", ".tv", "the 79th") has no label; it is the object of the requested triple.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from kg_index.answers.graph_words import Vocabulary
from kg_index.linking.linker import LinkedEntity, Linker
from kg_index.triples.triple_index import TripleIndex
from kg_index.values.literals import XSD
from kg_index.values.question_values import Number, Quoted, find_values

_FORMS = ('"{}"', '"{}"@en', f'"{{}}"^^<{XSD}integer>', f'"{{}}"^^<{XSD}decimal>', f'"{{}}"^^<{XSD}gYear>')
_CODE = re.compile(r"(?<!\S)[+.#€$£¥]?[^\W_](?:[^\s?!,;:\"]*[^\W_])?[€$£¥]?")
ORDINALS = {
    word: number
    for number, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), start=1)  # noqa: SIM905
}
_MAX_CODES = 20  # looked up per question
_MAX_VALUES = 20  # topics per question
_LONGEST_CODE = 40  # characters
LITERAL_SHARE = 0.5  # score of a value: as likely the topic as not


@dataclass(frozen=True, slots=True)
class Topic:
    """`question[start:end]` names the term `id`; `score` and `share` as in `LinkedEntity`."""

    id: int
    start: int
    end: int
    text: str
    score: float
    share: float
    is_value: bool = False


@dataclass(frozen=True, slots=True)
class QuestionEntities:
    """The topics of a question, best first; `kinds` are classes, as in "Which planets …"."""

    topics: tuple[Topic, ...]
    kinds: tuple[Topic, ...]


def find_entities(
    question: str, linker: Linker, triples: TripleIndex, vocabulary: Vocabulary, *, most: int = 12
) -> QuestionEntities:
    """At most `most` entities followed by values, and at most `most` kinds."""
    entities: list[Topic] = []
    kinds: list[Topic] = []
    for linked in linker.candidates(question):
        topics = kinds if vocabulary.is_kind(linked.entity) else entities
        if len(topics) < most:
            topics.append(_topic(linked))
    values = islice(_values(question, triples, vocabulary.hidden), _MAX_VALUES)
    return QuestionEntities((*entities, *values), tuple(kinds))


def _topic(linked: LinkedEntity) -> Topic:
    mention = linked.mention
    return Topic(linked.entity, mention.start, mention.end, mention.text, linked.score, linked.share)


def _values(question: str, triples: TripleIndex, hidden: frozenset[int]) -> Iterator[Topic]:
    """Literals of facts, except those that are only names (objects of `hidden` predicates)."""
    seen: set[int] = set()
    for start, end, text in _written(question):
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        for number in (triples.id_of(form.format(escaped)) for form in _FORMS):
            if number is None or number in seen:
                continue
            seen.add(number)
            if not hidden.issuperset(triples.predicates_to(number).tolist()):
                yield Topic(number, start, end, question[start:end], LITERAL_SHARE, LITERAL_SHARE, is_value=True)


def _written(question: str) -> Iterator[tuple[int, int, str]]:
    """Spans, and the texts of literals that they may mean."""
    for value in find_values(question):
        if isinstance(value, Quoted):
            yield value.start, value.end, value.value
        elif isinstance(value, Number) and value.value == int(value.value) and not _is_in_name(question, value):
            yield value.start, value.end, str(int(value.value))
    codes = (code for code in _CODE.finditer(question) if len(code[0]) <= _LONGEST_CODE)
    for code in islice(codes, _MAX_CODES):
        if (ordinal := ORDINALS.get(code[0].lower())) is not None:
            yield code.start(), code.end(), str(ordinal)
        elif code[0][0] in "+.#" or (not code[0].islower() and code[0].lower() not in _QUESTION_WORDS):
            yield code.start(), code.end(), code[0]


def _is_in_name(question: str, number: Number) -> bool:
    """Whether a number in words is part of a name, as capitals beside it show: "the Final Four", "Seven Eleven"."""
    if not number.text.istitle() or question.istitle():
        return False
    before, after = _CAPITALISED_BEFORE.search(question[: number.start]), _CAPITALISED.match(question[number.end :])
    return bool(before and before[1].lower() not in _QUESTION_WORDS) or after is not None


_CAPITALISED_BEFORE = re.compile(r"\b([A-Z][a-z]\w*)[ -]$")
_CAPITALISED = re.compile(r"[ -][A-Z][a-z]")
_QUESTION_WORDS = frozenset({"what", "which", "who", "where", "when", "how", "name", "is", "in", "on", "i", "a", "the"})
