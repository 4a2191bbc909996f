"""Cutting texts into passages: at sentences, with overlap, within a limit."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.documents.cutting.plain_passages import cut


def by_full_stop(text):
    return [match.span() for match in re.finditer(r"[^.\s][^.]*\.?", text)]


def texts(text, spans):
    return [text[start:end] for start, end in spans]


def test_text_that_fits_stays_whole():
    assert cut("  One. Two. \n", characters=9, sentences=by_full_stop) == [(2, 11)]
    assert cut("  One. Two. \n", characters=9, sentences=lambda text: pytest.fail("needs no sentences")) == [(2, 11)]


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_white_space_has_no_passage(text):
    assert cut(text, sentences=by_full_stop) == []


def test_cuts_at_sentences_without_overlap():
    text = "Aaaa. Bbbb. Cccc. Dddd."
    assert texts(text, cut(text, characters=11, overlap=0, sentences=by_full_stop)) == ["Aaaa. Bbbb.", "Cccc. Dddd."]


def test_repeats_the_last_sentence():
    text = "Aaaa aa. B. Cccc cc. D. Eeee."
    # room 12: "B." (2) is within a third of it, so the next passage begins with it
    assert texts(text, cut(text, characters=12, sentences=by_full_stop)) == ["Aaaa aa. B.", "B. Cccc cc.", "D. Eeee."]


def test_overlap_over_a_third_of_the_room_is_left_out():
    text = "Aaaa. Bbbb. Cccc."
    assert texts(text, cut(text, characters=12, sentences=by_full_stop)) == ["Aaaa. Bbbb.", "Cccc."]


def test_two_sentences_of_overlap():
    text = "Aaaa aaaa aaaa. B. C. Dddd dddd dddd."
    spans = cut(text, characters=21, overlap=2, sentences=by_full_stop)
    assert texts(text, spans) == ["Aaaa aaaa aaaa. B. C.", "B. C. Dddd dddd dddd."]


def test_long_sentence_is_cut_at_words_and_a_long_word_anywhere():
    text = "one two three abcdefghijkl z"
    spans = cut(text, characters=8, overlap=0, sentences=by_full_stop)
    assert texts(text, spans) == ["one two", "three", "abcdefgh", "ijkl z"]


def test_default_sentences():
    text = "The first sentence stands here. " * 40
    spans = cut(text)
    assert len(spans) == 2
    assert all(passage.startswith("The first") and passage.endswith("here.") for passage in texts(text, spans))


@pytest.mark.parametrize(("characters", "overlap"), [(0, 1), (10, -1)])
def test_impossible_options(characters, overlap):
    with pytest.raises(ValueError, match="Expected characters ≥ 1"):
        cut("text", characters=characters, overlap=overlap)


@given(
    text=st.text(st.sampled_from("ab .\n猫"), max_size=200),
    characters=st.integers(1, 40),
    overlap=st.integers(0, 3),
    bounds=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=10),
)
def test_invariants_for_any_sentences(text, characters, overlap, bounds):
    spans = cut(text, characters=characters, overlap=overlap, sentences=lambda _: bounds)
    assert all(0 < end - start <= characters for start, end in spans)
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    assert spans == sorted(set(spans))
    assert all(one[1] < other[1] for one, other in pairwise(spans))
    covered = {position for start, end in spans for position in range(start, end)}
    assert {position for position, character in enumerate(text) if not character.isspace()} <= covered
