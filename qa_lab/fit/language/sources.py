"""What a language is learnt from: frequencies of words, and translations, of which a sample is drawn."""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from qa_core.encoders.word_pieces import INSIDE
from qa_lab.fit.language.pieces import WORD, Frequencies, frequencies, with_sharp_s
from qa_lab.fit.language.translations import Translation, read_catalogues, read_dictionary, read_pages

MEANINGS = 6
"""Translations of a word whose mean vector it starts with."""


@dataclass(frozen=True, slots=True)
class Sources:
    """`shares` and `english` are frequencies of words; `entries` those of a dictionary."""

    shares: Frequencies
    english: Frequencies
    entries: Sequence[Translation]
    sentences: Sequence[Translation]

    @classmethod
    def read(cls, arguments: argparse.Namespace, normalise: Callable[[str], str]) -> Self:
        """From the options of `add_options`."""
        shares, english = (
            frequencies(path.read_text(encoding="utf-8").splitlines(), normalise)
            for path in (arguments.frequencies, arguments.english)
        )
        entries = [*read_dictionary(arguments.dictionary)]
        pages = [read_pages(*map(Path, pair)) for pair in arguments.pages]
        sentences = [*chain(read_catalogues(arguments.catalogues, arguments.language), *pages)]
        counts = Counter(chain(*(WORD.findall(normalise(t.text)) for t in chain(entries, sentences))))
        return cls(with_sharp_s(shares, counts), english, entries, sentences)

    def meanings(self, normalise: Callable[[str], str]) -> dict[str, list[str]]:
        """Up to `MEANINGS` translations of each normalised word."""
        meanings: defaultdict[str, list[str]] = defaultdict(list)
        for entry in self.entries:
            of_word = meanings[normalise(entry.text).strip()]
            of_word += entry.english[: max(0, MEANINGS - len(of_word))]
        return dict(meanings)


def english_of(piece: str, meanings: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Translations of a piece read as a word, or of a word that it is a form of; empty if there are none."""
    word = piece.removeprefix(INSIDE)
    for spelling in (word, word.replace("ss", "ß")):
        # "urlaubs" of compounds, and inflections that are cut off
        for form in (spelling, spelling.removesuffix("s"), f"{spelling}e", f"{spelling}en"):
            if form in meanings:
                return meanings[form]
    return ()


def add_options(parser: argparse.ArgumentParser, **folders: str) -> None:
    """Options of the sources; `folders` are further paths, each with its meaning."""
    parser.add_argument("--language", required=True, help="code of ISO 639-1, such as de")
    for name, meaning in {
        **folders,
        "frequencies": "file of lines `word<TAB>share`",
        "english": "the same of English",
        "dictionary": "dictionary into English in the format of Ding",
        "catalogues": "folder of programs with message catalogues (*.mo)",
        "out": "folder of the encoder",
    }.items():
        parser.add_argument(f"--{name}", type=Path, required=True, help=meaning)
    parser.add_argument(
        "--pages", nargs=2, action="append", default=[], metavar=("DIR", "ENGLISH"), help="a manual and the English one"
    )


@dataclass(frozen=True, slots=True)
class SampleConfig:
    """How many translations are learnt from; time is proportional to them."""

    words: int = 24_000  # the most frequent ones of the dictionary
    long_words: int = 9_000  # others of more than `long` letters: compounds
    long: int = 11
    phrases: int = 36_000  # entries of at least four words
    sentences: int = 4_500  # of each program or manual
    held: int = 600  # sentences that are not learnt from


def sampled(
    sources: Sources, rng: np.random.Generator, config: SampleConfig | None = None
) -> tuple[list[Translation], list[Translation]]:
    """Translations to learn from, and sentences to measure with. Entries of the same word are joined."""
    config = config or SampleConfig()
    words: dict[str, Translation] = {}
    phrases = []
    for entry in sources.entries:
        count = len(entry.text.split())
        if count == 1 and (other := words.get(entry.text)):
            words[entry.text] = other._replace(english=(*other.english, *entry.english)[:3])
        elif count == 1:
            words[entry.text] = entry
        elif count > 3:
            phrases.append(entry)
    often = sorted(words, key=lambda word: -sources.shares.get(word.lower(), 0.0))
    rest = [word for word in often[config.words :] if len(word) > config.long]
    chosen = [words[word] for word in (*often[: config.words], *_drawn(rest, config.long_words, rng))]
    prose = list({sentence.text: sentence for sentence in sources.sentences if len(sentence.text.split()) > 2}.values())
    of_source: Counter[str] = Counter()
    drawn = []
    for sentence in _drawn(prose, len(prose), rng):
        of_source[sentence.source] += 1
        if of_source[sentence.source] <= config.sentences:
            drawn.append(sentence)
    return [*chosen, *_drawn(phrases, config.phrases, rng), *drawn[config.held :]], drawn[: config.held]


def _drawn(items: Sequence[Any], count: int, rng: np.random.Generator) -> list[Any]:
    return [items[i] for i in rng.permutation(len(items))[:count]]
