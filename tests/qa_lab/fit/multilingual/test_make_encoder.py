"""A packed encoder of random weights becomes a folder that the product opens, with fewer words."""

from __future__ import annotations

import gzip
import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from qa_core.encoders.graphs.quantisation import float_weights
from qa_core.encoders.transformer_encoder import MADE_WITH, TransformerEncoder
from qa_lab.fit.multilingual.chosen_pieces import COVERED, chosen_pieces
from qa_lab.fit.multilingual.make_encoder import GRAPH, main, tokeniser_of
from qa_lab.fit.multilingual.packed_encoder import MAGIC, PackedEncoder

pytest.importorskip("transformers", reason="a transformer is converted by the extra 'minilm'")
WIDTH, INNER, HEADS = 128, 256, 2
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁hund", "▁dog", "e", "▁Hund", "12", "猫", "▁chat", "▁selten"]
SCORES = [0.0, 0.0, 0.0, 0.0, -3.0, -4.0, -4.0, -3.5, -5.0, -6.0, -7.0, -5.0, -9.0]
WORDS = 8_200
"""Vectors of words; a table of fewer numbers keeps 8 bits."""


def packed_tensors(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """By the names of the form: matrices and words in blocks of 4 bits, others in float32."""

    def blocks(count: int) -> np.ndarray:
        numbers = np.zeros(count // 32, [("scale", "<f2"), ("numbers", np.uint8, 16)])
        numbers["scale"] = rng.choice([0.25, -0.5], size=count // 32)
        numbers["numbers"] = rng.integers(0, 256, size=(count // 32, 16))
        numbers["numbers"][:, 3] &= 0xF0  # one is −8, the farthest from 0
        return numbers

    tensors = {"emb.word": blocks(WORDS * WIDTH)}
    sizes = {"emb.pos": 64 * WIDTH, "emb.type": 2 * WIDTH, "emb.ln.w": WIDTH, "emb.ln.b": WIDTH}
    for short, (inputs, outputs) in {
        **dict.fromkeys(("q", "k", "v", "ao"), (WIDTH, WIDTH)), "fi": (WIDTH, INNER), "fo": (INNER, WIDTH)
    }.items():  # fmt: skip
        tensors[f"l0.{short}.w"] = blocks(inputs * outputs)
        sizes[f"l0.{short}.b"] = outputs
    sizes |= {f"l0.{norm}.{part}": WIDTH for norm in ("aln", "oln") for part in "wb"}
    return tensors | {name: rng.normal(size=size).astype("<f4") for name, size in sizes.items()}


def pack(path: Path) -> Path:
    letters = [piece.encode() for piece in PIECES]
    head = MAGIC + struct.pack("<I7i", 1, WIDTH, 1, HEADS, INNER, WORDS, 64, 2) + struct.pack("<fi", 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, letters)))
    head += np.cumsum([0, *map(len, letters)]).astype("<u4").tobytes() + np.array(SCORES, "<f4").tobytes()
    head += b"".join(letters) + struct.pack("<iI", 0, 3) + b"\0\0\0"
    tensors = packed_tensors(np.random.default_rng(0))
    entries = [(name.encode(), values) for name, values in tensors.items()]
    start = len(head) + 4 + sum(2 + len(name) + 1 + 4 + 16 for name, _ in entries)
    directory, body = struct.pack("<i", len(entries)), b""
    for name, values in entries:
        count = 32 * values.size if values.dtype.fields else values.size  # a block has 32 numbers
        directory += struct.pack("<H", len(name)) + name + b"\0" + struct.pack("<IQQ", count, start, values.nbytes)
        body += values.tobytes()
        start += values.nbytes
    path.write_bytes(head + directory + body)
    return path


def test_blocks_are_read_low_bits_first(tmp_path: Path) -> None:
    encoder = PackedEncoder.read(pack(tmp_path / "small.bin"))
    assert encoder.pieces == PIECES
    assert encoder.scores == pytest.approx(SCORES)
    assert {"width": WIDTH, "layers": 1, "inner": INNER, "start": 0, "end": 2, "padding": 1, "unknown": 3}.items() <= (
        encoder.settings.items()
    )
    block = packed_tensors(np.random.default_rng(0))["emb.word"][0]
    words, first = encoder.tensors["emb.word"], int(block["numbers"][0])
    assert words.shape == (WORDS * WIDTH,)
    assert words[0] == ((first & 15) - 8) * block["scale"]
    assert words[16] == ((first >> 4) - 8) * block["scale"]
    assert words[3] == -8 * block["scale"]


@pytest.mark.parametrize("length", [3, 40, 300])
def test_another_or_a_torn_file_is_refused(tmp_path: Path, length: int) -> None:
    data = pack(tmp_path / "small.bin").read_bytes()
    (tmp_path / "torn.bin").write_bytes(data[:length])
    with pytest.raises(ValueError, match=r"Expected a packed encoder at .*torn\.bin"):
        PackedEncoder.read(tmp_path / "torn.bin")


def test_pieces_of_frequent_words_are_kept() -> None:
    """ "hund" has 1, "Hund" .5, "selten" .0005 of the German words, which together are covered to .997."""
    encoder = PackedEncoder({"unknown": 3, "start": 0, "end": 2}, PIECES, SCORES, {})
    whole = tokeniser_of(encoder, range(len(PIECES)))
    frequencies = {"de": {"hund": 1.0, "selten": 0.0005}, "en": {"dog": 1.0}}
    chosen = [PIECES[place] for place in chosen_pieces(whole, frequencies, ["chat", "chat", "selten"], specials=4)]
    assert chosen == ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁hund", "▁dog", "e", "▁Hund", "12", "▁chat"]


def test_the_command_writes_an_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed, out = pack(tmp_path / "small.bin"), tmp_path / "out"
    (tmp_path / "words").mkdir()
    for language in COVERED:
        (tmp_path / "words" / f"{language}.tsv").write_text("hund\t1\ndog\t0.9\n")
    document = {"sections": [{"heading": "Chat", "text": "chat", "answered": [{"question": "chat?"}]}]}
    (tmp_path / "reading.gz").write_bytes(gzip.compress(json.dumps(document).encode()))
    paths = {"packed": packed, "frequencies": tmp_path / "words", "reading": tmp_path / "reading.gz"}
    paths |= {"work": tmp_path / "work", "out": out}
    options = [word for name, path in paths.items() for word in (f"--{name}", str(path))]
    monkeypatch.setattr(sys, "argv", ["make_encoder", *options])
    main()
    made_with = json.loads((out / MADE_WITH).read_text())
    vocabulary = Tokenizer.from_file(str(out / "tokenizer.json")).get_vocab()
    assert made_with["pieces"] == len(vocabulary) < len(PIECES)
    encoder = TransformerEncoder.load_prepared(out)
    assert (encoder.layout.question_prompt, encoder.layout.answer_prompt) == ("query: ", "passage: ")
    vectors = encoder.encode(["hund", "dog"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    words = PackedEncoder.read(packed).tensors["emb.word"].reshape(WORDS, WIDTH)
    shipped = float_weights(out / GRAPH)["embeddings.word_embeddings.weight"]
    place = vocabulary["▁hund"]
    np.testing.assert_allclose(shipped[place], words[PIECES.index("▁hund")], atol=0.04)
