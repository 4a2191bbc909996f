from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.networks.vocabulary import END, PAD, START, UNKNOWN, Vocabulary


def test_from_counts_takes_the_most_frequent_words_ties_in_alphabetical_order() -> None:
    counts = Counter({"b": 5, "c": 2, "a": 2, "rare": 1, "z": 2})
    assert Vocabulary.from_counts(counts, size=5, minimum=2).tokens == (PAD, UNKNOWN, "b", "a", "c")


def test_special_tokens_are_not_repeated_where_the_text_has_them() -> None:
    vocabulary = Vocabulary.from_counts({UNKNOWN: 9, "a": 1}, size=9, specials=(PAD, UNKNOWN, START, END))
    assert vocabulary.tokens == (PAD, UNKNOWN, START, END, "a")


def test_a_size_below_the_special_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at least 2 .* but got 1"):
        Vocabulary.from_counts({}, size=1)


def test_unknown_words_get_unk_or_nothing() -> None:
    assert Vocabulary((UNKNOWN, "a")).ids(["a", "b", "a"]) == [1, 0, 1]
    assert Vocabulary(("x", "a")).ids(["a", "b", "a"]) == [1, 1]


def test_words_of_numbers() -> None:
    vocabulary = Vocabulary((UNKNOWN, "a"))
    assert vocabulary.words([1, 0]) == ["a", UNKNOWN]
    assert "a" in vocabulary
    assert "b" not in vocabulary
    assert len(vocabulary) == 2
    for number in (-1, 2):
        with pytest.raises(IndexError, match=f"from 0 to 1, but got {number}"):
            vocabulary.words([number])


def test_duplicates_are_named() -> None:
    with pytest.raises(ValueError, match="'a' as word 1 and word 3"):
        Vocabulary(("a", "b", "a"))


@given(st.lists(st.text(min_size=1).filter(lambda word: "\n" not in word and word.isprintable()), unique=True))
def test_saved_and_loaded_is_equal(tmp_path_factory: pytest.TempPathFactory, tokens: list[str]) -> None:
    path = tmp_path_factory.mktemp("vocabulary") / "words.txt"
    vocabulary = Vocabulary(tuple(tokens))
    vocabulary.save(path)
    assert Vocabulary.load(path) == vocabulary


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\n\nb\n", "'' as word 2"),
        (b"a\nb\na\n", "'a' as word 1 and word 3"),
        (b"a\nb\n\xff\n", "0xff in line 3"),
        (b"a\nb", "truncated"),
    ],
)
def test_broken_files_are_refused_with_their_line(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message) as caught:
        Vocabulary.load(path)
    assert str(path) in str(caught.value)
