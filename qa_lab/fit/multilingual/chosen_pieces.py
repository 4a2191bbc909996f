"""Chooses the pieces of a vocabulary that some languages need: most of 250,000 are of other scripts, or rare."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain

from tokenizers import Tokenizer

SPACE = "▁"
"""Begins a piece that begins a word."""
COVERED: Mapping[str, float] = {
    "de": 0.997,
    "en": 0.97,
    **dict.fromkeys(("fr", "es"), 0.96),
    **dict.fromkeys(("it", "nl", "pt"), 0.94),
    **dict.fromkeys(("da", "pl", "sv"), 0.85),
    **dict.fromkeys(("ca", "cs", "nb", "ro"), 0.75),
    **dict.fromkeys(("fi", "hu", "tr"), 0.6),
}
"""Share of the pieces of a language's words, by their frequency, that are chosen."""
CAPITAL = {"de": 0.5}
OTHER_CAPITAL = 0.15
"""Frequency of a word that begins with a capital, in words without."""
_LONGEST_SIGNS = 3  # characters of numbers and signs that are chosen
_LATIN, _GREEK, _CYRILLIC_END, _EXTENDED, _SIGNS_END = 0x250, 0x370, 0x530, 0x1E00, 0x2C00


def chosen_pieces(
    tokenizer: Tokenizer, frequencies: Mapping[str, Mapping[str, float]], texts: Iterable[str], *, specials: int
) -> list[int]:
    """Ids in ascending order: special pieces, those of frequent words, letters and signs, and those of texts.

    Args:
        frequencies: share of each word, by language.
        texts: whose pieces are chosen if they occur twice.
        specials: number of special pieces, the first ones.
    """
    chosen = set(range(specials))
    for language, words in frequencies.items():
        chosen |= _most_frequent(
            _frequencies(tokenizer, words, CAPITAL.get(language, OTHER_CAPITAL)), COVERED[language]
        )
    chosen |= {place for piece, place in tokenizer.get_vocab().items() if _is_basic(piece)}
    encodings = tokenizer.encode_batch([*texts], add_special_tokens=False)
    counts = Counter(chain.from_iterable(encoding.ids for encoding in encodings))
    return sorted(chosen | {piece for piece, count in counts.items() if count > 1})


def _frequencies(tokenizer: Tokenizer, words: Mapping[str, float], capital: float) -> dict[int, float]:
    """Frequencies of the pieces of words, in small letters and with a capital."""
    frequencies: defaultdict[int, float] = defaultdict(float)
    for spellings, share in ([*words], 1.0), ([word.capitalize() for word in words], capital):
        encodings = tokenizer.encode_batch(spellings, add_special_tokens=False)
        for encoding, frequency in zip(encodings, words.values(), strict=True):
            for piece in encoding.ids:
                frequencies[piece] += frequency * share
    return frequencies


def _most_frequent(frequencies: Mapping[int, float], share: float) -> set[int]:
    """The most frequent pieces, which together have a share of all."""
    left, chosen = share * sum(frequencies.values()), set()
    for piece in sorted(frequencies, key=frequencies.__getitem__, reverse=True):
        if left <= 0:
            break
        chosen.add(piece)
        left -= frequencies[piece]
    return chosen


def _is_basic(piece: str) -> bool:
    """Whether a piece is a letter of Europe, or a short one of digits and signs."""
    inner = piece.lstrip(SPACE)
    if len(inner) <= 1:
        return all(_is_western(ord(letter)) for letter in inner)
    return len(inner) <= _LONGEST_SIGNS and all(ord(c) < _SIGNS_END and not c.isalpha() for c in inner)


def _is_western(code: int) -> bool:
    return code < _LATIN or _GREEK <= code < _CYRILLIC_END or _EXTENDED <= code < _SIGNS_END
