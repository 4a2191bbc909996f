from __future__ import annotations

import pytest

from qa_core.text.function_words import WORD_LISTS, function_words, question_stop_words, stop_words


@pytest.mark.parametrize("language", WORD_LISTS)
def test_lists_of_a_language_grow(language: str) -> None:
    assert stop_words(language) < function_words(language) < question_stop_words(language)
    assert all(word == word.lower() and word.isalpha() for word in question_stop_words(language))


def test_a_language_without_lists_has_no_words() -> None:
    assert stop_words("ja") == function_words("ja") == question_stop_words("ja") == frozenset()


def test_words_of_a_question() -> None:
    assert {"wie", "hoch", "ist", "die"} <= question_stop_words("de")
    assert not {"kilometerpauschale", "urlaub"} & question_stop_words("de")
