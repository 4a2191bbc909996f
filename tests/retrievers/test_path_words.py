"""Words of a question that only the path of a document has."""

import math

import pytest

from qa_core.types import Clue, Details, Passage, Place, Question, Source
from retrievers.formulate import formulate
from retrievers.path_words import parts_in_path, share_in_path, words_in_path
from retrievers.question_terms import SearchLanguages

GERMAN = SearchLanguages("de", ("de", "en"))


@pytest.mark.parametrize(
    ("text", "path", "language", "expected"),
    [
        ("Who leads rail.one?", "railone/statutes/statutes.md", "en", ["rail.one"]),
        ("Prices of the Moov-Duo", "manuals/moov_duo.pdf", "en", ["Moov-Duo"]),
        ("Prices of the MoovDuo", "MoovDuo/prices.pdf", "en", ["Prices", "MoovDuo"]),
        ("Frist beim Berliner Ruderverband?", "ruderverband-berlin/ordnung.tex", "de", ["Berliner", "Ruderverband"]),
        ("Frist der Energie Bösingen?", "energie-boesingen/satzung.md", "de", ["Energie", "Bösingen"]),
        ("Wo ist die Straße?", "Strasse.md", "de", ["Straße"]),
        ("What is in the md?", "a/b.md", "en", []),
        ("Is it at example.com?", "https://example.com/it", "en", []),
        ("Fees", "", "en", []),
    ],
)
def test_names_are_compared_without_their_marks(text, path, language, expected):
    assert words_in_path(text, path, language) == expected


def test_a_name_is_covered_with_its_parts():
    assert parts_in_path("Who leads rail.one?", "railone/statutes.md", "en") == {"rail", "one"}


def test_a_word_of_the_path_counts_by_its_rarity_if_nothing_else_has_it():
    rarity = {"vorstand": 1.0, "ruderclub": 3.0}
    formulation = formulate(Question("Vorstand Ruderclub"), languages=GERMAN)

    def share(text: str, path: str) -> float:
        source = Source("a", title="Satzung", details=Details(path=path, language="de"))
        passage = Passage("a#0", text, Clue(), source, Place())
        return share_in_path(formulation, passage, lambda term: rarity[term])

    assert math.isclose(share("Der Vorstand hat drei Mitglieder.", "ruderclub/satzung.md"), 0.75)
    assert share("Der Ruderclub hat einen Vorstand.", "ruderclub/satzung.md") == 0.0
    assert share("Der Vorstand hat drei Mitglieder.", "kegelclub/satzung.md") == 0.0
