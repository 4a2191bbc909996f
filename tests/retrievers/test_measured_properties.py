import pytest

from retrievers.measured_properties import asking_terms, property_terms
from retrievers.question_terms import ENGLISH_ONLY, SearchLanguages

BOTH = SearchLanguages("de", ("de", "en"))


@pytest.mark.parametrize(
    ("text", "languages", "expected"),
    [
        ("How heavy is the R800, and what does it cost?", ENGLISH_ONLY, ["weight", "price", "fee"]),
        ("Which is louder?", ENGLISH_ONLY, ["nois", "sound"]),
        ("Wie schwer ist die KV 750?", BOTH, ["gewicht"]),
        ("Wie schwer ist die KV 750?", ENGLISH_ONLY, []),
        ("how heavily does it rain", ENGLISH_ONLY, []),
        ("", BOTH, []),
    ],
)
def test_the_names_of_properties(text: str, languages: SearchLanguages, expected: list[str]) -> None:
    assert property_terms(text, languages) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("How big is the steam boiler?", "en", {"big"}),
        ("Wie schwer ist die KV 750?", "de", {"schwer"}),
        ("Wie schwer ist die KV 750?", "en", set()),
        ("Where is the steam boiler?", "en", set()),
    ],
)
def test_the_words_that_ask_for_them(text: str, language: str, expected: set[str]) -> None:
    assert asking_terms(text, language) - {"how", "wie"} == expected
