"""Letters with a point at the beginning of lines of plain text."""

import pytest

from qa_bot.documents.ingest.formats.markup.letters import with_joiners, without_joiners


@pytest.mark.parametrize(
    "text",
    [
        "Mit freundlichen Grüßen\n\ni. A. Thorwald Emmerich",
        "Mit freundlichen Grüßen\n\ni. A. Thorwald Emmerich\n\ni. V. Petra Lang",
        "v. Hammerstein vertritt die Vorsitzende.\n\nz. B. bei Krankheit.",
    ],
)
def test_abbreviations_are_text_below_text(reads, text):
    (record,), _, _ = reads("letter.txt", f"Sehr geehrte Frau Karaca,\n\n{text}\n")
    assert record.text == f"Sehr geehrte Frau Karaca,\n\n{text}"


def test_a_title_may_begin_with_an_abbreviation(reads):
    (record,), _, _ = reads("a.txt", "z. B. diese Fragen\n\nWann ist offen?")
    assert record.title == "z. B. diese Fragen"


@pytest.mark.parametrize("signs", ["a. b. c.", "a) b)", "(v) (x)"])
def test_lists_of_letters(reads, signs):
    lines = [f"{sign} Open the lid." for sign in signs.split()]
    (record,), _, _ = reads("a.txt", "\n".join(lines))
    assert record.text == "\n".join(f"- {sign.strip('().')}) Open the lid." for sign in signs.split())


def test_joiners_are_put_in_and_taken_out():
    lines = ["a. one", "b. two", "e. V. Berlin"]
    assert with_joiners(lines) == ["a. one", "b. two", "e.\u2060 V. Berlin"]
    assert without_joiners("e.\u2060 V. Berlin") == "e. V. Berlin"
