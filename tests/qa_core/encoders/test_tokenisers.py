import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.encoders.word_pieces import is_usual


def test_flat_joins_texts_and_counts_their_tokens(word_pieces: Path) -> None:
    tokeniser = SubwordTokeniser.load(word_pieces)
    ids, lengths = tokeniser.flat(["Cats sleep", "", "unhappy cats"])
    assert ids.tolist() == [4, 5, 6, 7, 4]
    assert lengths.tolist() == [2, 0, 3]


def test_one_text_is_cut_as_many_are(word_pieces: Path) -> None:
    tokeniser = SubwordTokeniser.load(word_pieces)
    assert tokeniser.flat(["unhappy day"])[0].tolist() == tokeniser.flat(["unhappy day", "cats"])[0].tolist()[:3]


def test_sequences_carry_special_tokens_and_end_at_the_limit(word_pieces: Path) -> None:
    tokeniser = SubwordTokeniser.load(word_pieces, max_length=4)
    assert tokeniser.sequences(["cats", "cats sleep unhappy"]) == [[2, 4, 3], [2, 4, 5, 3]]


def test_truncation_set_in_the_file_does_not_count(word_pieces: Path) -> None:
    path = word_pieces / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["truncation"] = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    path.write_text(json.dumps(content), encoding="utf-8")
    tokeniser = SubwordTokeniser.load(word_pieces)
    assert tokeniser.sequences(["cats sleep day"]) == [[2, 4, 5, 8, 3]]


@pytest.mark.parametrize(("word", "known"), [("cats", True), ("Cats", True), ("unhappy", False), ("zebra", False)])
def test_a_word_is_known_when_it_is_one_token(word_pieces: Path, word: str, known: bool) -> None:
    assert SubwordTokeniser.load(word_pieces).knows(word) is known


def test_a_listed_word_is_known_too(word_pieces: Path) -> None:
    (word_pieces / "words.txt").write_text("unhappy\n", encoding="utf-8")
    tokeniser = SubwordTokeniser.load(word_pieces)
    assert tokeniser.knows("Unhappy")
    assert not tokeniser.knows("unday")


def test_a_missing_tokeniser_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"Expected a tokenizer at .*tokenizer\.json"):
        SubwordTokeniser.load(tmp_path)


def test_a_damaged_tokeniser_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"Expected a tokenizer in .*tokenizer\.json, but got"):
        SubwordTokeniser.load(tmp_path)


STARTER = SubwordTokeniser.load(Path(__file__).parents[3] / "qa_bot/home/starter/encoder", max_length=8_192)
TRANSFORMER = SubwordTokeniser.load(Path(__file__).parents[3] / "qa_bot/home/starter/transformer", max_length=16)
TYPOGRAPHIC = "“”‘’–—…•«»‹›ÀÖØöøÿßæ×÷ª°€§½→\u2011\u202fŁńΣςЖй🔒⚙\ufe0f\u200b\u0301"
ASCII = "abzAZ09 _-'.,[]#@`~^|\\\t\n\r\v\x00\x1c\x7f"
SIGNS = st.sampled_from([*ASCII, *TYPOGRAPHIC, "é", "ß", "日", "\u00a0", "[UNK]", "[CLS]", "unhappiness", "x" * 120])


@given(st.lists(st.lists(SIGNS).map("".join), min_size=2))
def test_many_texts_have_the_ids_of_each(texts: list[str]) -> None:
    ids, lengths = STARTER.flat(texts)
    expected = [STARTER.tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    assert lengths.tolist() == [len(row) for row in expected]
    assert ids.tolist() == [id_ for row in expected for id_ in row]


@given(st.lists(SIGNS).map("".join))
def test_sequences_and_spans_are_those_of_the_library(text: str) -> None:
    encoding = TRANSFORMER.tokenizer.encode(text)
    assert TRANSFORMER.pieces is not None
    assert TRANSFORMER.sequences([text, "cats"]) == [encoding.ids, [101, 8870, 102]]
    assert TRANSFORMER.spans(text) == encoding.offsets


def test_every_sign_of_a_usual_text_is_cut_as_by_the_library() -> None:
    signs = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and is_usual(chr(code))]
    assert len(signs) > 4_000
    texts = [f"a{sign}b {sign} {sign}{sign}z" for sign in signs]
    assert TRANSFORMER.sequences(texts) == [one.ids for one in TRANSFORMER.tokenizer.encode_batch(texts)]


@given(SIGNS)
def test_the_library_knows_the_same_words(word: str) -> None:
    ids = STARTER.tokenizer.encode(word, add_special_tokens=False).ids
    assert STARTER.knows(word) is (len(ids) == 1 and ids[0] != 100)
