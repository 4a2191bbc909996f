from __future__ import annotations

import pytest
import Stemmer

from qa_core.text.function_words import WORD_LISTS
from qa_core.text.languages import LANGUAGES, analysis_language, language_code


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("de", "de"),
        ("de-AT", "de"),
        ("de_DE.UTF-8", "de"),
        ("deu", "de"),
        ("ger", "de"),
        (" German ", "de"),
        ("Français", "fr"),
        ("nb-NO", "no"),
        ("nn", "no"),
        ("zh-Hant-TW", "zh"),
        ("yue", ""),
        ("und", ""),
        ("x-default", ""),
        ("", ""),
        ("klingon language", ""),
    ],
)
def test_declared_languages(tag: str, code: str) -> None:
    assert language_code(tag) == code


def test_every_stemmer_exists_and_most_languages_have_function_words() -> None:
    assert {language.stemmer for language in LANGUAGES.values()} <= set(Stemmer.algorithms())
    assert len(LANGUAGES) > 30
    assert {"de", "es", "fr", "it", "nl", "pt"} <= WORD_LISTS.keys()


def test_languages_without_stemmer_are_analysed_as_english() -> None:
    assert [analysis_language(code) for code in ("de", "ja", "", "xx")] == ["de", "en", "en", "en"]
