"""Synonyms of German words in the forms that people type."""

import pytest

from qa_core.text.analysis import terms
from qa_core.types import Question
from retrievers.formulate import formulate
from retrievers.german_synonyms import WEIGHT, known_synonyms, searched_synonyms, synonym_terms
from retrievers.question_terms import SearchLanguages

GERMAN = SearchLanguages("de", ("de", "en"))


class Known:
    """A collection that has the words of a text, in German."""

    def __init__(self, text: str) -> None:
        self._terms = set(terms(text, "de"))

    def document_frequency(self, _field: str, term: str) -> int:
        return int(term in self._terms)


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


@pytest.mark.parametrize(
    ("question", "known", "synonyms"),
    [
        ("Was gilt bei einer Pleite?", "Insolvenz", {"pleit": {"insolvenz"}}),
        ("Was gilt bei einer Pleite?", "Insolvenz, Konkurs", {"pleit": {"insolvenz", "konkur"}}),
        ("Was gilt bei einer Pleite?", "Insolvenz und Pleite", {}),  # some document has the word
        ("Was gilt bei einer Pleite?", "Hund", {}),
        ("Darf ich das absetzen?", "Verkauf und abziehen", {}),  # verbs have too many senses
        ("Was gilt beim Putzen?", "laut, sauber und klar", {}),  # only nouns are synonyms of nouns
    ],
)
def test_a_noun_that_no_document_has_is_searched_by_its_synonyms(question, known, synonyms):
    formulation = formulate(Question(question), languages=GERMAN)
    assert known_synonyms(formulation, Known(known)) == synonyms


def test_the_weight_of_a_word_is_shared_by_its_synonyms():
    formulation = formulate(Question("Was gilt bei einer Pleite?"), languages=GERMAN)
    assert searched_synonyms(formulation, Known("Insolvenz")) == {"insolvenz": WEIGHT}
    two = searched_synonyms(formulation, Known("Insolvenz, Konkurs"))
    assert two == {term: pytest.approx(WEIGHT / 2**0.5) for term in ("insolvenz", "konkur")}


@pytest.mark.parametrize("languages", [SearchLanguages("en", ("en", "de")), SearchLanguages("de", ("en",))])
def test_other_languages_have_no_german_synonyms(languages):
    formulation = formulate(Question("Was gilt bei einer Pleite?"), languages=languages)
    assert known_synonyms(formulation, Known("Insolvenz")) == {}
