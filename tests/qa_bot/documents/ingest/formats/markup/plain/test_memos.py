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


HEAD = f"{'Working Group':52}{'J. Kern':>20}\n{'Memo: 7':52}{'Mill Ltd':>20}\n"


@pytest.mark.parametrize(
    ("last", "title", "expected", "date"),
    [
        (f"{'9 February 1982':>72}", f"{'Meeting Notes':^72}", "Meeting Notes", "1982-02-09"),
        ("BCP: 94", f"{'On Lists':^72}", "On Lists", ""),
        (
            f"{'BCP: 94':52}{'October 2004':>20}",
            f"{'Selection, Confirmation, and Recall Process of Working Groups:':^72}\n{'A Practice':^72}",
            "Selection, Confirmation, and Recall Process of Working Groups: A Practice",
            "2004-10-01",
        ),
    ],
)
def test_letterheads(reads, last, title, expected, date):
    (record,), _, _ = reads("memo.txt", f"\ufeff\n\n{HEAD}{last}\n\n{title.rstrip()}\n\nWe met in the mill.\n")
    assert (record.title, record.date) == (expected, date)
    assert record.text.endswith("We met in the mill.")


@pytest.mark.parametrize("block", ["   We met in the mill.", f"{'a':^72}\n" * 4, "Prices"])
def test_other_blocks_below_columns_are_no_titles(reads, block):
    (record,), _, _ = reads("memo.txt", f"{HEAD}\n{block}\n\nWe met.\n")
    assert record.title.startswith("Working Group")
    assert not record.date
