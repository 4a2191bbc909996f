"""Synonyms of German words in the forms that people type."""

import pytest

from qa_core.text.analysis import terms
from retrievers.german_synonyms import synonym_terms


@pytest.mark.parametrize(
    ("word", "synonym"),
    [
        ("Vierbeiner", "Hund"),
        ("vierbeiner", "Hund"),  # typed without capitals
        ("kriege", "erhalten"),
        ("putzen", "reinigen"),
        ("putzt", "reinigen"),
        ("Grippe", "Influenza"),
    ],
)
def test_forms_have_the_synonyms_of_their_base_form(word, synonym):
    assert terms(synonym, "de")[0] in synonym_terms(word)


@pytest.mark.parametrize("word", ["Qwzx", "", "12", "the"])
def test_unknown_words_have_none(word):
    assert synonym_terms(word) == frozenset()


def test_a_word_is_no_synonym_of_itself():
    assert synonym_terms("Hund").isdisjoint(terms("Hund", "de"))
