"""Word pieces of a further language, over words whose pieces can be seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.fit.language.pieces import PieceConfig, choose_pieces, cut, frequencies, with_sharp_s

LETTERS = set("abcdefghijklmnopqrstuvwxyz")
KNOWN = LETTERS | {f"##{letter}" for letter in LETTERS} | {"book", "read", "##er"}
GERMAN = {"buch": 1e-3, "bucher": 1e-3, "lesen": 1e-3, "vorlesen": 5e-4}
CONFIG = PieceConfig(pieces=20, candidates=80, least_count=1, damping=1.0)


def test_frequent_words_become_pieces() -> None:
    pieces = choose_pieces(KNOWN, GERMAN, {"book": 1e-3}, CONFIG)
    assert {"buch", "lesen"} <= set(pieces)
    assert not KNOWN & set(pieces)
    assert cut("buch", KNOWN | set(pieces)) == ["buch"]


def test_a_piece_that_cuts_english_words_otherwise_is_left_out() -> None:
    assert "buch" not in choose_pieces(KNOWN, GERMAN, {"buchanan": 1e-3}, CONFIG)
    rare = choose_pieces(KNOWN, GERMAN, {"buchanan": 1e-7}, CONFIG)
    assert "buch" in rare


def test_the_most_used_pieces_are_kept() -> None:
    few = choose_pieces(KNOWN, {"lesen": 1e-3, "zebra": 1e-8}, {}, PieceConfig(pieces=1, candidates=90, least_count=1))
    assert len(few) == 1
    assert few[0] in "lesen"


def test_words_are_cut_into_the_longest_pieces() -> None:
    assert cut("reader", KNOWN) == ["read", "##er"]
    assert cut("ab", KNOWN) == ["a", "##b"]
    assert cut("aß", KNOWN) == []


@given(st.text(alphabet="abcdeß", max_size=12))
def test_pieces_join_to_the_word(word: str) -> None:
    assert "".join(piece.removeprefix("##") for piece in cut(word, KNOWN)) in (word, "")


def test_shares_of_words_that_are_written_alike_are_added() -> None:
    assert frequencies(["Über\t0.2", "uber\t0.1", "4you\t0.5"], lambda word: word.lower().replace("ü", "u")) == {
        "uber": pytest.approx(0.3)
    }
    with pytest.raises(ValueError, match=r"Line 2: expected `word<TAB>share`, but got 'zwei'"):
        frequencies(["eins\t0.1", "zwei"], str.lower)


def test_the_share_of_a_word_is_divided_among_its_spellings() -> None:
    shares = with_sharp_s({"strasse": 0.8, "wasser": 0.1}, {"straße": 6, "strasse": 1, "wasser": 9, "fuß": 2})
    assert shares == {"strasse": pytest.approx(0.2), "straße": pytest.approx(0.6), "wasser": 0.1}
