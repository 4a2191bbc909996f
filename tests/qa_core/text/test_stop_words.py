from __future__ import annotations

from qa_core.text.stop_words import STOP_WORDS


def test_stop_words_are_function_words_and_contractions() -> None:
    assert {"the", "don't", "she's", "of"} <= STOP_WORDS
    assert not {"gluten", "no-one", ""} & STOP_WORDS
