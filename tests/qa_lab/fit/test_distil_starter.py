import json
from pathlib import Path

import numpy as np

from qa_core.encoders.static_encoder import StaticEncoder, weights_match
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_lab.fit.distil_starter import DistilConfig, extended, principal_directions, read_synsets, write


def test_synsets_give_words_and_gloss(tmp_path: Path) -> None:
    for part in ("verb", "adj", "adv"):
        (tmp_path / f"data.{part}").write_text("  1 a licence  \n", encoding="latin-1")
    line = (
        "00001740 03 n 0b feline 0 true_cat(p) 0 "
        + "cat 0 " * 9
        + '001 @ 00000002 n 0000 | a small animal; "my cat"  \n'
    )
    (tmp_path / "data.noun").write_text(line, encoding="latin-1")
    ((words, gloss),) = read_synsets(tmp_path)
    assert words == ["feline", "true cat", *["cat"] * 9]
    assert gloss == 'a small animal; "my cat"'


def test_frequent_words_become_tokens(word_pieces: Path, tmp_path: Path) -> None:
    texts = ["Unhappy cats, unhappy days.", "days do un to zebras", "happyunhappy day"]
    pieces = SubwordTokeniser.load(word_pieces)
    content, words = extended(word_pieces, pieces, texts, DistilConfig(words=3))
    # twice: unhappy (2 pieces) before days (unknown, 1); once: happyunhappy, zebras (unknown, 1), by name
    assert words == ["unhappy", "days", "happyunhappy"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    tokeniser = SubwordTokeniser.load(tmp_path)
    assert tokeniser.knows("unhappy")
    assert tokeniser.flat(["cats unhappy"])[0].tolist() == [4, 12]


def test_principal_directions_keep_a_plane() -> None:
    rng = np.random.default_rng(0)
    plane = np.linalg.qr(rng.normal(size=(5, 2)))[0]  # (5, 2)
    vectors = (rng.normal(size=(40, 2)) @ plane.T).astype(np.float32)
    basis = principal_directions(vectors, 2)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-5)
    np.testing.assert_allclose(vectors @ basis @ basis.T, vectors, atol=1e-5)


def test_what_is_written_can_be_opened(word_pieces: Path) -> None:
    table = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
    table[1] = 0
    write(word_pieces, table, made_with={"seed": 0})
    encoder = StaticEncoder.load(word_pieces)
    assert weights_match(word_pieces)
    expected = table[4] / np.linalg.norm(table[4])
    np.testing.assert_allclose(encoder.encode(["cats"])[0], expected, atol=0.01)
    assert encoder.encode(["zebra"]).tolist() == [[0, 0, 0, 0]]
