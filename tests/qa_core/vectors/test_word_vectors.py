from __future__ import annotations

import gzip
import math
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from qa_core.vectors.word_vectors import WordVectors, read_vectors, write_glove

ANIMALS = WordVectors(("cat", "dog", "car", "zero"), np.array([[3, 4], [4, 3], [-4, 3], [0, 0]], np.float32))


def test_cosine_by_hand() -> None:
    assert ANIMALS.cosine("cat", "dog") == pytest.approx(24 / 25)
    assert ANIMALS.cosine("dog", "car") == pytest.approx(-7 / 25)
    assert ANIMALS.cosine("cat", "zero") == 0


def test_nearest_are_the_best_cosines_without_the_word() -> None:
    results = ANIMALS.nearest("cat", 9)
    assert [word for word, _ in results] == ["dog", "car", "zero"]
    assert [score for _, score in results] == pytest.approx([24 / 25, 0, 0])
    assert ANIMALS.nearest("cat", 1) == results[:1]


def test_unknown_words_and_bad_numbers_are_refused() -> None:
    with pytest.raises(KeyError, match="'cow'"):
        ANIMALS.nearest("cow")
    with pytest.raises(ValueError, match="at least 1, but got 0"):
        ANIMALS.nearest("cat", 0)
    with pytest.raises(ValueError, match=r"\(1, D\), but got one of shape \(2, 3\)"):
        WordVectors(("a",), np.zeros((2, 3), np.float32))


@given(
    arrays(np.float32, (3, 4), elements=st.floats(width=32, allow_nan=False, allow_infinity=False)),
    st.lists(
        st.text(alphabet="ab'é.語 ", min_size=1, max_size=5).filter(lambda w: w == w.strip()),
        min_size=3,
        max_size=3,
        unique=True,
    ),
)
def test_glove_round_trip_is_exact(
    tmp_path_factory: pytest.TempPathFactory,
    matrix: np.ndarray[tuple[int, int], np.dtype[np.float32]],
    words: list[str],
) -> None:
    path = tmp_path_factory.mktemp("glove") / "glove.txt"
    write_glove(WordVectors(tuple(words), matrix), path)
    vectors = read_vectors(path)
    assert vectors.words == tuple(words)
    np.testing.assert_array_equal(vectors.matrix, matrix)


def test_a_word_with_a_line_break_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="fits a line"):
        write_glove(WordVectors(("a\nb",), np.zeros((1, 2), np.float32)), tmp_path / "glove.txt")


def test_only_and_limit_choose_words(tmp_path: Path) -> None:
    path = tmp_path / "w.vec"
    path.write_text("4 2\na 1 2\nb 3 4\nc 5 6\nd 7 8\n", encoding="utf-8")
    assert read_vectors(path, limit=2).words == ("a", "b")
    assert read_vectors(path, only={"d", "b", "unknown"}).matrix.tolist() == [[3, 4], [7, 8]]
    assert read_vectors(path, only={"b", "c", "d"}, limit=2).words == ("b", "c")
    with pytest.raises(ValueError, match="at least 1 word, but got 0"):
        read_vectors(path, limit=0)
    with pytest.raises(ValueError, match=r"word vectors in .*w\.vec, but got none"):
        read_vectors(path, only={"unknown"})


def test_binary_file(tmp_path: Path) -> None:
    path = tmp_path / "w.bin.gz"
    rows = b"cat " + struct.pack("<2f", 0.5, -2) + b"\n" + b"dog " + struct.pack("<2f", 1, 0) + b"\n"
    path.write_bytes(gzip.compress(b"2 2\n" + rows))
    vectors = read_vectors(path)
    assert vectors.words == ("cat", "dog")
    assert vectors.vector("cat").tolist() == [0.5, -2]
    assert (len(vectors), vectors.dimension, "cow" in vectors) == (2, 2, False)


def test_duplicates_are_dropped_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("a 1 2\nb 3 4\na 5 6\na 7 8\n 9 9\n", encoding="utf-8")
    with pytest.warns(UserWarning, match=r"glove\.txt: 3 empty or repeated words"):
        vectors = read_vectors(path)
    assert (vectors.words, vectors.matrix.tolist()) == (("a", "b"), [[1, 2], [3, 4]])


def test_bad_numbers_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("a 1 2\nb 3 nan\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"glove\.txt: Expected numbers in line 2, .*'b' is not finite"):
        read_vectors(path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    with pytest.raises(ValueError, match="got none"):
        read_vectors(path)


class TestCache:
    def write(self, path: Path, text: str) -> Path:
        path.write_text(text, encoding="utf-8")
        return path

    def test_the_second_reading_is_mapped_and_equal(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "glove.txt", "a 1 2\nb 3 4\n")
        first = read_vectors(path, cache=tmp_path / "cache")
        files = sorted((tmp_path / "cache").iterdir())
        second = read_vectors(path, cache=tmp_path / "cache")
        assert first.words == second.words == ("a", "b")
        assert second.matrix.tolist() == [[1, 2], [3, 4]]
        assert isinstance(second.matrix, np.memmap)
        assert sorted((tmp_path / "cache").iterdir()) == files
        assert [file.suffix for file in files] == [".npy", ".words"]

    def test_a_changed_file_is_read_anew(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "glove.txt", "a 1 2\n")
        read_vectors(path, cache=tmp_path / "cache")
        state = path.stat()
        self.write(path, "a 1 3\n")
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))  # same size, same time
        assert read_vectors(path, cache=tmp_path / "cache").matrix.tolist() == [[1, 3]]

    def test_choices_have_copies_of_their_own(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "glove.txt", "a 1 2\nb 3 4\n")
        assert len(read_vectors(path, cache=tmp_path / "cache")) == 2
        assert read_vectors(path, cache=tmp_path / "cache", only=["b"]).words == ("b",)
        assert read_vectors(path, cache=tmp_path / "cache", limit=1).words == ("a",)

    @pytest.mark.parametrize("suffix", [".npy", ".words"])
    def test_a_damaged_copy_is_made_anew(self, tmp_path: Path, suffix: str) -> None:
        path = self.write(tmp_path / "glove.txt", "a 1 2\nb 3 4\n")
        read_vectors(path, cache=tmp_path / "cache")
        (copy,) = (tmp_path / "cache").glob(f"*{suffix}")
        copy.write_bytes(copy.read_bytes()[:-3])
        assert read_vectors(path, cache=tmp_path / "cache").matrix.tolist() == [[1, 2], [3, 4]]

    def test_a_file_that_cannot_be_read_leaves_nothing(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "glove.txt", "a 1 2\nb 3\n")
        with pytest.raises(ValueError, match="line 2"):
            read_vectors(path, cache=tmp_path / "cache")
        assert not list(tmp_path.glob("cache/*"))


def test_norms_are_those_of_the_rows() -> None:
    scores = dict(WordVectors(("a", "b"), np.array([[1, 1], [2, 0]], np.float32)).nearest("a"))
    assert scores["b"] == pytest.approx(1 / math.sqrt(2))
