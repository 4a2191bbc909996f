import pytest

from retrievers.measured_properties import property_terms
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
