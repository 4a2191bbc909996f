"""Synonyms of German words in the forms that people type: "kriege" is "erhalten", "Vierbeiner" is "Hund".

They do not expand searches; they say that a passage covers a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from qa_core.text.analysis import terms
from qa_core.text.synonyms import german_synonyms
from retrievers.german_verbs import infinitives

_ENDINGS = ("en", "er", "es", "em", "n", "e", "s", "t", "st")
_OF_VERBS = ("e", "t", "st")
_SHORTEST = 4
"""Letters of a word without its ending."""


@lru_cache(maxsize=4_096)
def synonym_terms(word: str) -> frozenset[str]:
    """The index terms of the synonyms of a German word, by its likeliest base form; empty if none is known."""
    for form in dict.fromkeys(_base_forms(word)):
        if others := german_synonyms(form):
            synonyms = {term for other in others for term in terms(other, "de")[:1]}
            return frozenset(synonyms.difference(terms(word, "de")))
    return frozenset()


def _base_forms(word: str) -> Iterator[str]:
    """Guesses, likeliest first; words in small letters may be nouns, too."""
    yield word
    yield from infinitives(word)
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _SHORTEST:
            yield stem
            if ending in _OF_VERBS:
                yield f"{stem}en"
    yield from (f"{word}n", f"{word}en")
    yield word.capitalize()
