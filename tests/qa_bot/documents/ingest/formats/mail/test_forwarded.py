"""The text of forwarded mails, and their heads."""

from email.message import EmailMessage

import pytest

from qa_bot.documents.ingest.formats.mail.forwarded import Message, forwards, messages_of

PARKING = "Parking is in the yard.\n\nBadges open the gate."
HEADS = [
    "-----Original Message-----\nFrom: Bob Lee <bob@example.org>\nSent: Friday, 1 March 2024\nTo: Ann\nSubject: Yard",
    "---------- Forwarded message ---------\nFrom: Bob Lee <bob@example.org>\nDate: Fri, Mar 1, 2024\nSubject: Yard\n"
    "To: Ann <ann@example.org>, Carl <carl@example.org>,\n Dora <dora@example.org>",
    "________________________________\nVon: Bob Lee <bob@example.org>\nGesendet: Freitag, 1. März 2024 09:12\nAn: Ann\n"
    "Cc: Carl; Dora\nBetreff: Hof",
    "Begin forwarded message:\n\n**From:** Bob Lee <bob@example.org>\\\n**Subject:** Yard\\\n\n**Date:** March 1, 2024",
    "Gesendet: Freitag, 1. März 2024 um 09:12 Uhr\nVon: Bob Lee <bob@example.org>\nAn: Ann\nBetreff: Hof",
    "*De :* Bob Lee <bob@example.org>\n*Envoyé :* vendredi 1 mars 2024\n*À :* Ann\n*Objet :* Cour",
]


@pytest.mark.parametrize("head", HEADS)
def test_the_head_of_a_forwarded_mail_is_left_out(head: str) -> None:
    bob = Message("Bob Lee <bob@example.org>", PARKING)
    assert messages_of(f"See below.\n\n{head}\n\n{PARKING}") == [Message("", "See below."), bob]
    assert messages_of(f"{head}\n\n{PARKING}") == [Message("", ""), bob]


def test_a_text_without_a_head_is_the_mail_s_own() -> None:
    text = "From: the desk it is a short way.\n\nTo: be done."
    assert messages_of(text) == [Message("", text)]


def test_a_head_without_addresses_counts_below_its_announcement() -> None:
    head = "From: Bob\nDate: Friday\nTo: Ann"
    assert messages_of(f"Begin forwarded message:\n\n{head}\n\n{PARKING}") == [Message("", ""), Message("Bob", PARKING)]
    assert messages_of(f"The trip:\n\n{head}\n\n{PARKING}") == [Message("", f"The trip:\n\n{head}\n\n{PARKING}")]


def test_a_mail_that_is_quoted_as_a_whole_loses_the_marks() -> None:
    quoted = "> From: Bob\n> Date: Monday\n> Subject: Yard\n>\n> Parking is in the yard.\n>\n> It is free."
    assert messages_of(f"See:\n\n{quoted}") == [
        Message("", "See:"),
        Message("Bob", "Parking is in the yard.\n\nIt is free."),
    ]


def test_the_introduction_of_a_quotation_is_left_out() -> None:
    text = "Parking is in the yard.\n\nAm 28.02.2024 um 10:12 schrieb Ann Lee <ann@example.org>:\n> Where can we park?"
    assert messages_of(text) == [Message("", "Parking is in the yard.\n\n> Where can we park?")]


def test_what_the_history_of_a_mail_is() -> None:
    assert forwards(f"See below.\n\n{HEADS[1]}\n\n{PARKING}")
    assert forwards(f"See below.\n\n{HEADS[3]}\n\n{PARKING}")
    assert not forwards(f"See below.\n\n{HEADS[0]}\n\n{PARKING}")
    assert not forwards(f"Thanks.\n\n{HEADS[0]}\n\n{HEADS[1]}\n\n{PARKING}")
    assert not forwards(PARKING)


@pytest.mark.parametrize(("subject", "head"), [("Fwd: Yard", HEADS[0]), ("Yard", HEADS[1])])
def test_the_sender_of_a_forwarded_mail_is_a_heading(reads, subject: str, head: str) -> None:
    message = EmailMessage()
    message["Subject"], message["From"] = subject, "Ann Lee <ann@example.org>"
    message.set_content(f"Dear all,\n\nSee below.\n\nRegards\nAnn\n\n{head}\n\n{PARKING}")
    (record,), _, _ = reads("a.eml", message.as_bytes())
    assert record.text == (
        "Dear all,\n\nRegards\nAnn\n\n## From: Ann Lee <ann@example.org>\n\nSee below.\n\n"
        f"### From: Bob Lee <bob@example.org>\n\n{PARKING}"
    )
