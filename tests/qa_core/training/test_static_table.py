import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.encoders.static_encoder import StaticEncoder, sha256, weights_match
from qa_core.networks.poolings import pad
from qa_core.training.static_table import (
    StaticTable,
    extended_rows,
    read_tokeniser,
    save_static,
    weighted_rows,
    with_words,
)

WORDS = ["[UNK]", "cats", "sleep", "day", "night"]
ROWS = np.array([[0, 0], [3, 0], [0, 4], [-3, 0], [1, 1]], dtype=np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    path = tmp_path / "static"
    path.mkdir()
    tokenizer.save(str(path / "tokenizer.json"))
    scale = np.full(5, 0.5, dtype=np.float32)
    write_tensors(path / "model.safetensors", {"vectors": (2 * ROWS).astype(np.int8), "scale": scale})
    (path / "config.json").write_text(json.dumps({"kind": "static"}), encoding="utf-8")
    return path


def test_the_table_gives_the_vectors_of_the_encoder(folder: Path):
    encoder = StaticEncoder.load(folder)
    rows = weighted_rows(encoder)
    np.testing.assert_array_equal(rows, ROWS)
    texts = ["cats sleep", "sleep", "cats day", "night night cats"]
    ids = [list(encoder.tokeniser.flat([text])[0]) for text in [*texts]] + [[]]
    vectors = StaticTable(rows).eval()(*pad(ids)).detach().numpy()
    np.testing.assert_allclose(vectors, encoder.encode([*texts, ""]), atol=1e-6)
    np.testing.assert_allclose(vectors[0], [0.6, 0.8], atol=1e-6)  # (3, 4) / 5


def outcomes(vectors: torch.Tensor) -> set[tuple[int, ...]]:
    """Distinct rows, in tenths."""
    return {tuple(row) for row in (vectors * 10).round().int().tolist()}


def test_dropout_leaves_tokens_out_in_training_alone():
    table = StaticTable(ROWS, dropout=0.5)
    tokens, mask = pad([[1, 2]] * 200)
    torch.manual_seed(0)
    assert outcomes(table.train()(tokens, mask)) == {(6, 8), (10, 0), (0, 10), (0, 0)}
    assert outcomes(table.eval()(tokens, mask)) == {(6, 8)}


def test_a_new_word_starts_as_the_sum_of_its_pieces(word_pieces: Path):
    from qa_core.encoders.tokenisers import SubwordTokeniser

    rows = np.arange(24, dtype=np.float32).reshape(12, 2)
    encoder = StaticEncoder(SubwordTokeniser.load(word_pieces), rows, np.ones(12, dtype=np.float32), "")
    content = with_words(read_tokeniser(word_pieces), ["unhappy"])
    extended = extended_rows(encoder, ["unhappy"])
    np.testing.assert_array_equal(extended[12], rows[6] + rows[7])  # un, ##happy
    tokeniser = SubwordTokeniser.of(json.dumps(content))
    assert tokeniser.flat(["unhappy cats"])[0].tolist() == [12, 4]
    assert encoder.tokeniser.flat(["unhappy cats"])[0].tolist() == [6, 7, 4]
    assert extended_rows(encoder, []) is not None


def test_saved_and_loaded(folder: Path, tmp_path: Path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(6, 16)).astype(np.float32)
    rows[0] = 0
    content = with_words(read_tokeniser(folder), ["dawn"])
    out = tmp_path / "out"
    save_static(out, tokeniser=content, rows=rows, words=["catnap"], card="# card", made_with={"seed": 3})
    encoder = StaticEncoder.load(out)
    assert weights_match(out)
    assert encoder.knows("dawn")
    assert encoder.knows("catnap")
    assert not encoder.knows("dusk")
    expected = rows[[1, 5]].sum(0)
    cosine = float(encoder.encode(["cats dawn"])[0] @ expected / np.linalg.norm(expected))
    assert cosine > 0.9995  # eight bits a number
    before = sha256(out / "config.json")
    save_static(out, tokeniser=content, rows=rows * 2, words=[], card="# card", made_with={"seed": 4})
    assert sha256(out / "config.json") != before
    assert StaticEncoder.load(out).fingerprint != encoder.fingerprint


def test_what_cannot_be_saved_or_added(folder: Path, tmp_path: Path):
    with pytest.raises(ValueError, match="finite vectors"):
        save_static(tmp_path / "x", tokeniser={}, rows=ROWS * np.nan, words=[], card="", made_with={})
    with pytest.raises(ValueError, match="'cats', which is a token already"):
        with_words(read_tokeniser(folder), ["cats"])
    with pytest.raises(ValueError, match=r"got Unigram; set new_words = 0"):
        with_words({"model": {"type": "Unigram", "vocab": []}}, ["cats"])
