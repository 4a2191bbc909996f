"""Chooses word pieces of a further language for a tokeniser that cuts English words as before.

WordPiece cuts words greedily into the longest pieces. A new piece that English words contain would cut them otherwise;
it is left out unless those words are rare, by themselves and beside the piece in the new language.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from qa_core.encoders.tokenisers import merged_pieces
from qa_core.encoders.word_pieces import INSIDE

WORD = re.compile(r"[^\W\d_]+")
Frequencies = Mapping[str, float]
"""Shares of the words among all words of running text, normalised as the tokeniser does."""


@dataclass(frozen=True, slots=True)
class PieceConfig:
    pieces: int = 5500
    candidates: int = 14_000
    damping: float = 0.6  # exponent of frequencies, so that parts of rare compounds count
    least_count: int = 20  # of a merged pair, in damped counts of ten millionths
    rare: float = 1.5e-6  # share of English words that a new piece may cut otherwise
    beside: float = 0.02  # the same, of the share of the new language's words with the piece
    beside_common: float = 0.003  # the same, above `rare`
    most: float = 2e-5  # the same, whatever the piece brings


def choose_pieces(
    known: Set[str], words: Frequencies, english: Frequencies, config: PieceConfig | None = None
) -> list[str]:
    """New pieces, those of the most words first; `known` is the vocabulary that stays.

    Args:
        words: frequencies in the new language.
        english: frequencies in English.
    """
    config = config or PieceConfig()
    counts = {
        word: max(1, round((share * 1e8) ** config.damping)) for word, share in words.items() if 1 < len(word) <= 40
    }
    learned = {
        piece
        for piece in merged_pieces(_repeated(counts), size=config.candidates, least_count=config.least_count)
        if len(piece.removeprefix(INSIDE)) > 1
    }
    vocabulary = {*known, *learned}
    while unwanted := _unwanted(vocabulary, known, words, english, config):
        vocabulary -= unwanted
    while True:
        used = _use(vocabulary, known, counts)
        new = sorted(vocabulary - known, key=lambda piece: (-used[piece] * _worth(piece), piece))
        if len(new) <= config.pieces:
            return new
        vocabulary -= set(new[max(config.pieces, len(new) - max(1, len(new) // 12)) :])


def with_frequent_words(
    known: Set[str],
    pieces: Iterable[str],
    words: Frequencies,
    english: Frequencies,
    count: int,
    config: PieceConfig | None = None,
) -> list[str]:
    """New pieces for a larger vocabulary: those of another one, then whole words, the most frequent first."""
    config = config or PieceConfig()
    new = [piece for piece in pieces if piece not in known]
    often = sorted(words, key=lambda word: (-words[word], word))
    whole = [word for word in often if len(word) > 2 and english.get(word, 0.0) < config.beside * words[word]]
    new = list(dict.fromkeys([*new, *(word for word in whole if word not in known)]))[: count + count // 7]
    vocabulary = {*known, *new}
    while unwanted := _unwanted(vocabulary, known, words, english, config):
        vocabulary -= unwanted
    return [piece for piece in new if piece in vocabulary][:count]


def cut(word: str, vocabulary: Set[str]) -> list[str]:
    """The pieces of a word; empty if it cannot be cut."""
    pieces, start = [], 0
    while start < len(word):
        ends = range(len(word), start, -1)
        prefix = INSIDE if start else ""
        piece = next((piece for end in ends if (piece := prefix + word[start:end]) in vocabulary), "")
        if not piece:
            return []
        pieces.append(piece)
        start += len(piece) - len(prefix)
    return pieces


def frequencies(lines: Iterable[str], normalise: Callable[[str], str]) -> dict[str, float]:
    """Shares by normalised word from lines `word<TAB>share`; words with digits or signs are left out.

    Raises:
        ValueError: a line has another form.
    """
    shares: defaultdict[str, float] = defaultdict(float)
    for number, line in enumerate(lines, start=1):
        try:
            word, share = line.rstrip("\n").split("\t")
            if WORD.fullmatch(word):
                shares[normalise(word).strip()] += float(share)
        except ValueError as error:
            raise ValueError(f"Line {number}: expected `word<TAB>share`, but got {line[:80]!r}.") from error
    return dict(shares)


def with_sharp_s(shares: Frequencies, counts: Mapping[str, int]) -> dict[str, float]:
    """The shares of words with "ss" divided among their spellings with "ss" and "ß", of which many lists know only one.

    Args:
        shares: by normalised word.
        counts: how often texts have each normalised word. The spelling of the list counts once more.
    """
    spellings: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for word, count in counts.items():
        if "ß" in word:
            spellings[word.replace("ß", "ss")][word] = count
    divided = dict(shares)
    for word, others in spellings.items():
        if share := shares.get(word):
            total = counts.get(word, 0) + 1 + sum(others.values())
            divided[word] = share * (counts.get(word, 0) + 1) / total
            for other, count in others.items():
                divided[other] = divided.get(other, 0.0) + share * count / total
    return divided


def _repeated(counts: Mapping[str, int]) -> Iterator[str]:
    for word, count in counts.items():
        for begin in range(0, count, 1000):
            yield f"{word} " * min(1000, count - begin)


def _unwanted(
    vocabulary: Set[str], known: Set[str], words: Frequencies, english: Frequencies, config: PieceConfig
) -> set[str]:
    """New pieces that cut too many English words otherwise."""
    used = _use(vocabulary, known, words)
    changed = _use(
        vocabulary, known, {word: share for word, share in english.items() if share > 0.3 * words.get(word, 0)}
    )
    return {
        piece
        for piece, share in changed.items()
        if share > min(config.most, config.beside * used[piece])
        or share > max(config.rare, config.beside_common * used[piece])
    }


def _use(vocabulary: Set[str], known: Set[str], shares: Mapping[str, float]) -> Mapping[str, float]:
    """How much text has each new piece."""
    used: defaultdict[str, float] = defaultdict(float)
    for word, share in shares.items():
        for piece in cut(word, vocabulary):
            if piece not in known:
                used[piece] += share
    return used


def _worth(piece: str) -> float:
    """Longer pieces say more."""
    return 1 + 0.25 * (len(piece.removeprefix(INSIDE)) - 2)
