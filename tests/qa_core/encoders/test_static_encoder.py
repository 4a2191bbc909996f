import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.encoders.static_encoder import StaticEncoder, fingerprint, sha256, weights_match

WORDS = ["[UNK]", "cats", "sleep", "day", "night"]
TABLE = np.array([[0, 0], [3, 0], [0, 4], [-3, 0], [1, 1]], dtype=np.float16)


def write_encoder(folder: Path, table: np.ndarray = TABLE, scale: np.ndarray | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    tensors = {"vectors": table} if scale is None else {"vectors": table, "scale": scale}
    write_tensors(folder / "model.safetensors", tensors)
    stated = sha256(folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"kind": "static", "weights_sha256": stated}), encoding="utf-8")
    return folder


def test_a_text_is_the_normalised_sum_of_its_tokens(tmp_path: Path) -> None:
    encoder = StaticEncoder.load(write_encoder(tmp_path))
    vectors = encoder.encode(["cats sleep", "cats"])
    np.testing.assert_allclose(vectors, [[0.6, 0.8], [1, 0]], atol=1e-6)  # (3, 4) / 5
    assert vectors.dtype == np.float32
    assert encoder.dimension == 2


def test_a_scale_weights_the_rows_of_an_integer_table(tmp_path: Path) -> None:
    table = np.array([[0, 0], [127, 0], [0, 127], [0, 0], [0, 0]], dtype=np.int8)
    scale = np.array([1, 0.3, 0.4, 1, 1], dtype=np.float32)
    encoder = StaticEncoder.load(write_encoder(tmp_path, table, scale))
    np.testing.assert_allclose(encoder.encode(["cats sleep"]), [[0.6, 0.8]], atol=1e-6)


@pytest.mark.parametrize("text", ["", "   ", "zebra", "cats day"])
def test_a_text_without_a_vector_is_a_zero_row(tmp_path: Path, text: str) -> None:
    encoder = StaticEncoder.load(write_encoder(tmp_path))
    vectors = encoder.encode([text, "cats"])
    assert vectors.tolist() == [[0, 0], [1, 0]]
    assert encoder.encode([text]).tolist() == [[0, 0]]


def test_no_texts_give_no_rows(tmp_path: Path) -> None:
    assert StaticEncoder.load(write_encoder(tmp_path)).encode([]).shape == (0, 2)


@given(st.lists(st.lists(st.sampled_from(WORDS[1:]), max_size=6), max_size=5))
def test_many_texts_give_what_each_gives_alone(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]]
) -> None:
    encoder = StaticEncoder.load(write_encoder(tmp_path_factory.mktemp("encoder")))
    sums = [sum((TABLE[WORDS.index(word)].astype(float) for word in words), np.zeros(2)) for words in texts]
    expected = [total / (np.linalg.norm(total) or 1) for total in sums]
    np.testing.assert_allclose(encoder.encode([" ".join(w) for w in texts]), np.reshape(expected, (-1, 2)), atol=1e-6)


def test_texts_beyond_one_gathering_add_up(tmp_path: Path) -> None:
    encoder = StaticEncoder.load(write_encoder(tmp_path))
    texts = ["cats " * 4000, "sleep", "", *["cats sleep " * 3000] * 5, "day " * 20_000]
    expected = [[1, 0], [0, 1], [0, 0], *[[0.6, 0.8]] * 5, [-1, 0]]
    np.testing.assert_allclose(encoder.encode(texts), expected, atol=1e-5)


def test_words_with_a_token_are_known(tmp_path: Path) -> None:
    encoder = StaticEncoder.load(write_encoder(tmp_path))
    assert encoder.knows("cats")
    assert not encoder.knows("zebra")


def test_the_fingerprint_follows_content_not_place(tmp_path: Path) -> None:
    first = write_encoder(tmp_path / "a")
    shutil.copytree(first, tmp_path / "b")
    other = write_encoder(tmp_path / "c", TABLE + np.float16(1))
    assert fingerprint(first) == fingerprint(tmp_path / "b") != fingerprint(other)


def test_weights_that_differ_from_their_checksum_are_detected(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path)
    assert weights_match(folder)
    write_tensors(folder / "model.safetensors", {"vectors": TABLE[::-1].copy()})
    assert not weights_match(folder)


def test_without_a_stated_sum_the_weights_are_hashed(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    before = fingerprint(folder)
    write_tensors(folder / "model.safetensors", {"vectors": TABLE[::-1].copy()})
    assert weights_match(folder)
    assert fingerprint(folder) != before


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"weights": TABLE}, "Expected a matrix 'vectors'"),
        ({"vectors": TABLE[0]}, "Expected a matrix 'vectors'"),
        ({"vectors": TABLE[:3]}, "Expected 5 rows in .* but got 3"),
        ({"vectors": TABLE, "scale": np.ones(2, dtype=np.float32)}, r"Expected 'scale' of shape \[5\] .* got \[2\]"),
    ],
)
def test_weights_that_do_not_fit_are_refused(tmp_path: Path, tensors: dict[str, np.ndarray], message: str) -> None:
    folder = write_encoder(tmp_path)
    write_tensors(folder / "model.safetensors", tensors)
    with pytest.raises(ValueError, match=message):
        StaticEncoder.load(folder)


@pytest.mark.parametrize(("content", "message"), [("{", "Expected JSON"), ("[]", "Expected a JSON object")])
def test_a_damaged_configuration_is_named(tmp_path: Path, content: str, message: str) -> None:
    folder = write_encoder(tmp_path)
    (folder / "config.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        StaticEncoder.load(folder)


def test_a_missing_configuration_is_named(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path)
    (folder / "config.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"Expected .*config\.json"):
        StaticEncoder.load(folder)
