"""Separable verbs: the prefix at the end of a clause joins its verb."""

import pytest

from retrievers.german.verbs import (
    infinitives,
    is_separated,
    parted_again,
    separated_prefixes,
    verb_bases,
    with_whole_verbs,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wie rechne ich eine Reise ab?", "Wie abrechne ich eine Reise?"),
        ("Wann fängt der Kurs an?", "Wann anfängt der Kurs?"),
        ("Wie früh fängt der Kurs an?", "Wie früh anfängt der Kurs?"),
        ("Welche Gebühren fallen für Gäste an?", "Welche Gebühren anfallen für Gäste?"),
        ("Gibt die Kasse Karten aus, und wo?", "ausgibt die Kasse Karten, und wo?"),
        ("Ich ziehe bald um. Und dann?", "Ich umziehe bald. Und dann?"),
        ("Wo gebe ich das Buch zurück", "Wo zurückgebe ich das Buch"),
        ("Fängt er früh an und hört er spät auf?", "anfängt er früh und aufhört er spät?"),
    ],
)
def test_prefixes_join_their_verbs(text, expected):
    assert with_whole_verbs(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Ist die Tür auf?",
        "Was kostet der Eintritt ab 18 Uhr?",
        "Kann ich das Buch ab?",
        "An?",
        "Die Karten, mit?",
        "weihnachten firma zu",
        "hab ich das schon mit",
        "",
    ],
)
def test_other_texts_stay(text):
    assert with_whole_verbs(text) == text


def test_the_verb_stays_too():
    assert with_whole_verbs("Wie lege ich es an?", keep=True) == "Wie anlege lege ich es?"


def test_a_text_with_the_verb_apart():
    prefixes = separated_prefixes("Er brachte drei Kisten mit. Vor der Tür steht er.")
    assert prefixes == {"mit"}
    assert is_separated("mitbring", {"bring"}, prefixes)
    assert not is_separated("abbring", {"bring"}, prefixes)


def test_infinitives_of_forms_with_a_syllable_inside() -> None:
    text = "Bücher sind zurückzugeben. Hochgeladen, angemeldet und eingereicht wird sonntags; das Gepäck zugeben."
    assert infinitives(text) == ["zurückgeben", "hochladen", "anmelden", "einreichen"]


@pytest.mark.parametrize(
    ("word", "other"),
    [("liefert", "liefern"), ("laden", "geladen"), ("mäht", "mähen"), ("Gekündigt", "kündige"), ("zahlst", "zahlt")],
)
def test_forms_of_a_verb_have_one_base(word: str, other: str) -> None:
    assert verb_bases(word) == verb_bases(other) != set()


def test_short_words_have_no_base() -> None:
    assert verb_bases("der Tee ist da, er geht") == {"geh"}


@pytest.mark.parametrize(
    ("word", "text", "expected"),
    [
        ("zurückbekomme", "Wann bekomme ich das zurück?", "bekomme … zurück"),
        ("zurückBekomme", "Bekomme ich das ZURÜCK?", "Bekomme … ZURÜCK"),
        ("anfallen", "Welche Kosten fallen an?", "fallen an"),
        ("abrechne", "Wie kann ich abrechnen, was ich abrechne?", "abrechne"),
        ("Antrag", "Wo ist der Antrag?", "Antrag"),
        ("Burkina Faso", "Wo liegt Burkina Faso?", "Burkina Faso"),
    ],
)
def test_a_joined_verb_in_the_parts_of_its_text(word: str, text: str, expected: str) -> None:
    assert parted_again(word, text) == expected
