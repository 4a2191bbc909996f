import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.relations.keywords import KeywordMatcher, PredicateWords, iri_words, keywords, single_best
from kg_index.relations.template_text import NO_PATH


@pytest.mark.parametrize(
    ("iri", "expected"),
    [
        ("/people/person/place_of_birth", "people person place of birth"),
        ("http://rdf.freebase.com/ns/film.film.directed_by", "film directed by"),
        ("http://dbpedia.org/ontology/birthPlace", "birth place"),
        ("http://example.org/a#hasISOCode", "has iso code"),
        ("http://g/ns/film.actor.film..film.performance.film", "film actor film performance film"),
        ("http://schema.org/description", "description"),
        ("urn:p", "urn p"),
        ("http://g", "http g"),
    ],
)
def test_words_of_an_iri(iri: str, expected: str) -> None:
    assert PredicateWords()(iri) == expected


@pytest.mark.parametrize(
    ("iri", "expected"),
    [
        ("http://rdf.freebase.com/ns/people.person.place_of_birth", "person place of birth"),
        ("http://rdf.freebase.com/ns/film.actor.film..film.performance.film", "actor film"),
        ("/people/person/gender", "person gender"),
        ("http://g/author", "author"),
        ("http://dbpedia.org/ontology/birthPlace", "birth place"),
        ("http://example.org/a#hasISOCode", "has iso code"),
        ("P19", "p19"),
        ("http://g", "http g"),
    ],
)
def test_last_words_of_an_iri(iri: str, expected: str) -> None:
    assert PredicateWords(last=True)(iri) == expected


def test_labels_come_first_and_inverse_ids_share_them() -> None:
    words = PredicateWords({"http://w/P19": "place of birth", "P36": "capital", "http://x/p": ""})
    assert words("http://w/P19") == words("^http://w/P19") == words("http://w/R19") == "place of birth"
    assert words("R36") == "capital"
    assert words("http://x/p") == "p"


def test_a_path_has_the_words_of_its_steps() -> None:
    assert PredicateWords()("http://x/birthPlace / ^http://x/capital") == "birth place capital"
    assert PredicateWords()(NO_PATH) == ""


def test_words_of_asking_are_no_keywords() -> None:
    assert keywords("what is the name of the <m> directors") == {"director"}


def test_overlap_and_jaccard_by_hand() -> None:
    pool = ["/film/film/directed_by", "/film/film/genre", "/a/b"]
    template = "which film director made <m>"  # film, director → "director", made
    (counted,) = KeywordMatcher(jaccard=False).score([template], [pool])
    assert counted.tolist() == [1, 1, 0]  # film; "directed" has another stem than "director"
    (shared,) = KeywordMatcher().score([template], [pool])
    np.testing.assert_allclose(shared, [1 / 4, 1 / 4, 0])  # film of film, director, made, direct or genre
    assert KeywordMatcher().overlap(template, "/film/film/genre") == 1


def test_plain_words_are_counted_as_written() -> None:
    """Wang (2018), ch. 4.3.5: the number of overlapping words, stop words too, each word once."""
    plain = KeywordMatcher(plain=True)
    (counts,) = plain.score(["films of <m>"], [["/film/film/genre", "/x/films", "/x/place_of_films"]])
    assert counts.tolist() == [0, 1, 2]
    (tied,) = plain.score(["who is the author of <m>"], [["book.author", "book.author.works_written_by_author_name"]])
    assert tied.tolist() == [1, 1]
    assert plain.overlap("the place of birth of <m>", "/people/person/place_of_birth") == 3


def test_a_match_is_one_and_above_zero() -> None:
    assert single_best(np.array([0.1, 0.3, 0.2])) == 1
    assert single_best(np.array([0.3, 0.3, 0.2])) is None
    assert single_best(np.zeros(3)) is None
    assert single_best(np.zeros(0)) is None


@given(st.text())
def test_any_text_has_words(text: str) -> None:
    assert all(word and word == word.lower() for word in iri_words(text))
    assert isinstance(PredicateWords()(text), str)
