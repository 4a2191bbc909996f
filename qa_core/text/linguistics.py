"""English in more depth: stop words, synonyms, noun phrases. The one door of nltk.

Nothing here downloads data. Each function has a fallback for when nltk's data is absent, and nltk itself, whose import
takes seconds, is imported by `noun_phrases(…, careful=True)` only.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from qa_core.text import noun_phrases as chunking
from qa_core.text.analysis import looks_english
from qa_core.text.wordnet import FILES, WordNet

_TAGGER = "taggers/averaged_perceptron_tagger_eng"
_TAGGER_FILES = tuple(f"averaged_perceptron_tagger_eng.{part}.json" for part in ("weights", "tagdict", "classes"))
_TAGGER_LOCK = threading.Lock()

_STOP_WORDS = chunking.FUNCTION_WORDS | frozenset(
    f"{verb}n't"
    for verb in (
        "are",
        "could",
        "did",
        "do",
        "does",
        "had",
        "has",
        "have",
        "is",
        "must",
        "should",
        "was",
        "were",
        "would",
    )
)
_STOP_WORDS |= {
    f"{who}'{tail}"
    for who in ("i", "you", "he", "she", "it", "we", "they")
    for tail in ("d", "ll", "s", "re", "ve", "m")
}


def available() -> dict[str, bool]:
    """Which nltk resources are installed: `stopwords`, `wordnet`, `averaged_perceptron_tagger_eng`."""
    return {
        "stopwords": _found("corpora/stopwords", ("english",)) is not None,
        "wordnet": _wordnet_path() is not None,
        "averaged_perceptron_tagger_eng": _found(_TAGGER, _TAGGER_FILES) is not None,
    }


def stop_words() -> frozenset[str]:
    """English stop words, lower case, with contractions ("don't"): nltk's list where installed, else our own."""
    folder = _found("corpora/stopwords", ("english",))
    return _STOP_WORDS if folder is None else _listed(folder / "english")


@cache
def _listed(path: Path) -> frozenset[str]:
    return frozenset(path.read_text(encoding="utf-8").split())


@lru_cache(maxsize=50_000)
def synonyms(word: str) -> tuple[str, ...]:
    """WordNet's synonyms of a word that has exactly one sense, all parts of speech together; () without WordNet.

    Inflected words are looked up in their dictionary form. Raises ValueError where WordNet's files are damaged.
    """
    path = _wordnet_path()
    return () if path is None else _wordnet(path).synonyms(word)


@cache
def _wordnet(path: Path) -> WordNet:
    return WordNet(path)


def noun_phrases(text: str, *, careful: bool = False) -> list[str]:
    """Noun phrases of an English text in order, each once, as written; [] for other languages.

    By rules, alike on every machine and in some 0.1 ms a question. `careful=True` asks nltk's tagger where its data is
    installed (its first call imports nltk: seconds).
    """
    if not looks_english(text):
        return []
    if careful and _found(_TAGGER, _TAGGER_FILES) is not None:
        return chunking.tagged_phrases(_tagged(chunking.tokens(text)))
    return chunking.noun_phrases(text)


def _tagged(tokens: list[str]) -> list[tuple[str, str]]:
    """Tokens with their Penn Treebank tags."""
    with _TAGGER_LOCK:
        return [(word, tag) for word, tag in _tagger().tag(tokens)]


@cache
def _tagger() -> Any:
    from nltk.tag.perceptron import PerceptronTagger

    return PerceptronTagger()


def _wordnet_path() -> Path | None:
    folder = _found("corpora/wordnet", FILES)
    return folder if folder is not None else _found("corpora/wordnet.zip", ())


def _found(resource: str, files: tuple[str, ...]) -> Path | None:
    """The first of nltk's data folders that has a resource with these files."""
    return _search(resource, files, os.environ.get("NLTK_DATA", ""))


@cache
def _search(resource: str, files: tuple[str, ...], named: str) -> Path | None:
    for folder in _data_folders(named):
        path = folder / resource
        if path.exists() and all((path / name).is_file() for name in files):
            return path
    return None


def _data_folders(named: str) -> list[Path]:
    """Where nltk looks for its data, in its order; `named` is the value of NLTK_DATA."""
    own = [Path(folder) for folder in named.split(os.pathsep) if folder]
    prefix = [Path(sys.prefix, *middle, "nltk_data") for middle in ((), ("share",), ("lib",))]
    system = [Path(root, "nltk_data") for root in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")]
    return [*own, Path.home() / "nltk_data", *prefix, *system]
