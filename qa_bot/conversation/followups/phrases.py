"""Noun phrases of a turn with their articles, and their grammatical number."""

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
    r"\s*(?:[?.!]|$|(?:the|an?|any|it|its|him|her|them|in|on|over|for|with|to|from|my|your"
    r"|me|you|at|about|per|again|after|before|during|until|by)\b)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?:^|[,;.?!]\s*|\b(?:and|but|because|if|when|that)\s+)(?:my|our|his|her|an?)\s+$", re.IGNORECASE
)
"""Precedes the subject of a statement."""
_ASKED_BY = re.compile(r"\b(?:who|what|which)\s+$", re.IGNORECASE)
_WHO_OR_WHAT = re.compile(r"\b(?:who|what)\s+$", re.IGNORECASE)
_OBJECT = re.compile(r"\s+(?:as|for|to|with|if|when|the|an?|my|our|me|us)\b", re.IGNORECASE)
"""Before and after a verb alone: "what counts as an excuse?", "who pays for it?"."""
_BEING = re.compile(r"\b(?:is|are|was|were|been)\s+(?:(?:the|an?|my|our)\s+)?$", re.IGNORECASE)
_AIDED = re.compile(r"\b(?:do|did|are|were|can|will|would|should|makes?)\b", re.IGNORECASE)
_PERSON = re.compile(rf"\b(?:my|our|an?|the)\s+(?:\w+\s+)?(?:{'|'.join(sorted(PEOPLE))})s?\b", re.IGNORECASE)
_DEGREE = re.compile(r"\bhow\s+$", re.IGNORECASE)
_AFTER_DEGREE = re.compile(
    r"\s+(?:is|are|was|were|do|does|did|can|could|will|would|should|must|has|have|to|an?)\b|\s*[?.!]*$", re.IGNORECASE
)
"""Follows an adjective: "how heavy is …", "how loud?"."""
_MODEL = re.compile(
    r"\s\d[\w.-]*(?=\s*(?:[?.!,;]|$|"
    r"\s(?:is|are|was|were|do|does|did|can|has|have|and|or|in|on|of|for|to|with|when|if|not|at|from|by|weigh|cost|need"
    r"|take|use|make|hold|work|run|come|support|fit|cover|last|include|require|measure)\b))"
)
"""The number after a name: "Brezza 500"."""
_COMPARED = re.compile(r" [a-z]+ier$")
_PLURALS = frozenset(["people", "children", "men", "women", "police", "teeth", "feet", "mice"])
_SINGULARS = frozenset(["diabetes", "series", "species", "news", "physics", "mathematics", "politics", "economics"])
_HISSING = ("s", "x", "sh", "ch")
_NAMED = re.compile(r"[A-Z][\w-]*(?: [A-Z][\w-]*)*")


class _Verb(NamedTuple):
    """`[start, end)` of a stretch that belongs to no phrase."""

    start: int
    end: int


class NounPhrase(NamedTuple):
    """A noun phrase with its article, and its span in the text."""

    text: str
    start: int
    end: int


def bare(phrase: str) -> str:
    """A phrase without its article."""
    return re.sub(r"^(?:the|an?|my|our) ", "", phrase)


def plural_of(noun: str) -> str:
    """A noun's plural; a plural is returned unchanged."""
    if is_plural(noun):
        return noun
    return (
        f"{noun[:-1]}ies" if re.search(r"[^aeiou]y$", noun) else f"{noun}es" if noun.endswith(_HISSING) else f"{noun}s"
    )


def is_plural(phrase: str) -> bool:
    """Whether a phrase is plural, guessed from its last word."""
    word = phrase.split()[-1].casefold()
    if word in _SINGULARS:
        return False
    return " and " in phrase or word in _PLURALS or (len(word) > 3 and word[-1] == "s" and word[-2] not in "sui")


@lru_cache(maxsize=2048)
def phrases(text: str) -> tuple[NounPhrase, ...]:
    """Noun phrases of a text in order; "lung cancer's symptoms" are two."""
    return tuple(_phrases(text))


def _phrases(text: str) -> Iterator[NounPhrase]:
    found_phrases = [phrase for phrase in _noun_phrases(text) if phrase.text not in NO_NOUNS]
    people = (NounPhrase(lowered(match[0]), match.start(), match.end()) for match in _PERSON.finditer(text))
    found_phrases += [
        one for one in people if not any(one.start < other.end and other.start < one.end for other in found_phrases)
    ]
    yield from sorted(found_phrases, key=lambda phrase: phrase.start)


def _noun_phrases(text: str) -> Iterator[NounPhrase]:
    after = 0
    for phrase in noun_phrases(text):
        pattern = r"\s*".join(re.escape(word) for word in phrase.split())
        if (match := re.compile(pattern).search(text, after)) is None:
            continue
        after = match.end()
        yield from (part for part in _split(text, match.start(), match.end()) if not _is_degree(text, part))


def _is_degree(text: str, phrase: NounPhrase) -> bool:
    """Whether a phrase is the adjective of "how heavy is it"."""
    is_word = " " not in phrase.text
    return is_word and bool(_DEGREE.search(text, 0, phrase.start)) and bool(_AFTER_DEGREE.match(text, phrase.end))


def _split(text: str, start: int, end: int) -> Iterator[NounPhrase]:
    """A phrase, or its owner and what is owned, or the parts around a verb in it. Names keep the mark of possession
    ("Bell's palsy")."""
    if verb := _verb(text, start, end):
        for part in ((start, verb.start), (verb.end, end)):
            if piece := text[slice(*part)].strip():
                first = text.index(piece, part[0])
                yield from _split(text, first, first + len(piece))
        return
    owner = _OWNED.search(text, start, end)
    if owner is not None and text[owner.end() : end].split()[-1].casefold() not in EPONYMOUS:
        yield _with_article(text, start, owner.start())
        start = owner.end()
    mark = _MARK.search(text, start, end)
    yield _with_article(text, start, mark.start() if mark else end)


def _verb(text: str, start: int, end: int) -> _Verb | None:
    """A verb that the rules took for a noun: "(my grandmother) breaks (bones)", "what caused (gout)". If it ends its
    clause, so does the phrase: "how do (blue whales) weigh"."""
    matches = [*re.finditer(r"\S+", text[start:end])]
    words = [match[0] for match in matches]
    for at, word in enumerate(words[1:], start=1):
        verb = _Verb(start + matches[at].start(), start + matches[at].end())
        if word.endswith("ed") and len(word) > 4 and _BEING.search(text, 0, start):
            return verb._replace(end=end)
        if not _plural_noun(words[at - 1]) and _plural_noun(word) and _SUBJECT.search(text, 0, start):
            return verb
        if _plural_noun(words[at - 1]) and word.islower():
            if word.endswith("ed"):
                return verb
            if _AIDED.search(text, 0, start) or _SUBJECT.search(text, 0, start):
                return verb._replace(end=end)
    if len(words) > 1 and words[0].islower() and words[0].endswith(("ed", "s")) and _ASKED_BY.search(text, 0, start):
        return _Verb(start, start + matches[0].end())
    if len(words) == 1 and _plural_noun(words[0]) and _WHO_OR_WHAT.search(text, 0, start) and _OBJECT.match(text, end):
        return _Verb(start, end)
    return None


def _plural_noun(word: str) -> bool:
    return is_plural(word) and word.isalpha() and word.islower() and word not in NOUNS_IN_S


def _with_article(text: str, start: int, end: int) -> NounPhrase:
    """A phrase with what belongs to it (an article, a capitalised word or a number before it, the number of a model
    after it), without a verb at its end."""
    end -= len(text[start:end]) - len(_without_verb(text, start, end))
    before = _BELONGS.search(text, 0, start)
    start = before.start() if before else start
    if text[start:end].split()[-1:] and text[start:end].split()[-1][0].isupper() and (model := _MODEL.match(text, end)):
        end = model.end()
    article = _ARTICLE.search(text, max(0, start - 16), start)
    start = article.start() if article else start
    words = text[start:end]
    return NounPhrase(lowered(words) if article else words, start, end)


def _without_verb(text: str, start: int, end: int) -> str:
    """ "Did Ann Lee cook rice?": if no verb follows the subject, the rules took it for a noun."""
    phrase = text[start:end]
    if _HELPED.search(text, 0, start) and _NO_VERB.match(text, end) and " " in phrase:
        named = _NAMED.match(phrase)
        phrase = named[0] if named and named.end() < len(phrase) else phrase.rpartition(" ")[0]
    return _COMPARED.sub("", phrase)


def lowered(text: str) -> str:
    """The text with a lower-case first letter."""
    return text[:1].lower() + text[1:]
