"""Checks that a styled sentence may introduce a sourced answer: it must not contradict it, and nothing may get lost.

The checks compare the terms that make an answer right or wrong: numbers, names, and negation. A sentence may leave
them out. But if it adds names or numbers, a "no" to an answer without one, or a "yes" to an answer with one, readers
would believe it because of the answer's source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from qa_core.text.analysis import STOP_TERMS, fold
from qa_core.text.sentences import sentences

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NEGATIONS = frozenset(
    "no not never none nobody nothing nowhere neither nor cannot without hardly barely".split()  # noqa: SIM905
)
_YES = frozenset("yes yeah yep sure certainly absolutely indeed definitely".split())  # noqa: SIM905
_SPOKEN = frozenset(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "  # noqa: SIM905
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen "
    "half twice".split()
)
_NO_NAMES = STOP_TERMS | frozenset(
    "i i'm i'll i've i'd he she we you my your his her our when where what who whom whose which how why now so yes "  # noqa: SIM905
    "well oh ah from after before under over about some many most all both each every here do does did has have "
    "had".split()
)


@dataclass(frozen=True, slots=True)
class KeyTerms:
    """Terms of a text that must be neither lost nor changed, folded in case and accents."""

    numbers: frozenset[str]
    names: frozenset[str]
    negated: bool

    @classmethod
    @lru_cache(maxsize=1_024)  # one answer is compared with many sentences
    def of(cls, text: str) -> KeyTerms:
        numbers = frozenset(match[0].replace(",", "") for match in _NUMBER.finditer(text))
        spoken = frozenset(word for word in _words(text) if word in _SPOKEN)
        return cls(numbers | spoken, frozenset(_names(text)), any(map(_negates, _words(text))))


def contradiction(styled: str, question: str, answer: str) -> str:
    """The reason why the styled sentence may not introduce the answer; "" if it may."""
    added, known = KeyTerms.of(styled), KeyTerms.of(f"{question} {answer}")
    known_words = frozenset(_words(f"{question} {answer}"))
    if numbers := added.numbers - known.numbers:
        return f"a number that the answer does not have: {min(numbers)}"
    if names := added.names - known_words:
        return f"a name that the answer does not have: {min(names)}"
    answered = KeyTerms.of(answer)
    if added.negated and not answered.negated:
        return "a negation that the answer does not have"
    if answered.negated and next(iter(_words(styled)), "") in _YES:
        return "a yes where the answer has a negation"
    return ""


def lost(text: str, answer: str) -> list[str]:
    """Numbers, names and negation of the answer that a replacing text lacks, in alphabetical order."""
    present, required = KeyTerms.of(text), KeyTerms.of(answer)
    missing = [*(required.numbers - present.numbers), *(required.names - present.names)]
    return sorted(missing) + ["not"] * (required.negated and not present.negated)


def _words(text: str) -> list[str]:
    return [fold(word).replace("’", "'") for word in _WORD.findall(text)]


def _negates(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")


def _names(text: str) -> Iterator[str]:
    """Capitalised words; the first of a sentence counts only if the next has a capital too, or it is all capitals."""
    for start, end in sentences(text):
        words = _WORD.findall(text[start:end])
        for index, word in enumerate(words):
            counts = index > 0 or (len(words) > 1 and words[1][0].isupper()) or (len(word) > 1 and word.isupper())
            if word[0].isupper() and counts and fold(word).replace("’", "'") not in _NO_NAMES:
                yield fold(word)
