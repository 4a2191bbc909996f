from pathlib import Path

import numpy as np
import pytest

from qa_bot.home.starter import ENCODER
from qa_core.vectors.word_vectors import WordVectors, write_glove
from qa_lab.data.phrases.phrase_words import only, start_vectors

WORDS = tuple(f"w{letter}" for letter in "abcdefghijklmno")


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    matrix = np.random.default_rng(0).normal(size=(len(WORDS), 6)).astype(np.float32)
    write_glove(WordVectors(WORDS, matrix), tmp_path / "words.txt")
    return tmp_path / "words.txt"


def test_only_the_words_that_are_used():
    result = only(WordVectors(("a", "b", "c"), np.eye(3, dtype=np.float32)), {"c", "a", "z"})
    assert result.words == ("a", "c")
    assert result.matrix.tolist() == [[1, 0, 0], [0, 0, 1]]


def test_words_to_start_from(vectors: Path, tmp_path: Path):
    result = start_vectors(vectors, limit=10, norm=2.0)
    assert result.words == WORDS[:10]
    assert np.linalg.norm(result.matrix, axis=1).mean() == pytest.approx(2.0)
    folder = tmp_path / "model"
    folder.mkdir()
    with pytest.raises(ValueError, match=r"a folder with vectors.txt or a static encoder"):
        start_vectors(folder, limit=10)
    vectors.rename(folder / "vectors.txt")
    assert len(start_vectors(folder, limit=1000)) == len(WORDS)
    with pytest.raises(FileNotFoundError, match="check --base"):
        start_vectors(vectors, limit=10)
    vectors.write_text("a 1 2\nb 1\n")
    with pytest.raises(ValueError, match="Expected 2 numbers after the word in line 2, but got 1"):
        start_vectors(vectors, limit=10)
    vectors.write_text("a 0 0\nb 0 0\n")
    with pytest.raises(ValueError, match="all of them are zero"):
        start_vectors(vectors, limit=10, norm=1.0)


def test_the_starter_encoder_has_words():
    result = start_vectors(ENCODER, limit=50_000)
    assert result.dimension == 256
    assert result.cosine("house", "home") > result.cosine("house", "guitar")
    assert not any(word.startswith(("##", "[")) for word in result.words)
