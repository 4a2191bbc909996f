"""Words that a phrase model starts from: a file of vectors, a folder with one, or the words of a static encoder."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.training.static_table import read_tokeniser, weighted_rows
from qa_core.vectors.word_vectors import WordVectors, read_vectors
from qa_lab.data.word_vectors import VECTORS


def start_vectors(base: Path, *, limit: int, norm: float = 0.0) -> WordVectors:
    """Words to start from: a file of vectors, a folder with `vectors.txt`, or the whole words of a static encoder.

    Args:
        limit: words, at most; the first ones are taken.
        norm: mean length of the scaled vectors; 0 leaves them unchanged.

    Raises:
        FileNotFoundError: the path does not exist.
        ValueError: the vectors are damaged, or the folder is of another kind.
    """
    if base.is_dir() and not (base / VECTORS).is_file():
        vectors = _static_words(base, limit)
    else:
        path = base / VECTORS if base.is_dir() else base
        if not path.is_file():
            raise FileNotFoundError(f"Expected word vectors in {base}, but there is no such file; check --base.")
        vectors = read_vectors(path, limit=limit)
    if not norm:
        return vectors
    mean = float(np.linalg.norm(vectors.matrix, axis=1).mean())
    if not mean:
        raise ValueError(f"Expected word vectors in {base}, but all of them are zero; train or fetch them again.")
    return WordVectors(vectors.words, vectors.matrix * np.float32(norm / mean))


def only(vectors: WordVectors, used: Collection[str]) -> WordVectors:
    """The vectors of these words only, in their order."""
    words = tuple(word for word in vectors.words if word in used)
    return WordVectors(words, vectors.matrix[[vectors.index[word] for word in words]])


def _static_words(base: Path, limit: int) -> WordVectors:
    """The whole words among an encoder's tokens, with the rows that its sums use."""
    if not (base / "tokenizer.json").is_file():
        raise ValueError(
            f"Expected a file of word vectors, a folder with {VECTORS} or a static encoder, but got {base}; name "
            f"another."
        )
    rows = weighted_rows(StaticEncoder.load(base))
    vocabulary = read_tokeniser(base)["model"]["vocab"]
    words = [(word, row) for word, row in vocabulary.items() if word[:1].isalpha()][:limit]
    return WordVectors(tuple(word for word, _ in words), rows[[row for _, row in words]])
