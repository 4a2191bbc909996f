"""Tiling of passages whose lengths and scores reach every branch."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.answering.tiling.opinions import tile
from qa_core.types import Candidate, Clue, Passage, Signals, Source


def sentences(text):
    return [(m.start(), m.end()) for m in re.finditer(r"[^.\s][^.]*\.?", text)]


def candidate(text, score, document="d", **signals):
    return Candidate(Passage(f"{document}#0", text, Clue(), Source(document)), score, Signals(**signals))


def test_a_long_top_passage_is_alone_and_cut_at_a_sentence_end():
    text = "Alpha beta gamma delta. " * 50  # 1,200 characters, 24 a sentence with its space
    tiling = tile([candidate(text, 1.0), candidate("Another.", 0.99)], limit=1000, sentences=sentences)
    assert len(tiling.tiles) == 1
    assert tiling.text == ("Alpha beta gamma delta. " * 41).rstrip()  # 41 * 24 - 1 = 983 fits, 42 sentences need 1,007
    assert tiling.tiles[0].span == (0, 983)


def test_short_passages_above_ninety_percent_follow_with_their_opinion_number():
    tiling = tile(
        [candidate("One.", 1.0), candidate("Two.", 0.91), candidate("Three.", 0.9), candidate("Four.", 0.89)],
        sentences=sentences,
    )
    assert tiling.text == "One.\n\nOpinion 2: Two."  # .90 is not above 90 %
    assert [t.span for t in tiling.tiles] == [(0, 4), (17, 21)]


def test_scores_that_are_log_odds_are_compared_as_probabilities():
    def tiles(*scores, **signals):
        candidates = [candidate(f"Passage {i}.", score, **signals) for i, score in enumerate(scores)]
        return len(tile(candidates, sentences=sentences).tiles)

    assert tiles(-0.5, -0.5) == 2
    assert tiles(1.0, 0.95) == 2
    # probabilities .119 and .067: the second is half of the first, although -2 > .9 * -2.6
    assert tiles(-2.0, -2.6) == 1
    # .881 and .832 are log-odds of 2 and 1.6: 94 %; as plain scores 80 %
    assert tiles(2.0, 1.6, learned=2.0) == 2
    assert tiles(2.0, 1.6) == 1
    assert tiles(-300.0, -300.0, -1000.0) == 2
    assert tiles(1000.0, 999.0, learned=1000.0) == 2


def test_tiling_ends_when_the_text_is_longer_than_half_the_limit():
    texts = [letter * 299 + "." for letter in "abcd"]
    tiling = tile([candidate(text, 1.0) for text in texts], limit=1000, sentences=sentences)
    assert len(tiling.tiles) == 2  # 300 is not more than 500; 300 + 13 + 300 is


def test_a_later_passage_that_does_not_fit_is_cut_at_a_sentence_or_left_out():
    first = "A" * 449 + "."
    late = "Short one. " + "B" * 700 + "."
    tiling = tile([candidate(first, 1.0), candidate(late, 1.0)], limit=1000, sentences=sentences)
    assert tiling.text.endswith("Opinion 2: Short one.")
    without = tile([candidate(first, 1.0), candidate("C" * 900 + ".", 1.0)], limit=1000, sentences=sentences)
    assert without.text == first


def test_the_same_passage_is_not_repeated():
    tiling = tile([candidate("Same text.", 1.0, "a"), candidate("same  text", 0.99, "b")], sentences=sentences)
    assert len(tiling.tiles) == 1


def test_a_word_longer_than_the_limit_is_cut():
    assert tile([candidate("x" * 3000, 1.0)], limit=1000, sentences=sentences).text == "x" * 1000


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("alpha beta gamma", 10, "alpha beta"),
        ("alpha beta gamma", 9, "alpha"),
        ("alpha beta gamma", 4, "alph"),
        ("alpha beta\ngamma", 10, "alpha beta"),
        ("alpha beta\ngamma", 9, "alpha"),
        ("alpha\nbeta gamma", 9, "alpha"),
        ("  alpha beta gamma", 10, "alpha beta"),
        ("  alpha beta\ngamma", 10, "alpha beta"),
        ("  alphabet", 3, "alp"),
    ],
)
def test_a_sentence_that_does_not_fit_is_cut_after_its_last_whole_word(text, limit, cut):
    assert tile([candidate(text, 1.0)], limit=limit, sentences=sentences).text == cut


def test_no_candidates_give_no_tiles():
    assert tile([], sentences=sentences).text == ""
    assert tile([candidate("   ", 1.0)], sentences=sentences).tiles == ()


passages = st.lists(st.tuples(st.text(max_size=400), st.floats(0.01, 10)), max_size=8)


@given(passages, st.integers(1, 600))
def test_spans_give_the_source_of_every_tile(rows, limit):
    rows.sort(key=lambda row: -row[1])
    ranked = [candidate(text, score, str(i)) for i, (text, score) in enumerate(rows)]
    tiling = tile(ranked, limit=limit, sentences=sentences)
    assert len(tiling.text) <= limit
    for piece in tiling.tiles:
        assert tiling.text[slice(*piece.span)] == piece.candidate.passage.text[slice(*piece.source_span)]
        assert piece.span[0] < piece.span[1]
    assert all(a.span[1] < b.span[0] for a, b in zip(tiling.tiles, tiling.tiles[1:], strict=False))


@pytest.mark.parametrize("limit", [1, 5, 11])
def test_tiny_limits_are_kept(limit):
    assert len(tile([candidate("One two three.", 1.0)], limit=limit, sentences=sentences).text) <= limit
