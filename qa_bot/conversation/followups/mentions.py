"""What a conversation has spoken of: its noun phrases, where they stood, and what kind they look like."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from qa_bot.conversation.followups.lexicon import MEN, PEOPLE, PERSONS, PETS, WOMEN, is_person
from qa_bot.conversation.followups.phrases import Found, bare, is_plural, phrases, plural_of
from qa_core.text.analysis import terms
from qa_core.text.noun_phrases import noun_phrases
from qa_core.text.stop_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from qa_bot.answering.graph.entities import Entity

KEY_TERMS = 4
"""Names and noun phrases taken from an answer: the first ones."""
_ANSWER = 600
"""Characters of an answer that are looked at."""
_REMEMBERED = 12
"""Exchanges that are looked at, latest first, and the opening one."""
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
    """A question as it was understood, what was answered, the title of its first source, and names in both.

    All but the question may be empty.
    """

    question: str
    answer: str = ""
    title: str = ""
    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing spoken of.

    `age` counts questions back from now (1 is the latest), `times` those that name it; `governs` says that "of" or a
    possession follows it ("symptoms of …"), `governed` that it is what such a phrase belongs to; `led_in` that a
    preposition of place or time stands before it, `titled` that it stands in the title of what answered.
    `classes` are words for its kind, where a knowledge graph knows it.
    """

    text: str
    age: int
    place: int
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
        """Whether "he" (gender "man") or "she" ("woman") may be said of it."""
        if self.classes:
            return not PERSONS.isdisjoint(self.classes)
        word = self.text.split()[-1].casefold()
        if word in PEOPLE or word in PETS:
            return word not in (WOMEN if gender == "man" else MEN)
        return self.name and not self.text.startswith("the ")

    @property
    def person(self) -> bool:
        """Whether "it" cannot be said of it."""
        return not PERSONS.isdisjoint(self.classes) or is_person(self.text)

    @property
    def name(self) -> bool:
        """Whether it is written like a proper name."""
        said = [word for word in bare(self.text).split() if word not in _PARTICLES]
        return bool(said) and all(word[0].isupper() or word[0].isdigit() for word in said)

    @property
    def many(self) -> str:
        """For "they": "a virtual machine" is spoken of as "virtual machines"."""
        if self.plural or not self.text.startswith(("a ", "an ")):
            return self.text
        return plural_of(bare(self.text))


def mentions(history: Sequence[Exchange]) -> list[Mention]:
    """What the conversation spoke of, each once in its latest place, latest first."""
    kept = list(enumerate(history))
    kept = kept if len(kept) <= _REMEMBERED else [kept[0], *kept[-_REMEMBERED:]]
    found: dict[tuple[str, ...], Mention] = {}
    for at, exchange in reversed(kept):
        for mention in _of_exchange(exchange, len(history) - at, opening=at == 0):
            key = tuple(terms(mention.text)) or (mention.text.casefold(),)
            if longer := next(
                (each for each in found if len(each) == len(key) + 1 > 2 and each[: len(key)] == key), None
            ):
                found[key] = replace(found.pop(longer), text=mention.text)  # "the film win" was "the film"
            known = found.get(key)
            found[key] = _again(known, mention) if known else mention
    return list(found.values())


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
    for mention in _said(exchange, age, opening=opening):
        entity = known.pop(tuple(terms(mention.text)), None)
        yield replace(mention, classes=entity.classes) if entity else mention
    for place, entity in enumerate(known.values()):
        asked = entity.text in exchange.question
        yield Mention(entity.text, age, place, opening=opening and asked, answered=not asked, classes=entity.classes)


def _said(exchange: Exchange, age: int, *, opening: bool) -> Iterator[Mention]:
    question, answer = exchange.question, exchange.answer[:_ANSWER]
    title = Counter(terms(exchange.title[:_ANSWER]))
    places = phrases(question)
    for place, each in enumerate(places):
        mention = _mention(question, each, age, place, opening=opening)
        yield replace(mention, titled=_times(each.text, title) > 0)
    for names in _NAMES.finditer(question):
        yield Mention(names[0], age, len(places), opening=opening)
    for place, phrase in enumerate(_key_terms(answer)):
        yield Mention(phrase, age, place, answered=True, titled=_times(phrase, title) > 0)


@lru_cache(maxsize=256)
def _key_terms(answer: str) -> tuple[str, ...]:
    """Names of several words, and noun phrases that an answer says again."""
    names = (each[0] for each in _FULL_NAME.finditer(answer))
    named = [name for name in names if FUNCTION_WORDS.isdisjoint(name.removeprefix("The ").lower().split())]
    said = Counter(terms(answer))
    repeated = (phrase for phrase in noun_phrases(answer) if _times(phrase, said) > 1)
    return tuple(dict.fromkeys([*named[:KEY_TERMS], *repeated]))[:KEY_TERMS]


def _times(phrase: str, said: Counter[str]) -> int:
    """How often an answer says a phrase, at most."""
    return min((said[term] for term in terms(phrase)), default=0)


def _mention(question: str, found: Found, age: int, place: int, *, opening: bool) -> Mention:
    before, after = question[: found.start], question[found.end :]
    governs = bool(re.match(r"\s+of\b", after) or re.search(r"['’]s?\s+$", before))
    governed = bool(re.match(r"['’]", after) or re.search(r"\bof\s+$", before))
    led_in = bool(_LED_IN.search(before))
    return Mention(found.text, age, place, opening=opening, governs=governs, governed=governed, led_in=led_in)
