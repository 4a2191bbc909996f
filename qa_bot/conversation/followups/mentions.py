"""The mentions of a conversation: noun phrases of its turns, with their positions and kinds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from qa_bot.conversation.followups.lexicon import MEN, PEOPLE, PERSONS, PETS, WOMEN, is_person
from qa_bot.conversation.followups.phrases import NounPhrase, bare, is_plural, phrases, plural_of
from qa_core.text.analysis import terms
from qa_core.text.noun_phrases import noun_phrases
from qa_core.text.stop_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from qa_bot.answering.graph.entities import Entity

KEY_TERMS = 4
"""Names and noun phrases taken from an answer: the first ones."""
_ANSWER = 600
"""Characters of an answer that are searched."""
_REMEMBERED = 12
"""Exchanges that are searched: the latest ones and the first."""
_PARTICLES = frozenset(["da", "de", "del", "van", "von", "bin"])
_FULL_NAME = re.compile(
    r"(?<![.\w-] )(?<!\w)[A-Z][\w-]+(?: (?:da|de|del|van|von|bin) [A-Z][\w-]+| [A-Z][\w-]+)+|"
    r"(?:(?<=^)|(?<=[.] ))[A-Z][a-z]+ (?:(?:da|de|van|von) )?[A-Z][a-z]+\b"
)
_LED_IN = re.compile(
    r"\b(?:in|on|at|to|from|by|after|before|over|into|under|near|without)\s+(?:(?:the|an?|my)\s+)?$", re.IGNORECASE
)
_NAMES = re.compile(r"\b([A-Z][\w'’-]*) and ((?:[A-Z][\w'’-]*)(?: [A-Z][\w'’-]*)*)")


class Exchange(NamedTuple):
    """A resolved question, its answer, the title of its first source, and the entities in both."""

    question: str
    answer: str = ""
    title: str = ""
    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """A noun phrase of the conversation.

    `age` counts questions back from now (1 is the latest), `times` the questions that name it. `governs`: "of" or a
    possession follows it ("symptoms of …"); `governed`: it is the owner in such a phrase; `led_in`: a preposition of
    place or time precedes it; `titled`: the title of the answer's source has it. `classes` are words for its kind,
    from a knowledge graph.
    """

    text: str
    age: int
    position: int
    times: int = 1
    opening: bool = False
    answered: bool = False
    governs: bool = False
    governed: bool = False
    led_in: bool = False
    titled: bool = False
    classes: frozenset[str] = frozenset()

    @property
    def plural(self) -> bool:
        return is_plural(self.text)

    def living(self, gender: str) -> bool:
        """Whether "he" (gender "man") or "she" ("woman") may refer to it."""
        if self.classes:
            return not PERSONS.isdisjoint(self.classes)
        word = self.text.split()[-1].casefold()
        if word in PEOPLE or word in PETS:
            return word not in (WOMEN if gender == "man" else MEN)
        return self.name and not self.text.startswith("the ")

    @property
    def person(self) -> bool:
        """Whether "it" cannot refer to it."""
        return not PERSONS.isdisjoint(self.classes) or is_person(self.text)

    @property
    def name(self) -> bool:
        """Whether it is written like a proper name."""
        words = [word for word in bare(self.text).split() if word not in _PARTICLES]
        return bool(words) and all(word[0].isupper() or word[0].isdigit() for word in words)

    @property
    def many(self) -> str:
        """The text for "they": "virtual machines" for "a virtual machine"."""
        if self.plural or not self.text.startswith(("a ", "an ")):
            return self.text
        return plural_of(bare(self.text))


def mentions(history: Sequence[Exchange]) -> list[Mention]:
    """The distinct mentions of a conversation, each in its latest position, latest first."""
    recent = list(enumerate(history))
    recent = recent if len(recent) <= _REMEMBERED else [recent[0], *recent[-_REMEMBERED:]]
    by_stems: dict[tuple[str, ...], Mention] = {}
    for at, exchange in reversed(recent):
        for mention in _of_exchange(exchange, len(history) - at, opening=at == 0):
            key = tuple(terms(mention.text)) or (mention.text.casefold(),)
            if longer := next(
                (stems for stems in by_stems if len(stems) == len(key) + 1 > 2 and stems[: len(key)] == key), None
            ):
                by_stems[key] = replace(by_stems.pop(longer), text=mention.text)  # "the film win" was "the film"
            known = by_stems.get(key)
            by_stems[key] = _again(known, mention) if known else mention
    return list(by_stems.values())


def _again(known: Mention, older: Mention) -> Mention:
    times = known.times + (not older.answered)
    return replace(
        known,
        times=times,
        opening=known.opening or older.opening,
        governed=known.governed or older.governed,
        classes=known.classes or older.classes,
    )


def _of_exchange(exchange: Exchange, age: int, *, opening: bool) -> Iterator[Mention]:
    known = {tuple(terms(entity.text)): entity for entity in exchange.entities}
    for mention in _mentions_of(exchange, age, opening=opening):
        entity = known.pop(tuple(terms(mention.text)), None)
        yield replace(mention, classes=entity.classes) if entity else mention
    for position, entity in enumerate(known.values()):
        in_question = entity.text in exchange.question
        yield Mention(
            entity.text,
            age,
            position,
            opening=opening and in_question,
            answered=not in_question,
            classes=entity.classes,
        )


def _mentions_of(exchange: Exchange, age: int, *, opening: bool) -> Iterator[Mention]:
    question, answer = exchange.question, exchange.answer[:_ANSWER]
    title = Counter(terms(exchange.title[:_ANSWER]))
    turn_phrases = phrases(question)
    for position, phrase in enumerate(turn_phrases):
        mention = _mention(question, phrase, age, position, opening=opening)
        yield replace(mention, titled=_times(phrase.text, title) > 0)
    for names in _NAMES.finditer(question):
        yield Mention(names[0], age, len(turn_phrases), opening=opening)
    for position, text in enumerate(_key_terms(answer)):
        yield Mention(text, age, position, answered=True, titled=_times(text, title) > 0)


@lru_cache(maxsize=256)
def _key_terms(answer: str) -> tuple[str, ...]:
    """Names of several words, and repeated noun phrases of an answer."""
    names = (match[0] for match in _FULL_NAME.finditer(answer))
    named = [name for name in names if FUNCTION_WORDS.isdisjoint(name.removeprefix("The ").lower().split())]
    counts = Counter(terms(answer))
    repeated = (phrase for phrase in noun_phrases(answer) if _times(phrase, counts) > 1)
    return tuple(dict.fromkeys([*named[:KEY_TERMS], *repeated]))[:KEY_TERMS]


def _times(phrase: str, counts: Counter[str]) -> int:
    """An upper bound on the number of occurrences of a phrase."""
    return min((counts[term] for term in terms(phrase)), default=0)


def _mention(question: str, phrase: NounPhrase, age: int, position: int, *, opening: bool) -> Mention:
    before, after = question[: phrase.start], question[phrase.end :]
    governs = bool(re.match(r"\s+(?:of|for)\b", after) or re.search(r"['’]s?\s+$", before))
    governed = bool(re.match(r"['’]", after) or re.search(r"\b(?:of|for)\s+(?:(?:an?|the)\s+)?$", before))
    led_in = bool(_LED_IN.search(before))
    return Mention(phrase.text, age, position, opening=opening, governs=governs, governed=governed, led_in=led_in)
