"""The words of a question as they were written, with the index terms that they stand for; which of them are names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from qa_core.text.analysis import STOP_TERMS, terms

LONGEST_NAME = 3
"""Words with a capital after the first; where all of more have one, it is a headline and not a name."""

_TOKEN = re.compile(r"\w+(?:[.'’-]\w+)*")
_SENTENCE_ENDS = frozenset(".?!:")
_OPENING = " \t\n\"'“‘("


class QuestionWord(NamedTuple):
    """A word, or a name of several."""

    text: str
    terms: tuple[str, ...]
    place: int  # of its first word
    name: bool

    def has(self, wanted: Collection[str]) -> bool:
        """Whether it stands for one of these terms."""
        return any(term in wanted for term in self.terms)


def question_words(text: str) -> Iterator[QuestionWord]:
    """Words in order. A capital tells a name where it does not begin a sentence, and where not every word has one."""
    for place, (word, name) in enumerate(_told(text)):
        yield QuestionWord(word, tuple(terms(word)), place, name)


def names(text: str) -> frozenset[str]:
    """The terms of all names."""
    return frozenset(term for word, name in _told(text) if name for term in terms(word))


def written(text: str, wanted: Collection[str]) -> list[QuestionWord]:
    """Words of a text that stand for these terms, in the terms' order and once each; neighbouring names as one."""
    place = {term: place for place, term in enumerate(wanted)}
    found = [word for word in _joined(question_words(text), place) if word.has(place)]
    found.sort(key=lambda word: min(place.get(term, len(place)) for term in word.terms))
    first: dict[str, QuestionWord] = {}
    for word in found:
        first.setdefault(word.text.casefold(), word)
    return [*first.values()]


def _told(text: str) -> Iterator[tuple[str, bool]]:
    """Words, and whether each is a name."""
    matches = [*_TOKEN.finditer(text)]
    others = [match[0] for match in matches[1:] if match[0].lower() not in STOP_TERMS]
    titled = text.isupper() or (len(others) > LONGEST_NAME and all(each[0].isupper() for each in others))
    end = 0
    for match in matches:
        begins = end == 0 or text[end : match.start()].rstrip(_OPENING)[-1:] in _SENTENCE_ENDS
        yield match[0], match[0][0].isupper() and not (begins or titled)
        end = match.end()


def _joined(found: Iterator[QuestionWord], wanted: Collection[str]) -> Iterator[QuestionWord]:
    """Names that stand side by side and are all wanted become one."""
    run: list[QuestionWord] = []
    for word in found:
        named = word.name and word.has(wanted)
        if run and not (named and word.place == run[-1].place + 1):
            yield _one(run)
            run = []
        if named:
            run.append(word)
        else:
            yield word
    if run:
        yield _one(run)


def _one(run: list[QuestionWord]) -> QuestionWord:
    joined = tuple(term for word in run for term in word.terms)
    return QuestionWord(" ".join(word.text for word in run), joined, run[0].place, name=True)
