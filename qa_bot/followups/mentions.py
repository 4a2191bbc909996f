"""What a conversation has spoken of: its noun phrases, where they stood, and what kind they look like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from qa_core.linguistics import noun_phrases
from qa_core.text import terms

KEY_TERMS = 4
"""Noun phrases taken from an answer: the first ones."""
_ANSWER = 600
"""Characters of an answer that are looked at."""
_REMEMBERED = 12
"""Exchanges that are looked at, latest first, and the opening one."""
_OWNED = re.compile(r"(?:['’]s|(?<=s)['’])\s+")
_MARK = re.compile(r"['’]s?$")
_BELONGS = re.compile(r"(?<=[a-z,] )(?:[A-Z][\w-]+|\d[\w/]*) $")
_ARTICLE = re.compile(r"\b(?:the|an?)\s+$", re.IGNORECASE)
_HELPED = re.compile(
    r"\b(?:do|does|did|can|could|will|would|should|may|might)\s+(?:(?:the|an?|these|those|all)\s+)*$", re.IGNORECASE
)
_NO_VERB = re.compile(
    r"\s*(?:[?.!]|$|(?:the|an?|any|it|its|him|her|them|in|on|for|with|to|from|my|your|me|you|at|about)\b)",
    re.IGNORECASE,
)
_NAMED = re.compile(r"[A-Z][\w-]*(?: [A-Z][\w-]*)*")
_COMPARED = re.compile(r" [a-z]+ier$")
_PLURALS = frozenset(["people", "children", "men", "women", "police", "teeth", "feet", "mice"])
_SINGULARS = frozenset(["diabetes", "series", "species", "news", "physics", "mathematics", "politics", "economics"])
_HISSING = ("s", "x", "sh", "ch")
_NAMES = re.compile(r"\b([A-Z][\w'’-]*) and ((?:[A-Z][\w'’-]*)(?: [A-Z][\w'’-]*)*)")


class Exchange(NamedTuple):
    """A question as it was understood, and what was answered (may be empty)."""

    question: str
    answer: str = ""


class Found(NamedTuple):
    """A noun phrase of one text, with the article "the" that stood before it, and where it stands."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing spoken of.

    `age` counts questions back from now (1 is the latest), `times` those that name it; `governs` says that "of" or a
    possession follows it ("symptoms of …"), `governed` that it is what such a phrase belongs to.
    """

    text: str
    age: int
    place: int
    times: int = 1
    opening: bool = False
    answered: bool = False
    governs: bool = False
    governed: bool = False

    @property
    def plural(self) -> bool:
        return is_plural(self.text)

    @property
    def name(self) -> bool:
        """Whether it is written like a proper name."""
        return all(word[0].isupper() or word[0].isdigit() for word in bare(self.text).split())

    @property
    def many(self) -> str:
        """For "they": "a virtual machine" is spoken of as "virtual machines"."""
        if self.plural or not self.text.startswith(("a ", "an ")):
            return self.text
        one = bare(self.text)
        return (
            f"{one[:-1]}ies" if re.search(r"[^aeiou]y$", one) else f"{one}es" if one.endswith(_HISSING) else f"{one}s"
        )


def bare(phrase: str) -> str:
    """A phrase without its article."""
    return re.sub(r"^(?:the|an?) ", "", phrase)


def is_plural(phrase: str) -> bool:
    """A guess from its last word."""
    word = phrase.split()[-1].casefold()
    if word in _SINGULARS:
        return False
    return " and " in phrase or word in _PLURALS or (len(word) > 3 and word[-1] == "s" and word[-2] not in "sui")


@lru_cache(maxsize=2048)
def phrases(text: str) -> tuple[Found, ...]:
    """Noun phrases of a text in order; "lung cancer's symptoms" are two."""
    return tuple(_phrases(text))


def _phrases(text: str) -> Iterator[Found]:
    after = 0
    for phrase in noun_phrases(text):
        pattern = r"\s*".join(re.escape(word) for word in phrase.split())
        if (found := re.compile(pattern).search(text, after)) is None:
            continue
        after = found.end()
        yield from _parted(text, found.start(), found.end())


def _parted(text: str, start: int, end: int) -> Iterator[Found]:
    """A phrase, or its owner and what is owned; the mark of possession belongs to neither."""
    owner = _OWNED.search(text, start, end)
    if owner is not None:
        yield _with_article(text, start, owner.start())
        start = owner.end()
    mark = _MARK.search(text, start, end)
    yield _with_article(text, start, mark.start() if mark else end)


def _with_article(text: str, start: int, end: int) -> Found:
    """A phrase with what belongs before it (an article, a capitalised word, a number), without a verb at its end."""
    end -= len(text[start:end]) - len(_without_verb(text, start, end))
    before = _BELONGS.search(text, 0, start)
    start = before.start() if before else start
    article = _ARTICLE.search(text, max(0, start - 5), start)
    start = article.start() if article else start
    said = text[start:end]
    return Found(_lowered(said) if article else said, start, end)


def _without_verb(text: str, start: int, end: int) -> str:
    """ "Did Ann Lee cook rice?": where no verb follows the subject, the rules took it for a noun."""
    phrase = text[start:end]
    if _HELPED.search(text, 0, start) and _NO_VERB.match(text, end) and " " in phrase:
        named = _NAMED.match(phrase)
        phrase = named[0] if named and named.end() < len(phrase) else phrase.rpartition(" ")[0]
    return _COMPARED.sub("", phrase)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


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
        known, times=times, opening=known.opening or older.opening, governed=known.governed or older.governed
    )


def _of_exchange(exchange: Exchange, age: int, *, opening: bool) -> Iterator[Mention]:
    question = exchange.question
    places = phrases(question)
    for place, each in enumerate(places):
        yield _mention(question, each, age, place, opening=opening)
    for names in _NAMES.finditer(question):
        yield Mention(names[0], age, len(places), opening=opening)
    for place, phrase in enumerate(noun_phrases(exchange.answer[:_ANSWER])[:KEY_TERMS]):
        yield Mention(phrase, age, place, answered=True)


def _mention(question: str, found: Found, age: int, place: int, *, opening: bool) -> Mention:
    before, after = question[: found.start], question[found.end :]
    governs = bool(re.match(r"\s+of\b", after) or re.search(r"['’]s?\s+$", before))
    governed = bool(re.match(r"['’]", after) or re.search(r"\bof\s+$", before))
    return Mention(found.text, age, place, opening=opening, governs=governs, governed=governed)
