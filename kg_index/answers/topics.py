"""What a question may be about: entities that the linker finds, and values that stand in the graph as they are written.

A code or symbol ("+353", "Fe", ".tv", "the 79th") has no label; it is the object of the triple that is asked for.
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
_ORDINALS = {
    word: number
    for number, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), start=1)  # noqa: SIM905
}
_MOST_CODES = 20  # of a question that are looked up
_MOST_VALUES = 20  # of a question that stand in the graph
_LONGEST_CODE = 40  # characters
LITERAL_SHARE = 0.5  # of a value: as likely what is asked about as not


@dataclass(frozen=True, slots=True)
class Topic:
    """`question[start:end]` stands for the term `id`; `score` and `share` as in `LinkedEntity`."""

    id: int
    start: int
    end: int
    text: str
    score: float
    share: float
    is_value: bool = False


@dataclass(frozen=True, slots=True)
class QuestionEntities:
    """All that a question names, best first: `kinds` are those of "Which planets …"."""

    topics: tuple[Topic, ...]
    kinds: tuple[Topic, ...]


def find_entities(
    question: str, linker: Linker, triples: TripleIndex, vocabulary: Vocabulary, *, most: int = 12
) -> QuestionEntities:
    """At most `most` entities, then values; and as many kinds."""
    entities: list[Topic] = []
    kinds: list[Topic] = []
    for linked in linker.candidates(question):
        found = kinds if vocabulary.is_kind(linked.entity) else entities
        if len(found) < most:
            found.append(_topic(linked))
    values = islice(_values(question, triples, vocabulary.hidden), _MOST_VALUES)
    return QuestionEntities((*entities, *values), tuple(kinds))


def _topic(linked: LinkedEntity) -> Topic:
    mention = linked.mention
    return Topic(linked.entity, mention.start, mention.end, mention.text, linked.score, linked.share)


def _values(question: str, triples: TripleIndex, hidden: frozenset[int]) -> Iterator[Topic]:
    """Literals that stand in facts; what is only a name, by a `hidden` predicate, the linker finds."""
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
    """Spans and the texts of literals that they may stand for."""
    for value in find_values(question):
        if isinstance(value, Quoted):
            yield value.start, value.end, value.value
        elif isinstance(value, Number) and value.value == int(value.value):
            yield value.start, value.end, str(int(value.value))
    codes = (found for found in _CODE.finditer(question) if len(found[0]) <= _LONGEST_CODE)
    for found, _ in zip(codes, range(_MOST_CODES), strict=False):
        if (ordinal := _ORDINALS.get(found[0].lower())) is not None:
            yield found.start(), found.end(), str(ordinal)
        elif found[0][0] in "+.#" or (not found[0].islower() and found[0].lower() not in _ASKED):
            yield found.start(), found.end(), found[0]


_ASKED = frozenset({"what", "which", "who", "where", "when", "how", "name", "is", "in", "on", "i", "a", "the"})
