"""Refusals in the language of the question."""

from __future__ import annotations

from dataclasses import fields
from string import Formatter

import pytest

from qa_bot.answering.wording.refusals import ENGLISH, REFUSALS, REMARKS, UNKNOWN, Refusals, refusals_for, refusals_of


def places(sentence: str) -> set[tuple[str, str]]:
    return {(name, form or "") for _, name, form, _ in Formatter().parse(sentence) if name}


@pytest.mark.parametrize("language", REFUSALS)
@pytest.mark.parametrize("name", [field.name for field in fields(Refusals)])
def test_every_language_has_every_sentence_with_the_same_places(language: str, name: str) -> None:
    sentence = getattr(REFUSALS[language], name)
    assert sentence.strip()
    assert places(sentence) == places(getattr(ENGLISH, name))


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How high is the mileage allowance?", "en"),
        ("Wie hoch ist das Kilometergeld?", "de"),
        ("Combien de jours de télétravail sont autorisés ?", "fr"),
        ("¿Cuántos días de vacaciones hay para los empleados?", "es"),
        ("Quanti giorni di ferie ha un impiegato?", "it"),
        ("Сколько дней отпуска у сотрудника?", "en"),  # has no table
        ("Los Angeles", "en"),
        ("die hard", "en"),
        ("zxqv blorp wug", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_question(question: str, language: str) -> None:
    assert refusals_for(question) is REFUSALS[language]


def test_two_words_are_answered_in_the_likely_language() -> None:
    assert refusals_for("auch Fernleihen?", "de") is REFUSALS["de"]
    assert refusals_for("How high is the mileage allowance?", "de") is ENGLISH


@pytest.mark.parametrize("language", REFUSALS)
@pytest.mark.parametrize(
    "name", [field.name for field in fields(Refusals)][:-2]
)  # the last two are words inside others
def test_the_language_of_a_reason(language: str, name: str) -> None:
    sentence = getattr(REFUSALS[language], name)
    quoted = {place: 0.5 if form else "“Fernleihe”" for place, form in places(sentence)}
    assert refusals_of(sentence.format(**quoted)) is REFUSALS[language]


def test_another_reason_is_english() -> None:
    assert refusals_of("") is refusals_of("Le graphe manque.") is ENGLISH


def test_sentences_are_recognised_in_every_language() -> None:
    assert 2 * len(set(UNKNOWN)) == len(set(REMARKS)) == 2 * len(REFUSALS)
