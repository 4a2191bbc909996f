"""Word vectors to start from, by their name in the settings: `starter`, a static encoder's folder, or a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.text.analysis import words
from qa_core.vectors.word_vectors import WordVectors, read_vectors


def located(name: str) -> Path:
    """The folder or file behind a name."""
    return ENCODER if name == STARTER else Path(name).expanduser()


def words_of(texts: Iterable[str]) -> list[str]:
    """Distinct words, in the order in which they first stand."""
    return list(dict.fromkeys(word for text in texts for word in words(text)))


def vectors_of(name: str, known: Sequence[str]) -> WordVectors:
    """Vectors of distinct words: of all of them by a static encoder, of those that a file has."""
    path = located(name)
    if path.is_dir():
        return WordVectors(tuple(known), StaticEncoder.load(path).encode(known))
    return read_vectors(path, only=known)


def vectors_beyond(name: str, known: Iterable[str], *, limit: int) -> WordVectors:
    """Those, and of all words that are one piece to a static encoder; of a file the first `limit`, known or not."""
    path = located(name)
    if not path.is_dir():
        return read_vectors(path, limit=limit)
    encoder = StaticEncoder.load(path)
    pieces = encoder.tokeniser.tokenizer.get_vocab()
    single = (piece for piece in sorted(pieces, key=pieces.__getitem__) if words(piece) == [piece])
    found = list(dict.fromkeys([*known, *single]))
    return WordVectors(tuple(found), encoder.encode(found))
