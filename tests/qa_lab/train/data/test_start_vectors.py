from pathlib import Path

import numpy as np
import pytest

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_lab.train.data.word_vectors import located, vectors_beyond, vectors_of, words_of

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
    found = vectors_of(STARTER, KNOWN)
    assert found.words == tuple(KNOWN)
    np.testing.assert_array_equal(found.matrix, StaticEncoder.load(ENCODER).encode(KNOWN))
    beyond = vectors_beyond(STARTER, KNOWN, limit=1)
    assert beyond.words[:5] == tuple(KNOWN)
    assert len(set(beyond.words)) == len(beyond) > 10_000
    assert {"house", "river"} <= set(beyond.words)
    np.testing.assert_allclose(beyond.vector("river"), vectors_of(STARTER, ["river"]).matrix[0], atol=1e-6)
