from __future__ import annotations

from qa_core.text.abbreviations import ENGLISH, sentence_rules


def test_a_language_without_abbreviations_has_the_rules_of_english() -> None:
    assert sentence_rules("en") is sentence_rules("ja") is sentence_rules("") is ENGLISH


def test_german_rules() -> None:
    rules = sentence_rules("de")
    assert {"bzw", "nr", "abs", "dr"} <= rules.never
    assert "usw" in rules.seldom - rules.never
    assert {"Der", "Wir"} <= rules.starters
    assert rules.ordinals
