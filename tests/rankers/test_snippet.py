"""Snippets by hand."""

from hypothesis import given
from hypothesis import strategies as st

from rankers.snippet import LENGTH, snippet


def test_a_snippet_is_the_window_with_the_most_distinct_asked_terms():
    text = "Cats eat. Dogs run and run. Cats run. Birds fly home."
    query_terms = {"cats", "run"}

    def analyse(sentence):
        return sentence.lower().strip(".").split()

    assert snippet(text, query_terms, analyse=analyse, length=28) == "Cats eat. Dogs run and run."  # both terms, first
    assert snippet(text, query_terms, analyse=analyse, length=17) == "Cats run."
    assert snippet(text, {"fly"}, analyse=analyse, length=26) == "Cats run. Birds fly home."
    assert snippet(text, analyse=analyse, length=28) == "Cats eat. Dogs run and run."


def test_a_short_text_is_its_own_snippet():
    assert snippet(" Short one. ", {"one"}, analyse=str.split) == "Short one."


def test_a_long_sentence_is_cut():
    assert snippet("word " * 100, {"word"}, analyse=str.split) == ("word " * 60).strip()


@given(st.text(max_size=900), st.frozensets(st.text(min_size=1, max_size=3), max_size=3))
def test_a_snippet_is_a_stretch_of_the_text(text, query_terms):
    stretch = snippet(text, query_terms, analyse=str.split)
    assert stretch in text
    assert len(stretch) <= LENGTH
