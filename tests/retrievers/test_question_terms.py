from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.text.languages import LANGUAGES
from retrievers.question_terms import (
    ENGLISH_ONLY,
    SearchLanguages,
    content_terms,
    content_words,
    has_content,
    query_terms,
    search_languages,
)


@pytest.mark.parametrize(
    ("text", "passages", "expected"),
    [
        ("How many days of leave do I have?", {}, ENGLISH_ONLY),
        ("annual leave", {"en": 5}, ENGLISH_ONLY),
        ("Wie viele Urlaubstage habe ich?", {"en": 5}, SearchLanguages("de", ("en",))),
        ("Wie viele Urlaubstage habe ich?", {"en": 5, "de": 1}, SearchLanguages("de", ("de", "en"))),
        ("Wie viele Urlaubstage habe ich?", {"en": 5, "fr": 9}, SearchLanguages("de", ("fr", "en"))),
        ("How many days do I get?", {"de": 9, "en": 1}, SearchLanguages("en", ("en", "de"))),
        ("How many days do I get?", {"de": 1, "en": 999}, SearchLanguages("en", ("en",))),
        ("Wie viele Urlaubstage habe ich?", {"de": 1, "en": 999}, SearchLanguages("de", ("de", "en"))),
        ("Urlaubstage", {"en": 9, "de": 9}, SearchLanguages("", ("en", "de"))),
        ("Urlaubstage", {"de": 9, "fr": 8, "it": 7, "es": 6, "nl": 5}, SearchLanguages("", ("de", "fr", "it", "es"))),
        ("Urlaubstage", {"de": 9, "fr": 8, "en": 1}, SearchLanguages("", ("de", "fr", "en"))),
        ("Was kostet die Schraube M4?", {"en": 999, "de": 1}, SearchLanguages("de", ("de", "en"))),
        ("Was kostet die Schraube M4?", {"en": 9, "nl": 5, "de": 5}, SearchLanguages("", ("en", "nl", "de"))),
        ("有給休暇は何日ありますか？", {"de": 9, "en": 1}, SearchLanguages("en", ("en", "de"))),
    ],
)
def test_languages_of_a_search(text: str, passages: dict[str, int], expected: SearchLanguages) -> None:
    assert search_languages(text, passages) == expected


@pytest.mark.parametrize(
    ("language", "question", "content"),
    [
        ("de", "Wie hoch ist die Kilometerpauschale?", ["kilometerpauschal"]),
        ("de", "Was muss ich bei einem Unfall mit dem Dienstwagen tun?", ["unfall", "dienstwag"]),
        ("fr", "Quelle est l'indemnité kilométrique ?", ["indemnit", "kilometr"]),
        ("fr", "Combien de jours de congés payés ai-je ?", ["jour", "cong", "pai"]),
        ("es", "¿Cuántos días de vacaciones tengo?", ["dias", "vacacion"]),
        ("it", "Quanti giorni di ferie ho?", ["giorn", "fer"]),
        ("nl", "Hoe hoog zijn de vergoedingen?", ["vergoed"]),
        ("pt", "Quantos dias de férias tenho?", ["dias", "fer"]),
        ("sv", "Hur många semesterdagar har jag?", ["semesterdag"]),
        ("pl", "Ile dni urlopu mam?", ["dni", "urlop"]),
        ("ru", "Сколько дней отпуска я могу взять?", ["дне", "отпуск", "взят"]),
        ("de", "wer bist du", ["wer", "bist", "du"]),
        ("de", "Erkläre mir bitte die Staffelmiete", ["staffelmiet"]),
        ("en", "Compare the trips to Jordan and Madeira", ["trip", "jordan", "madeira"]),
        ("en", "What does P3 mean?", ["p3"]),
        ("en", "explain", ["explain"]),
    ],
)
def test_words_around_the_topic_are_left_out(language: str, question: str, content: list[str]) -> None:
    assert content_terms(question, language) == content


def test_stop_words_are_those_of_the_question_in_every_analysis() -> None:
    assert content_terms("Wie hoch ist die Gebühr?", "en", "de") == ["gebuhr"]
    assert content_terms("What is the Gebühr for dogs?", "de", "en") == ["gebuhr", "dog"]


def test_terms_of_one_language_are_weighted_by_their_count() -> None:
    assert query_terms("pain pain pain in my knee") == {"pain": pytest.approx(1 + math.log(3)), "knee": 1.0}


def test_another_language_adds_its_terms_with_less_weight() -> None:
    german = SearchLanguages("de", ("de", "en"))
    assert query_terms("Welche Regeln gelten für das VPN?", german) == {
        "regel": 1.0,
        "vpn": 1.0,
        "regeln": 0.5,
    }


@pytest.mark.parametrize("languages", [SearchLanguages("", ("en", "de")), SearchLanguages("it", ("en", "de"))])
def test_without_the_language_of_the_question_all_analyses_count_alike(languages: SearchLanguages) -> None:
    assert query_terms("Regeln", languages) == {"regeln": 1.0, "regel": 1.0}


@given(st.text(max_size=100), st.lists(st.sampled_from(sorted(LANGUAGES)), min_size=1, max_size=4, unique=True))
def test_weights_are_positive(text: str, analyses: list[str]) -> None:
    assert all(weight > 0 for weight in query_terms(text, SearchLanguages(analyses[0], tuple(analyses))).values())


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [("for how long?", "en", True), ("and what about it?", "en", False), ("Für wie lange?", "de", False)],
)
def test_texts_of_stop_words_have_no_content(text: str, language: str, expected: bool) -> None:
    assert has_content(text, SearchLanguages(language, (language,))) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Why won't it start?", ["start"]),
        ("Who won the regatta?", ["won", "regatta"]),
        ("How do I descale the machine?", ["descal"]),
        ("What does the machine room cost?", ["machin", "room", "cost"]),
        ("Which machine is loud?", ["machin", "loud"]),
    ],
)
def test_won_is_a_word_and_the_device_of_a_manual_says_nothing(question, expected):
    assert content_terms(question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does the wellness stipend cover?", ["well", "stipend", "cover"]),
        ("Which suggestions about mining goods were made?", ["suggest", "mine", "good", "made"]),
        ("When was the club founded?", ["club", "found"]),
        ("How do I quit?", ["quit"]),
        ("Who says what others asked, and what the form needs?", ["form"]),
        ("Do I need 2 keys?", ["key"]),
        ("Does US law apply to us?", ["us", "law", "appli", "us"]),
        ("DO US RULES APPLY?", ["rule", "appli"]),
        ("Can you tell us the rules?", ["rule"]),
    ],
)
def test_stop_words_are_compared_as_words_and_not_by_their_stems(question, expected):
    assert content_terms(question) == expected


def test_words_with_the_stem_of_a_stop_word_are_content():
    assert has_content("wellness?", SearchLanguages("en", ("en",)))
    assert "goods" in content_words("What about goods?", SearchLanguages("en", ("en",)))


def test_the_device_of_a_german_manual_says_nothing():
    assert content_terms("Wie entkalke ich das Gerät?", "de") == content_terms("Wie entkalke ich?", "de")


@pytest.mark.parametrize("time", ["Um wieviel Uhr", "um wie viel Uhr", "Ab welcher Uhr", "Wann"])
def test_the_time_of_day_that_is_asked_for_says_nothing_of_the_topic(time):
    assert content_terms(f"{time} beginnt das Spiel?", "de", "de") == content_terms(
        "Wann beginnt das Spiel?", "de", "de"
    )
