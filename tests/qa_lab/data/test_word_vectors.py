from pathlib import Path

import numpy as np
import pytest

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.vectors.word_vectors import WordVectors, write_glove
from qa_lab.data.word_vectors import (
    listed_words,
    located,
    side_by_side,
    vectors_beyond,
    vectors_of,
    word_vectors,
    words_of,
)


def vectors(**rows: list[float]) -> WordVectors:
    return WordVectors(tuple(rows), np.array(list(rows.values()), dtype=np.float32))


def test_files_and_folders_give_the_words_asked_for(tmp_path: Path):
    write_glove(vectors(sun=[1, 2], sky=[3, 4], sea=[5, 6]), tmp_path / "vectors.txt")
    for source in (tmp_path, tmp_path / "vectors.txt"):
        result = word_vectors(str(source), ["sea", "none", "sun"], models=tmp_path)
        assert (result.words, result.matrix.tolist()) == (("sea", "sun"), [[5, 6], [1, 2]])
        assert listed_words(source) == ("sun", "sky", "sea")


def test_an_encoder_encodes_words_one_by_one(tmp_path: Path):
    result = word_vectors(STARTER, ["sunshine", "sun", "the"], models=tmp_path)
    assert result.words == ("sunshine", "sun", "the")
    assert result.cosine("sun", "sunshine") > result.cosine("sun", "the")
    words = listed_words(None)
    assert {"the", "sunshine"} <= set(words)
    assert all(word.isalpha() and word.islower() for word in words)


def test_an_encoder_that_knows_no_word(tmp_path: Path, word_pieces: Path):
    from qa_core.encoders.mapped_tensors import write_tensors

    write_tensors(word_pieces / "model.safetensors", {"vectors": np.zeros((12, 4), np.float16)})
    (word_pieces / "config.json").write_text('{"kind": "static"}')
    with pytest.raises(ValueError, match="knows none of 1"):
        word_vectors(str(word_pieces), ["cats"], models=tmp_path)


def test_side_by_side_cosines_are_means():
    left, right = vectors(a=[5, 0], b=[3, 4], c=[0, 5]), vectors(b=[0, 1, 0], a=[1, 0, 0], d=[0, 0, 1])
    both = side_by_side(left, right)
    assert both.words == ("a", "b")
    assert both.dimension == 5
    assert both.cosine("a", "b") == pytest.approx((0.6 + 0.0) / 2)
    assert np.linalg.norm(both.matrix, axis=1).tolist() == pytest.approx([1, 1])
    with pytest.raises(ValueError, match="the same words"):
        side_by_side(left, vectors(x=[1.0]))


TEXTS = ["Cats sleep, cats hunt.", "", "😀 at dawn"]
KNOWN = ["cats", "sleep", "hunt", "at", "dawn"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text("the 0 1\ncats 1 0\ndawn 1 1\n")
    return path


def test_names(tmp_path: Path):
    assert located(STARTER) == ENCODER
    assert located(str(tmp_path)) == tmp_path
    assert located("~/vectors.txt") == Path.home() / "vectors.txt"


def test_words_in_the_order_of_the_texts():
    assert [word for word in words_of(TEXTS) if word.isalpha()] == KNOWN


def test_of_a_file_the_words_that_it_has(file: Path):
    assert set(vectors_of(str(file), KNOWN).words) == {"cats", "dawn"}
    assert vectors_beyond(str(file), KNOWN, limit=2).words == ("the", "cats")


def test_of_a_static_encoder_all_words():
    result = vectors_of(STARTER, KNOWN)
    assert result.words == tuple(KNOWN)
    np.testing.assert_array_equal(result.matrix, StaticEncoder.load(ENCODER).encode(KNOWN))
    beyond = vectors_beyond(STARTER, KNOWN, limit=1)
    assert beyond.words[:5] == tuple(KNOWN)
    assert len(set(beyond.words)) == len(beyond) > 10_000
    assert {"house", "river"} <= set(beyond.words)
    np.testing.assert_allclose(beyond.vector("river"), vectors_of(STARTER, ["river"]).matrix[0], atol=1e-6)
