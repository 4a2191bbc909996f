import json
import shutil
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.home.starter import ENCODER, TRANSFORMER
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.encoders.word_pieces import FILE, WordPieces, is_usual, write_vocabulary

SHIPPED = {folder.name: SubwordTokeniser.load(folder, max_length=8_192) for folder in (ENCODER, TRANSFORMER)}
LETTERS = st.text(string.ascii_letters + string.digits + "ÀÉÎÖÜßàçéñöøüÿæÞð", max_size=130)


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_vocabulary_is_that_of_its_tokeniser(name: str) -> None:
    tokeniser = SHIPPED[name]
    pieces, vocabulary = tokeniser.pieces, tokeniser.tokenizer.get_vocab()
    assert pieces is not None, "run `write_vocabulary` after a change of tokenizer.json"
    assert tokeniser.size == len(vocabulary)
    usual = {token: id_ for token, id_ in vocabulary.items() if token.isalnum() and is_usual(token)}
    assert len(usual) > 20_000
    assert {token: pieces[token] for token in usual} == {token: [id_] for token, id_ in usual.items()}


@pytest.mark.parametrize("name", SHIPPED)
@given(word=LETTERS)
def test_words_are_cut_as_by_the_library(name: str, word: str) -> None:
    encoding = SHIPPED[name].tokenizer.encode(word, add_special_tokens=False)
    assert SHIPPED[name].pieces[word] == encoding.ids if word else encoding.ids == []


def test_the_longest_piece_comes_first() -> None:
    assert WordPieces.load(TRANSFORMER)["Unhappinesses"] == [4895, 3270, 9397, 9961, 2229]  # un ##ha ##pp ##iness ##es


@pytest.mark.parametrize(
    ("text", "usual"), [("an [old] cat", True), ("a [MASK]", False), ("日", False), ("a" * 9000, False)]
)
def test_texts_of_western_words_are_usual(text: str, usual: bool) -> None:
    assert is_usual(text) is usual


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("tokenizer.json", FILE):
        shutil.copy(TRANSFORMER / name, tmp_path / name)
    return tmp_path


def test_the_vocabulary_of_another_tokeniser_is_not_used(folder: Path) -> None:
    assert WordPieces.load(folder) is not None
    content = (folder / "tokenizer.json").read_text(encoding="utf-8")
    (folder / "tokenizer.json").write_text(content.replace('"cats":8870', '"catz":8870'), encoding="utf-8")
    assert WordPieces.load(folder) is None
    assert SubwordTokeniser.load(folder).sequences(["catz"]) == [[101, 8870, 102]]
    write_vocabulary(folder)
    assert SubwordTokeniser.load(folder).sequences(["catz"]) == [[101, 8870, 102]]


@pytest.mark.parametrize("content", [b"", b"no trie"])
def test_a_damaged_vocabulary_is_not_used(folder: Path, content: bytes) -> None:
    (folder / FILE).write_bytes(content)
    assert WordPieces.load(folder) is None


def test_other_tokenisers_get_no_vocabulary(folder: Path) -> None:
    settings = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    settings["normalizer"]["lowercase"] = False
    (folder / "tokenizer.json").write_text(json.dumps(settings), encoding="utf-8")
    (folder / FILE).unlink()
    write_vocabulary(folder)
    assert not (folder / FILE).exists()
