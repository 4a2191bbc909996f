"""Words of a question that name where a document is kept: "Railclub" for `railclub/statutes.tex`.

In a folder for each club, product or client, passages seldom repeat its name, and titles are "Statutes" everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache

from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.types import Passage
from retrievers.formulate import Formulation

_WORD = re.compile(r"\w+(?:[.'’-]\w+)*")
_MARKS = re.compile(r"[\W_]+")
_SUFFIX = re.compile(r"\.\w{1,5}$")
_CAMEL = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})
SHORTEST = 3
"""Characters of a name that is compared without its marks."""


def words_in_path(text: str, path: str, language: str) -> list[str]:
    """The words of a text that the folders and the file of a path have; none for an address.

    A name with marks is one word, with other marks or without: "rail.one" and "railone", "Moov-Duo" and "moov_duo".
    Names of files seldom have umlauts: "Bösingen" is in `buergerwerk-boesingen`.
    """
    if not path or "://" in path:
        return []
    index_terms, joined = _names(path, language)
    return [
        word
        for word in _WORD.findall(text)
        if any(_bare(form) in joined or _is_in(terms(form, language), index_terms) for form in _spellings(word))
    ]


def parts_in_path(text: str, path: str, language: str) -> frozenset[str]:
    """The same words without the marks between their parts, casefolded: "rail" and "one"."""
    return frozenset(_MARKS.sub(" ", " ".join(words_in_path(text, path, language)).casefold()).split())


def _spellings(word: str) -> tuple[str, ...]:
    """A word, and with letters for its umlauts if it has some."""
    spelt = word.translate(_UMLAUTS)
    return (word,) if spelt == word else (word, spelt)


def _is_in(of_word: Collection[str], index_terms: frozenset[str]) -> bool:
    return bool(of_word) and index_terms.issuperset(of_word)


def _bare(word: str) -> str:
    """A word without its marks; "" for one that is too short to be a name."""
    bare = _MARKS.sub("", word.casefold())
    return bare if len(bare) >= SHORTEST else ""


@lru_cache(maxsize=4096)
def _names(path: str, language: str) -> tuple[frozenset[str], frozenset[str]]:
    """The index terms of a path, and its parts without marks."""
    parts = [_SUFFIX.sub("", part) for part in re.split(r"[/!]", path)]
    plain = " ".join(_MARKS.sub(" ", _CAMEL.sub(" ", part)) for part in parts)
    return frozenset(terms(plain, language)), frozenset(filter(None, map(_bare, parts)))


def share_in_path(formulation: Formulation, passage: Passage, rarity_of: Callable[[str], float]) -> float:
    """The rarity of the question's words that only the path of a passage has, as a share of all, in [0, 1]."""
    source = passage.source
    language = analysis_language(source.details.language)
    named = words_in_path(formulation.text, source.details.path, language)
    if not named:
        return 0.0
    rarity = {term: rarity_of(term) for term in formulation.content_in(language)}
    of_path = rarity.keys() & {*terms(" ".join(named), language)}
    shown = " ".join([source.title, *passage.place.heading, passage.text])
    only = of_path.difference(terms(shown, language)) if of_path else ()
    return sum(rarity[term] for term in only) / sum(rarity.values()) if only else 0.0
