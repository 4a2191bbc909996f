"""Text to the words of a generator, and words back to readable text.

Words are lower-cased; contractions are split as in "do n't" and "dog 's", so that a small vocabulary covers more;
every punctuation mark is a word. The spelling of names is learnt from texts and saved with the vocabulary.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from qa_core.text.analysis import normalise

_LIKE = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "…": "...", "—": " – ", "‑": "-"})
_LOOSE = re.compile(r"(?<=\w) ?' ?(?=(?:s|m|d|re|ve|ll|t)\b)", re.IGNORECASE)  # "she ' s", as some data has it
_DASH = re.compile(r"-{2,}|(?<!\w)-|-(?!\w)")  # what joins two words is a hyphen and stays
_AGAIN = re.compile(r"([!?,])(?:\s?\1)+")  # "!!!" means no more than "!"
_WORD = re.compile(
    r"\w+?(?=n't\b)|n't\b|'(?:s|m|d|re|ve|ll)\b|\d+(?:[.,:]\d+)+|\w+|\.{2,}|\S",
    re.IGNORECASE,
)
_ENDS = frozenset({".", "!", "?", "..."})
_TO_THE_LEFT = _ENDS | {",", ";", ":", ")", "]", "}", "%", "'", "n't", "'s", "'m", "'d", "'re", "'ve", "'ll"}
_TO_THE_RIGHT = frozenset({"(", "[", "{", "$", "#", "@", "£", "€"})
_BETWEEN = frozenset({"-", "/", "_"})
_QUOTE = '"'
_NOT = "n't"
_BEFORE_NOT = frozenset(
    "do does did is are was were have has had would could should might must need ca wo ai can will sha".split()  # noqa: SIM905
)
_BENT = {"can": "ca", "will": "wo", "shall": "sha"}


@dataclass(frozen=True, slots=True)
class Casing:
    """Words that have capitals within a sentence: lower-cased word to its form."""

    forms: Mapping[str, str]

    @classmethod
    def of(cls, texts: Iterable[str], *, minimum: int = 3) -> Self:
        """The commonest forms within sentences, of words seen there `minimum` times; texts in capitals are ignored."""
        return cls.of_cut((cut(text) for text in texts), minimum=minimum)

    @classmethod
    def of_cut(cls, texts: Iterable[Sequence[str]], *, minimum: int = 3) -> Self:
        """As `of`, for texts that `cut` has split."""
        seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for forms in texts:
            letters = "".join(forms)
            if not (letters.isupper() or letters.islower()):
                for form in _within(forms):
                    seen[form.lower()][form] += 1
        commonest = {
            word: max(forms, key=lambda form: (forms[form], form == word, form))
            for word, forms in seen.items()
            if forms.total() >= minimum
        }
        return cls({word: form for word, form in sorted(commonest.items()) if form != word})

    @classmethod
    def parsed(cls, lines: str) -> Self:
        """The inverse of `lines`."""
        return cls({form.lower(): form for form in lines.split("\n") if form})

    def lines(self) -> str:
        """One form a line."""
        return "\n".join(self.forms.values())

    def written(self, word: str) -> str:
        return "I" if word == "i" else self.forms.get(word, word)


def tokens(text: str) -> list[str]:
    """Lower-cased words and marks: "I don’t -- really!!" is `i do n't – really !`."""
    return [word.lower() for word in cut(text)]


def cut(text: str) -> list[str]:
    """Words and marks with their original capitals."""
    tidy = _AGAIN.sub(r"\1", _LOOSE.sub("'", _DASH.sub("–", normalise(text).translate(_LIKE))))
    return ["..." if word.startswith("..") else word for word in _WORD.findall(tidy)]


def well_formed(words: Sequence[str]) -> bool:
    """Whether every "n't" follows a word that takes it."""
    return all(before in _BEFORE_NOT for before, word in zip(("", *words), words, strict=False) if word == _NOT)


def readable(words: Sequence[str], casing: Casing) -> str:
    """The text of words, with usual spacing and capitals at the starts of sentences and in names."""
    made, glued, begins, open_quote = [], True, True, False
    for word, following in zip(words, [*words, ""][1:], strict=True):
        form = casing.written(_BENT.get(word, word) if following == _NOT else word)
        closes = word == _QUOTE and open_quote
        spaced = not (glued or word in _TO_THE_LEFT or word in _BETWEEN or closes)
        letters = word[0].isalnum()
        made.append((" " if spaced else "") + (_capital(form) if begins and letters else form))
        open_quote ^= word == _QUOTE
        glued = word in _TO_THE_RIGHT or word in _BETWEEN or (word == _QUOTE and open_quote)
        begins = word in _ENDS or (begins and not letters)
    return "".join(made)


def _within(forms: Sequence[str]) -> list[str]:
    """Words that do not start a sentence."""
    starts = [".", *forms[:-1]]
    return [
        form for form, before in zip(forms, starts, strict=True) if form[0].isalpha() and before not in _ENDS | {_QUOTE}
    ]


def _capital(form: str) -> str:
    """With a capital first letter, unless it has none (ß)."""
    capital = form[0].upper()
    return capital + form[1:] if capital.lower() == form[0] else form
