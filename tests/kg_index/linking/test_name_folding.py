from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.linking.name_folding import LONGEST_WORD, is_function_name, key_of, looks_like_name, name_words

SIGNS = list("aZ09 ßİıé\u0301ﬁ½東京タ\u3099กำשלום\u05b0عربي\u0651🍎\u200d'’-_.+#C\ud800")
ODD = st.text(st.one_of(st.sampled_from(SIGNS), st.characters()), max_size=60)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Beyoncé–Knowles", "beyonce knowles"),
        ("Beyonce\u0301  KNOWLES", "beyonce knowles"),
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("İstanbul", "istanbul"),
        ("ISTANBUL", "istanbul"),
        ("ﬁnance", "finance"),
        ("O’Neill", "o neill"),
        ("AC/DC", "ac dc"),
        ("J.K. Rowling", "j k rowling"),
        ("J. K. Rowling", "j k rowling"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("1+1", "1 1"),
        ("Denton_Texas", "denton texas"),
        ("東京", "東 京"),
        ("שלום עולם", "שלום עולם"),
        ("🍎", ""),
        ("?!", ""),
        ("", ""),
    ],
)
def test_a_key_is_what_all_spellings_share(name: str, key: str) -> None:
    assert key_of(name) == key


def test_words_keep_their_places_though_folding_changes_lengths() -> None:
    text = "Große İzmir, cafe\u0301 🍎 東京x"
    assert [(text[w.start : w.end], w.folded) for w in name_words(text)] == [
        ("Große", "grosse"),
        ("İzmir", "izmir"),
        ("cafe\u0301", "cafe"),
        ("東", "東"),
        ("京", "京"),
        ("x", "x"),
    ]


@given(ODD)
def test_words_stand_in_order_and_a_key_is_its_own_key(text: str) -> None:
    words = name_words(text)
    assert all(a.end <= b.start for a, b in pairwise(words))
    assert all(word.folded and 0 <= word.start < word.end <= len(text) for word in words)
    assert key_of(key_of(text)) == key_of(text)


@given(ODD)
def test_case_makes_no_difference(text: str) -> None:
    assert key_of(text.casefold()) == key_of(text)


def test_a_word_without_end_is_cut() -> None:
    assert key_of("x" * 1_000_000) == "x" * LONGEST_WORD
    assert len(key_of("e" + "\u0301\u0323" * 500_000)) == 1


@pytest.mark.parametrize(("name", "yes"), [("it", True), ("the who", True), ("x", True), ("the wall", False)])
def test_names_of_stop_words(name: str, yes: bool) -> None:
    assert is_function_name(name) is yes


@pytest.mark.parametrize(
    ("text", "name", "yes"),
    [
        ("When was The Who founded?", "The Who", True),
        ("when was the who founded?", "the who", False),
        ("When was the Who founded?", "the Who", False),
        ("Who wrote It?", "It", True),
        ("It rains. It pours.", "It", False),
        ("Is this right? It is.", "It", False),
        ('who wrote "it"?', "it", True),
        ("who wrote “it”?", "it", True),
        ("WHO WROTE IT", "IT", False),
        ("The Who", "The Who", False),  # nothing beside it tells
    ],
)
def test_what_is_written_as_a_name(text: str, name: str, yes: bool) -> None:
    start = text.rindex(name)
    assert looks_like_name(text, start, start + len(name)) is yes
