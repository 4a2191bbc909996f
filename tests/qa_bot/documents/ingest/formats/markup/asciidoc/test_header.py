"""The lines below the title of an AsciiDoc document."""

import pytest

from qa_bot.documents.ingest.formats.markup.asciidoc.header import LONGEST, revision_date


@pytest.mark.parametrize(
    ("header", "date"),
    [
        ("Halden Home\nRevision 4.2, 2024-03-18", "2024-03-18"),
        ("Halden Home\nv4.2, 2024-03-18: with new pictures\n:toc:", "2024-03-18"),
        ("Anna von der Au; Jean-Luc O'Neil\n// comment\n4.2, March 18, 2024", "2024-03-18"),
        ("Ann B. Lee <ann@example.org>; Bo Li <bo@example.org>\nMarch 18, 2024", "2024-03-18"),
        (":toc:\nHalden Home\nv4.2", ""),
        ("v1.0 2024-03-05", "2024-03-05"),
        ("Halden Home", ""),
        ("Élodie Roux\n:revdate: 2024-03-18", "2024-03-18"),
    ],
)
def test_authors_and_revisions_are_no_text(reads, header, date):
    (record,), _, _ = reads("a.adoc", f"// file\n= The manual\n{header}\n\nDescale it.\n")
    assert (record.title, record.date) == ("The manual", date)
    assert record.text == "Descale it."


@pytest.mark.parametrize(
    "text",
    [
        "Halden Home\nmakes kettles.",
        "Read this first.",
        "Halden Home.",
        "Use at home",
        "\nHalden Home",
        "* Halden Home",
        "On 2024-03-18 we moved.",
    ],
)
def test_text_below_the_title_stays(reads, text):
    (record,), _, _ = reads("a.adoc", f"= The manual\n{text}\n\nDescale it.\n")
    assert record.date == ""
    assert record.text.startswith(" ".join(text.replace("* ", "- ").split()))


def test_long_lines_are_no_header():
    assert revision_date(f"{'a' * LONGEST}1, 2024-03-18") == ""
    assert revision_date("1" * 100_000) == ""
