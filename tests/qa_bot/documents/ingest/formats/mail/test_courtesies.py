"""Greetings and closings of mails."""

import pytest

from qa_bot.documents.ingest.formats.mail.courtesies import without_courtesies

BODY = "the office is closed on Monday. Please ask Ann for the key.\n\nIt opens again on Tuesday."


@pytest.mark.parametrize(
    "greeting",
    [
        "Dear members,",
        "Hi all,",
        "Hello Ann!",
        "Good morning everyone,",
        "Hallo zusammen,",
        "Sehr geehrte Damen und Herren,",
        "Sehr geehrte Frau Lee, lieber Tom,",
        "Liebe Kolleginnen und Kollegen,",
        "Bonjour à tous,",
        "Hi all",
        "Owen,",
    ],
)
def test_a_greeting(greeting: str) -> None:
    assert without_courtesies(f"{greeting}\n\n{BODY}", "") == (greeting, BODY, "")
    assert without_courtesies(f"{greeting}\\\n{BODY}", "") == (greeting, BODY, "")


@pytest.mark.parametrize(
    "closing",
    [
        "Kind regards\nAnn Lee",
        "Best wishes,\n\nAnn\nTelephone 0555 0177",
        "Thanks!\nAnn",
        "Viele Grüße\nEuer Empfang",
        "Mit freundlichen Grüßen\ni. A. Ann Lee",
        "Mit herzlichen Grüßen aus Berlin\nAnn",
        "Cordialement\nAnn",
        "Ann",
        "Ann Lee, treasurer\n0555 0177",
    ],
)
def test_a_closing(closing: str) -> None:
    flat = closing.replace("\n\n", "\n")
    assert without_courtesies(f"{BODY}\n\n{closing}", "Ann Lee <ann@example.org>") == ("", BODY, flat)


@pytest.mark.parametrize(
    ("closing", "expected"),
    [
        (
            "Best,\nAl\n\nAl Bo\nSenior Engineer\nLift Corp Ltd.\nPhone: +44 20 1234\nwww.lift.example\n"
            "This e-mail is confidential. If you are not the intended recipient, delete it.",
            "Best,\nAl",
        ),
        ("Kind regards\nAl Bo\nFacilities | Lift Corp Ltd. | Tel. 020 1234 567", "Kind regards\nAl Bo"),
        (
            "Mit freundlichen Grüßen\\\nAl Bo\\\nHausverwaltung\\\nAufzug GmbH\\\nAm Markt 3\\\n12345 Berlin\\\n"
            "Telefon: 030 1234 56\\\nFax: 030 1234 57\\\nal@lift.example",
            "Mit freundlichen Grüßen\nAl Bo",
        ),
        ("Regards\nFacilities | Lift Corp Ltd. | " + "Floor 3 · Tel. 020 1234 567 · www.lift.example" * 2, "Regards"),
        ("Al Bo\nLift Corp Ltd.\n020 1234 567\nal@lift.example", "Al Bo"),
    ],
)
def test_a_signature_without_a_mark_is_left_out(closing: str, expected: str) -> None:
    assert without_courtesies(f"{BODY}\n\n{closing}", "Al Bo <al@lift.example>") == ("", BODY, expected)


def test_a_postscript_below_a_signature_stays() -> None:
    closing = "Best\nAl\nLift Corp Ltd. | Floor 3 | 020 1234 567\nPS: the lift works again."
    assert without_courtesies(f"{BODY}\n\n{closing}", "").closing == closing


@pytest.mark.parametrize(
    "text",
    [
        "Hi, the office is closed on Monday.\nPlease ask for the key.",
        "Hello world is the first program that most people write.\nIt is short.",
        "Dear is what the new press will be, compared with the old one\nthat we had.",
        "The office is closed.\n\nAnn has the key.",
        "The office is closed.\n\nBob",
        "The office is closed.\nThanks\n"
        + "This is the report of the whole year, which is rather long for a closing"
        + "." * 9,
        "The office is closed.\nRegards\n" + "\n".join(f"- point {number}" for number in range(9)),
        "Dear all,",
        "Kind regards\nAnn",
        "The office is closed.\nThanks\n" + "\n".join(f"- ask {name}@example.org" for name in "abcdefgh"),
        "The office is closed. In the letter we wrote\nThe information was intended for members.\nNow it is for all.",
    ],
)
def test_other_lines_stay(text: str) -> None:
    assert without_courtesies(text, "Ann Lee <ann@example.org>") == ("", text, "")


@pytest.mark.parametrize(
    "notice",
    [
        "This e-mail may contain confidential information. If you are not the recipient\nplease delete it.",
        "*Diese E-Mail enthält vertrauliche Informationen und ist nur für Sie bestimmt.*",
    ],
)
def test_a_notice_of_confidentiality_at_the_end_is_left_out(notice: str) -> None:
    text = f"The office is closed.\n\nKind regards\nAnn\n\n{notice}"
    assert without_courtesies(text, "Ann Lee <ann@example.org>") == ("", "The office is closed.", "Kind regards\nAnn")
    assert without_courtesies(notice, "Ann Lee <ann@example.org>").body == notice
