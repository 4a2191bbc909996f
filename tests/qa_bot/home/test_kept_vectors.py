"""Kept vectors: read back nearly equal, and whatever a crash leaves is not taken for a vector."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from qa_bot.home.checks.vectors import damaged_vectors
from qa_bot.home.folder import Home
from qa_bot.home.kept_vectors import KeepingEncoder, KeptVectors, keys_of, lengthwise

DIMENSION = 8


def vectors_of(seed: int, rows: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(rows, DIMENSION)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def opened(folder: Path, fingerprint: str = "a") -> KeptVectors:
    return KeptVectors(folder, fingerprint, DIMENSION)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


def test_vectors_last_and_are_nearly_the_same(folder: Path) -> None:
    keys, vectors = keys_of(["cats", "dogs", ""], "answer"), vectors_of(0, 3)
    with opened(folder) as memory:
        memory.keep(keys, vectors)
    again = opened(folder)
    there, read = again.get(keys[[2, 0, 1]])
    assert there.all()
    assert (np.einsum("nd,nd->n", read, vectors[[2, 0, 1]]) > 0.9995).all()
    assert len(again) == 3


def test_an_unknown_text_has_no_vector(folder: Path) -> None:
    with opened(folder) as memory:
        memory.keep(keys_of(["cats"], "answer"), vectors_of(0, 1))
        assert memory.has(keys_of(["cats", "dogs"], "answer")).tolist() == [True, False]
        assert not memory.has(keys_of(["cats"], "question")).any()
    there, read = memory.get(keys_of(["dogs"], "answer"))
    assert not there.any()
    assert not read.any()


def test_an_empty_folder_has_no_vectors(folder: Path) -> None:
    memory = opened(folder)
    assert len(memory) == 0
    assert not memory.get(keys_of(["cats"], "answer"))[0].any()
    assert not memory.has(keys_of([], "answer")).any()


def test_vectors_of_another_encoder_are_removed(folder: Path) -> None:
    with opened(folder) as memory:
        memory.keep(keys_of(["cats"], "answer"), vectors_of(0, 1))
    assert len(opened(folder, "b")) == 0
    assert len(opened(folder, "a")) == 0


@pytest.mark.parametrize("lost", [1, 10, 23])
def test_a_record_that_was_cut_off_is_not_read(folder: Path, lost: int) -> None:
    keys = keys_of(["cats", "dogs"], "answer")
    with opened(folder) as memory:
        memory.keep(keys, vectors_of(0, 2))
    (file,) = folder.glob("*.vectors")
    file.write_bytes(file.read_bytes()[:-lost])
    assert opened(folder).has(keys).tolist() == [True, False]


@pytest.mark.parametrize("rubbish", [b"\0" * 48, b"\xff" * 48, b"\0" * 7])
def test_rubbish_at_the_end_is_not_read(folder: Path, rubbish: bytes) -> None:
    with opened(folder) as memory:
        memory.keep(keys_of(["cats"], "answer"), vectors_of(0, 1))
    (file,) = folder.glob("*.vectors")
    file.write_bytes(file.read_bytes() + rubbish)
    assert len(opened(folder)) == 1


def test_a_bit_that_flipped_removes_one_vector(folder: Path) -> None:
    keys = keys_of(["cats", "dogs"], "answer")
    with opened(folder) as memory:
        memory.keep(keys, vectors_of(0, 2))
    (file,) = folder.glob("*.vectors")
    content = bytearray(file.read_bytes())
    content[-1] ^= 4
    file.write_bytes(content)
    assert opened(folder).has(keys).tolist() == [True, False]


def test_two_writers_have_files_of_their_own(folder: Path) -> None:
    with opened(folder) as first, opened(folder) as second:
        first.keep(keys_of(["cats"], "answer"), vectors_of(0, 1))
        second.keep(keys_of(["dogs"], "answer"), vectors_of(1, 1))
    assert opened(folder).has(keys_of(["cats", "dogs"], "answer")).all()


def test_far_more_vectors_than_texts_are_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qa_bot.home.kept_vectors.BLOCK", 2)
    with opened(folder) as memory:
        memory.keep(keys_of(map(str, range(9)), "answer"), vectors_of(0, 9))
        memory.flush()
        memory.bound(4)
        assert len(memory) == 9
        memory.bound(3)
        assert len(memory) == 0
        memory.keep(keys_of(["cats"], "answer"), vectors_of(0, 1))
    assert len(opened(folder)) == 1


def test_only_unknown_texts_are_encoded(folder: Path, counting_encoder) -> None:
    encoder = counting_encoder
    with opened(folder) as memory:
        memory.keep(keys_of(["cats sleep"], "answer"), encoder.encode(["cats sleep"]))
    encoder.texts.clear()
    keeping = KeepingEncoder(encoder, opened(folder))
    vectors = keeping.encode(["dogs", "cats sleep", " "], side="answer")
    assert encoder.texts == ["dogs"]
    assert vectors == pytest.approx(encoder.encode(["dogs", "cats sleep", " "]), abs=0.01)
    assert (keeping.dimension, keeping.fingerprint, keeping.knows("cat")) == (8, "counting", True)


def test_batches_have_texts_of_similar_length() -> None:
    assert [*lengthwise(["aaa", "b", "cc", "", "dddd"], 2)] == [[3, 1], [2, 0], [4]]


def test_a_folder_that_a_full_disk_left_empty_is_no_damage(tmp_path: Path) -> None:
    home = Home.open(tmp_path / "home")
    home.vectors.mkdir()
    assert damaged_vectors(home) == []
    (home.vectors / "one.vectors").write_bytes(b"")
    assert damaged_vectors(home) == [home.vectors / "fingerprint"]
