"""A small table of tokens is taught a few words of German."""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.encoders.static_encoder import StaticEncoder
from qa_lab.fit.language.add_table_words import main
from qa_lab.fit.language.pieces import with_frequent_words
from qa_lab.fit.language.sources import SampleConfig
from tests.qa_lab.fit.language.test_translations import write_catalogue
from tests.tiny_bert import TINY_WORDS, write_json, write_word_pieces

GERMAN = {"katzen": "cats", "schlafen": "sleep", "tag": "day", "warum": "why", "unfroh": "unhappy"}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    folder = tmp_path / "table"
    write_word_pieces(folder)
    rows = np.random.default_rng(0).integers(-127, 127, (len(TINY_WORDS), 16)).astype(np.int8)
    write_tensors(folder / "model.safetensors", {"vectors": rows, "scale": np.full(len(rows), 0.01, np.float32)})
    write_json(folder / "config.json", {"kind": "static"})
    return folder


def test_german_words_have_the_vectors_of_english_ones(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_word_pieces(tmp_path / "transformer")
    (tmp_path / "de").write_text("".join(f"{word}\t0.001\n" for word in (*GERMAN, "unseen")))
    (tmp_path / "en").write_text("cats\t0.001\n")
    (tmp_path / "ding").write_text("".join(f"{word} :: {english}\n" for word, english in GERMAN.items()))
    pairs = [*GERMAN.items()]
    write_catalogue(
        tmp_path / "programs" / "zoo" / "de" / "zoo.mo",
        {f"{b} {d} {b}": f"{a} {c} {a}" for a, b in pairs for c, d in pairs if a != c},
    )
    options = {
        "language": "de", "encoder": table, "transformer": tmp_path / "transformer", "frequencies": tmp_path / "de",
        "english": tmp_path / "en", "dictionary": tmp_path / "ding", "catalogues": tmp_path / "programs",
        "out": tmp_path / "out", "words": 6, "threads": 1,
    }  # fmt: skip
    monkeypatch.setattr("qa_lab.fit.language.add_table_words.SAMPLE", SampleConfig(held=4))
    monkeypatch.setattr(
        sys,
        "argv",
        ["add_table_words", *(str(part) for name, value in options.items() for part in (f"--{name}", value))],
    )
    main()
    before, after = StaticEncoder.load(table), StaticEncoder.load(tmp_path / "out")
    english, german = ["why do cats sleep", "unhappy day"], ["warum katzen schlafen", "unfroh tag"]
    np.testing.assert_array_equal(before.encode(english), after.encode(english))
    assert after.extends == {before.fingerprint}
    assert all(after.knows(word) for word in GERMAN)
    assert not after.knows("unseen"), "nothing taught it"
    cosines = after.encode(german) @ after.encode(english).T
    assert cosines.diagonal().min() > 0.8
    assert cosines.diagonal().min() > cosines[0, 1]


def test_frequent_words_follow_the_pieces() -> None:
    known, pieces = {"cat", "c", "##a"}, ["##ung", "cat", "lesen"]
    words = {"und": 1e-2, "in": 1e-2, "lesen": 1e-3, "tag": 1e-4, "cats": 1e-6}
    english = {"cats": 1e-3, "tag": 1e-7}
    chosen = partial(with_frequent_words, known, pieces, words, english)
    assert chosen(4) == ["##ung", "lesen", "und", "tag"]
    assert chosen(2) == ["##ung", "lesen"]
