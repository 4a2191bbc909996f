"""Lines in bold type that are headings, and those that state something."""

from __future__ import annotations

import pytest

from qa_bot.documents.ingest.line_headings import (
    balanced,
    bold_heading,
    divided_at_headings,
    is_sentence,
    is_sentences,
    states_something,
)


@pytest.mark.parametrize(
    "words",
    [
        "Kaution 150 Euro",
        "Bei Regen erheben wir einen Zuschlag von 5 €",
        "Fee: $50",
        "10 % Rabatt für Mitglieder",
        "Schlüssel ab 10 Uhr",
        "Open from 9:00 to 17:00",
        "Doors close at 10 pm",
        "Anmeldeschluss 12. März 2025",
        "Clay day on 3 May 2025",
        "Abgabe bis 2025-03-12",
        "Kündigungsfrist 3 Monate",
        "Brenndauer: ca. 8 Stunden",
        "Höchstlast 40 kg",
        "Alle Gäste müssen den Ofen vorher ausschalten",
        "Deshalb bitten wir um eine Anmeldung",
        "You must wear goggles near the kiln",
    ],
)
def test_a_line_with_an_amount_a_time_a_day_or_a_verb_states_something(words: str) -> None:
    assert states_something(words)
    assert bold_heading(f"**{words}**") == ""
    assert bold_heading(f"**{words}:**") == f"{words}:", "it introduces what is below it"


@pytest.mark.parametrize(
    "words",
    [
        "§ 4 Kaution",
        "3. Kaution 100 Euro",
        "2024",
        "Version 2.13",
        "Version 2.13 (12 March 2024)",
        "Step 1: 30 minutes",
        "Öffnungszeiten",
        "Kinder unter 6 Jahren",
        "First 90 days",
        "Raum 2 A",
        "Gleis 2 am Bahnhof",
        "12. März 2024",
        "22. April 2025: Ofen außer Betrieb",
        "Protokoll der Sitzung am 12. März 2024",
        "Preise ab 1. Januar 2024",
        "Wie viel kostet ein Brand mit 20 Euro Kaution",
        "If you already have a key or a badge",
        "So kann ich einen Platz buchen",
        "Was Sie dabei wissen müssen",
        "Tarife, die ab Mai gelten und enden",
        "Be professional",
        "Is the kiln hot at 9:00?",
    ],
)
def test_titles_state_nothing(words: str) -> None:
    assert not states_something(words)
    assert bold_heading(f"**{words}**") == words == bold_heading(f"__{words}__")


@pytest.mark.parametrize("line", ["Keys", "**Keys** and doors", "**Ask Ines.**", "**Keys,**", "*Keys*", "**a**b**c**"])
def test_other_lines_are_no_headings(line: str) -> None:
    assert bold_heading(line) == ""


@pytest.mark.parametrize(
    ("words", "sentence", "sentences"),
    [
        ("Ask Ines before you open the door.", True, False),
        ("The fees apply to guests. Whoever comes with a member pays half of them.", True, True),
        ("I have lost my key and I am in front of the door. What now?", False, False),
        ("1. Ask Ines before you open the door.", False, False),
        ("Mr. Miller and Dr. Jones explain how they fire large bowls in the old kiln.", True, False),
        ("Keys and doors", False, False),
    ],
)
def test_sentences(words: str, sentence: bool, sentences: bool) -> None:
    assert (is_sentence(words), is_sentences(words)) == (sentence, sentences)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("*Ask Ines.", "Ask Ines."), ("**Ask Ines.", "Ask Ines."), ("*Ask* Ines.", "*Ask* Ines."), ("5 * 3", "5 * 3")],
)
def test_emphasis_without_an_end_is_left_out(text: str, shown: str) -> None:
    assert balanced(text) == shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Fees**\nTen.\n**Hours**\nNine.", "**Fees**\nTen.\n\n**Hours**\nNine."),
        ("**Fees**\n**Hours**\nNine.", "**Fees**\n\n**Hours**\nNine."),
        ("**Fees**\nTen.\n**Hours**", "**Fees**\nTen.\n**Hours**"),
        ("Ann Lee\n**Director**\nBristol", "Ann Lee\n**Director**\nBristol"),
        ("**Fees**\nTen.\n**Closed on 3 May 2024**\nNine.", "**Fees**\nTen.\n**Closed on 3 May 2024**\nNine."),
    ],
)
def test_a_paragraph_is_divided_at_further_bold_lines(text: str, expected: str) -> None:
    assert divided_at_headings(text) == expected
