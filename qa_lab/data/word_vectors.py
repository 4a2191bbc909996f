"""Vectors of words from a file of word vectors, a folder with one, or an encoder.

The setting `pretrained` of a network names `starter`, a static encoder's folder or a file of word vectors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from qa_bot.home.encoders import STARTER, resolve
from qa_bot.home.starter import ENCODER
from qa_core.atomic import atomic_folder
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.text.analysis import words as words_in
from qa_core.training.static_table import read_tokeniser
from qa_core.vectors.word_vectors import WordVectors, read_vectors, write_glove
from qa_lab.errors import TrainingError

VECTORS = "vectors.txt"
"""File name in the folder of a model of words; GloVe text."""
FILES = CONFIG, CARD, _ = ("config.json", "README.md", VECTORS)

_PLAIN = re.compile(r"[a-z]{2,}")


def word_vectors(source: str, words: Sequence[str], *, models: Path) -> WordVectors:
    """Vectors of the words that `source` knows, in the order of the words.

    Args:
        source: a file that `read_vectors` reads; a folder with `vectors.txt`; `starter`, the folder or the hub id of an
            encoder, which encodes the words one by one.
        words: distinct.
        models: see `qa_bot.home.encoders.resolve`.

    Raises:
        ValueError: the source does not exist, is damaged, or knows none of the words.
    """
    file = vectors_file(Path(source).expanduser())
    return _from_file(file, words) if file else _encoded(source, words, models)


def save_vectors(out: Path, vectors: WordVectors, *, content: Mapping[str, object], card: str) -> None:
    """Write a folder with word vectors, its `content` as JSON, and its card. Raises TrainingError unless finite."""
    if not np.isfinite(vectors.matrix).all():
        raise TrainingError("Expected finite vectors, but got NaN or infinity; train again with a lower learning rate.")
    with atomic_folder(out, FILES) as new:
        (new / CONFIG).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (new / CARD).write_text(card, encoding="utf-8")
        write_glove(vectors, new / VECTORS)


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


def vectors_file(path: Path) -> Path | None:
    """The file of word vectors that a path is or has; None for other models."""
    return next((file for file in (path, path / VECTORS) if file.is_file()), None)


def _from_file(path: Path, words: Sequence[str]) -> WordVectors:
    read = read_vectors(path, only=words)
    known = [word for word in words if word in read]
    return WordVectors(tuple(known), read.matrix[[read.index[word] for word in known]])


def _encoded(source: str, words: Sequence[str], models: Path) -> WordVectors:
    encoder = resolve(source, models=models)
    order = sorted(words, key=len)  # words of similar length in a batch need little padding
    rows = dict(zip(order, encoder.encode(order), strict=True))
    known = tuple(word for word in words if rows[word].any())
    if not known:
        raise ValueError(
            f"Expected an encoder that knows words, but {source} knows none of {len(words)}; name another."
        )
    return WordVectors(known, np.stack([rows[word] for word in known]))


def listed_words(source: Path | None) -> tuple[str, ...]:
    """The words of a file of vectors; for an encoder, the plain words among the starter's tokens."""
    if source is not None and (file := vectors_file(source)):
        return read_vectors(file).words
    vocabulary = read_tokeniser(ENCODER)["model"]["vocab"]
    return tuple(word for word in vocabulary if _PLAIN.fullmatch(word))


def located(name: str) -> Path:
    """The folder or file that the setting `pretrained` names."""
    return ENCODER if name == STARTER else Path(name).expanduser()


def words_of(texts: Iterable[str]) -> list[str]:
    """Distinct words, in the order of their first occurrence."""
    return list(dict.fromkeys(word for text in texts for word in words_in(text)))


def vectors_of(name: str, known: Sequence[str]) -> WordVectors:
    """Vectors of distinct words: of all of them from a static encoder, of the known ones from a file."""
    path = located(name)
    if path.is_dir():
        return WordVectors(tuple(known), StaticEncoder.load(path).encode(known))
    return read_vectors(path, only=known)


def vectors_beyond(name: str, known: Iterable[str], *, limit: int) -> WordVectors:
    """The same with further words: all whole-word pieces of a static encoder, or the first `limit` of a file."""
    path = located(name)
    if not path.is_dir():
        return read_vectors(path, limit=limit)
    encoder = StaticEncoder.load(path)
    pieces = encoder.tokeniser.tokenizer.get_vocab()
    single = (piece for piece in sorted(pieces, key=pieces.__getitem__) if words_in(piece) == [piece])
    vocabulary = list(dict.fromkeys([*known, *single]))
    return WordVectors(tuple(vocabulary), encoder.encode(vocabulary))
