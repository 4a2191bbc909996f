"""Noun phrases of a turn with what belongs to them, and their number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from qa_bot.conversation.followups.lexicon import EPONYMOUS, NO_NOUNS, NOUNS_IN_S, PEOPLE
from qa_core.text.noun_phrases import noun_phrases

_OWNED = re.compile(r"(?:['’]s|(?<=s)['’])\s+")
_MARK = re.compile(r"['’]s?$")
_BELONGS = re.compile(r"(?<=[a-z,] )(?:[A-Z][\w-]+|\d[\w/]*) $")
_ARTICLE = re.compile(
    r"\b(?:the|an?|my|our)\s+(?:(?:good|bad|new|old|big|small|little|healthy|normal|common)\s+)?$", re.IGNORECASE
)
_HELPED = re.compile(
    r"\b(?:do|does|did|can|could|will|would|should|may|might)\s+(?:(?:the|an?|these|those|all|my|our|your)\s+)*$",
    re.IGNORECASE,
)
_NO_VERB = re.compile(
    r"\s*(?:[?.!]|$|(?:the|an?|any|it|its|him|her|them|in|on|over|for|with|to|from|my|your|me|you|at|about)\b)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?:^|[,;.?!]\s*|\b(?:and|but|because|if|when|that)\s+)(?:my|our|his|her|an?)\s+$", re.IGNORECASE
)
"""What stands before the subject of a statement."""
_ASKED_BY = re.compile(r"\b(?:who|what|which)\s+$", re.IGNORECASE)
_BEING = re.compile(r"\b(?:is|are|was|were|been)\s+(?:(?:the|an?|my|our)\s+)?$", re.IGNORECASE)
_AIDED = re.compile(r"\b(?:do|did|are|were|can|will|would|should|makes?)\b", re.IGNORECASE)
_PERSON = re.compile(rf"\b(?:my|our|an?|the)\s+(?:\w+\s+)?(?:{'|'.join(sorted(PEOPLE))})s?\b", re.IGNORECASE)
_COMPARED = re.compile(r" [a-z]+ier$")
_PLURALS = frozenset(["people", "children", "men", "women", "police", "teeth", "feet", "mice"])
_SINGULARS = frozenset(["diabetes", "series", "species", "news", "physics", "mathematics", "politics", "economics"])
_HISSING = ("s", "x", "sh", "ch")
_NAMED = re.compile(r"[A-Z][\w-]*(?: [A-Z][\w-]*)*")


class _Verb(NamedTuple):
    """`[start, end)` of what belongs to no phrase."""

    start: int
    end: int


class Found(NamedTuple):
    """A noun phrase of one text, with the article "the" that stood before it, and where it stands."""

    text: str
    start: int
    end: int


def bare(phrase: str) -> str:
    """A phrase without its article."""
    return re.sub(r"^(?:the|an?|my|our) ", "", phrase)


def plural_of(noun: str) -> str:
    """A noun's plural, itself where it is one."""
    if is_plural(noun):
        return noun
    return (
        f"{noun[:-1]}ies" if re.search(r"[^aeiou]y$", noun) else f"{noun}es" if noun.endswith(_HISSING) else f"{noun}s"
    )


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
    found = [each for each in _runs(text) if each.text not in NO_NOUNS]
    people = (Found(lowered(each[0]), each.start(), each.end()) for each in _PERSON.finditer(text))
    found += [one for one in people if not any(one.start < other.end and other.start < one.end for other in found)]
    yield from sorted(found, key=lambda each: each.start)


def _runs(text: str) -> Iterator[Found]:
    after = 0
    for phrase in noun_phrases(text):
        pattern = r"\s*".join(re.escape(word) for word in phrase.split())
        if (found := re.compile(pattern).search(text, after)) is None:
            continue
        after = found.end()
        yield from _parted(text, found.start(), found.end())


def _parted(text: str, start: int, end: int) -> Iterator[Found]:
    """A phrase, or its owner and what is owned, or what stands round a verb in it; the mark of possession belongs to
    neither of two, but to a name ("Bell's palsy")."""
    if verb := _verb(text, start, end):
        for part in ((start, verb.start), (verb.end, end)):
            if said := text[slice(*part)].strip():
                first = text.index(said, part[0])
                yield from _parted(text, first, first + len(said))
        return
    owner = _OWNED.search(text, start, end)
    if owner is not None and text[owner.end() : end].split()[-1].casefold() not in EPONYMOUS:
        yield _with_article(text, start, owner.start())
        start = owner.end()
    mark = _MARK.search(text, start, end)
    yield _with_article(text, start, mark.start() if mark else end)


def _verb(text: str, start: int, end: int) -> _Verb | None:
    """Where the rules took a verb for a noun: "(my grandmother) breaks (bones)", "what caused (gout)"; what follows
    one that ends its clause is no phrase either: "how do (blue whales) weigh"."""
    found = [*re.finditer(r"\S+", text[start:end])]
    said = [each[0] for each in found]
    for at, word in enumerate(said[1:], start=1):
        place = _Verb(start + found[at].start(), start + found[at].end())
        if word.endswith("ed") and len(word) > 4 and _BEING.search(text, 0, start):
            return place._replace(end=end)
        if not _plural_noun(said[at - 1]) and _plural_noun(word) and _SUBJECT.search(text, 0, start):
            return place
        if _plural_noun(said[at - 1]) and word.islower():
            if word.endswith("ed"):
                return place
            if _AIDED.search(text, 0, start) or _SUBJECT.search(text, 0, start):
                return place._replace(end=end)
    if len(said) > 1 and said[0].islower() and said[0].endswith(("ed", "s")) and _ASKED_BY.search(text, 0, start):
        return _Verb(start, start + found[0].end())
    return None


def _plural_noun(word: str) -> bool:
    return is_plural(word) and word.isalpha() and word.islower() and word not in NOUNS_IN_S


def _with_article(text: str, start: int, end: int) -> Found:
    """A phrase with what belongs before it (an article, a capitalised word, a number), without a verb at its end."""
    end -= len(text[start:end]) - len(_without_verb(text, start, end))
    before = _BELONGS.search(text, 0, start)
    start = before.start() if before else start
    article = _ARTICLE.search(text, max(0, start - 16), start)
    start = article.start() if article else start
    said = text[start:end]
    return Found(lowered(said) if article else said, start, end)


def _without_verb(text: str, start: int, end: int) -> str:
    """ "Did Ann Lee cook rice?": where no verb follows the subject, the rules took it for a noun."""
    phrase = text[start:end]
    if _HELPED.search(text, 0, start) and _NO_VERB.match(text, end) and " " in phrase:
        named = _NAMED.match(phrase)
        phrase = named[0] if named and named.end() < len(phrase) else phrase.rpartition(" ")[0]
    return _COMPARED.sub("", phrase)


def lowered(text: str) -> str:
    """With a small first letter."""
    return text[:1].lower() + text[1:]
