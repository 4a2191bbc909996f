"""Vectors of given words from whatever has them: a file of word vectors, a folder with one, or an encoder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from qa_bot.home.encoders import resolve
from qa_bot.home.starter import ENCODER
from qa_core.training.static_table import read_tokeniser
from qa_core.vectors.word_vectors import WordVectors, read_vectors

VECTORS = "vectors.txt"
"""In the folder of a model of words, GloVe text."""

_PLAIN = re.compile(r"[a-z]{2,}")


def word_vectors(source: str, words: Sequence[str], *, models: Path) -> WordVectors:
    """Those of the words that `source` knows, in the order of the words.

    Args:
        source: a file that `read_vectors` reads; a folder with `vectors.txt`; `starter`, the folder or the hub id of an
            encoder, which encodes the words one by one.
        words: distinct.
        models: see `qa_bot.home.encoders.resolve`.

    Raises:
        ValueError: there is no such source, it is damaged, or it knows none of the words.
    """
    path = Path(source).expanduser()
    found = _from_file(path, words) if path.is_file() else _from_folder(path, words)
    return _encoded(source, words, models) if found is None else found


def side_by_side(left: WordVectors, right: WordVectors) -> WordVectors:
    """Both vectors of the words that both know, each side scaled to a mean square length of 1/2, (V, D₁ + D₂).

    A cosine of two words is then about the mean of their cosines on either side. Raises ValueError without such words.
    """
    words = tuple(word for word in left.words if word in right)
    if not words:
        raise ValueError("Expected start vectors of the same words to set side by side, but got none; name others.")
    sides = [side.matrix[[side.index[word] for word in words]] for side in (left, right)]
    scaled = [side / np.sqrt(2 * np.square(side).sum(1).mean()) for side in sides]
    return WordVectors(words, np.hstack(scaled).astype(np.float32))


def _from_folder(path: Path, words: Sequence[str]) -> WordVectors | None:
    return _from_file(path / VECTORS, words) if (path / VECTORS).is_file() else None


def _from_file(path: Path, words: Sequence[str]) -> WordVectors:
    read = read_vectors(path, only=words)
    known = [word for word in words if word in read]
    return WordVectors(tuple(known), read.matrix[[read.index[word] for word in known]])


def _encoded(source: str, words: Sequence[str], models: Path) -> WordVectors:
    encoder = resolve(source, models=models)
    order = sorted(words, key=len)  # words of like length in a batch, so that little is padded
    rows = dict(zip(order, encoder.encode(order), strict=True))
    known = tuple(word for word in words if rows[word].any())
    if not known:
        raise ValueError(
            f"Expected an encoder that knows words, but {source} knows none of {len(words)}; name another."
        )
    return WordVectors(known, np.stack([rows[word] for word in known]))


def listed_words(source: Path | None) -> tuple[str, ...]:
    """The plain words a source lists: those of its file of vectors, or for an encoder the starter's tokens."""
    file = source / VECTORS if source is not None and source.is_dir() else source
    if file is not None and file.is_file():
        return read_vectors(file).words
    vocabulary = read_tokeniser(ENCODER)["model"]["vocab"]
    return tuple(word for word in vocabulary if _PLAIN.fullmatch(word))
