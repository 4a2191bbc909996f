"""Mails and memos that were saved as plain text."""

import pytest

from qa_bot.documents.ingest.formats.markup.plain.memos import subject_of


@pytest.mark.parametrize(
    ("head", "subject"),
    [
        ("From: Ann <a@a.example>\nTo: Bob\nDate: 3 March 2025\nSubject: New printer", "New printer"),
        ("Von: Kern, Paul\nGesendet: Dienstag, 4. März 2025\nAn: Lenz, Mia\nBetreff: AW: WG: Schlüssel", "Schlüssel"),
        ("From: Ann\nTo: Bob\nDate: today", ""),
        ("Subject: History", ""),
        ("Our trip\nFrom: Ann\nTo: Bob\nDate: today\nSubject: Trip", ""),
    ],
)
def test_subjects(head, subject):
    assert subject_of(head.split("\n")) == subject


def test_the_subject_is_the_title(reads):
    (record,), _, _ = reads(
        "mail.txt", "From: Ann\nTo: Bob\nDate: 3 March 2025\nSubject: Printer\n\nIt is in room 2.\n"
    )
    assert record.title == "Printer"
    assert record.text.startswith("- From: Ann\n- To: Bob")
