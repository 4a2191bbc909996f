"""Title, passages and details of a record."""

import pytest

from qa_bot.documents.cutting.cut_record import cut_record
from qa_bot.documents.ingest.records import ExportedFields, Position, Record

TEXT = "# Travel guide\n\n## Rail\n\n- one\n    - two"


def test_plain_text_is_normalised_and_its_signs_mean_nothing() -> None:
    document = cut_record(Record("1", "A  title", "# no  heading\n\n\n\n- item"), characters=100, overlap=1)
    (passage,) = document.passages
    assert (document.title, passage.text) == ("A title", "# no heading\n\n- item")
    assert (passage.place.heading, passage.place.kind) == ((), "prose")
    assert passage.units == ((0, len(passage.text)),)


@pytest.mark.parametrize(
    ("title", "expected", "heading"),
    [
        ("", "Travel guide", ("Rail",)),
        ("guide", "Travel guide", ("Rail",)),  # the name of the file
        ("Travel Guide", "Travel Guide", ("Rail",)),
        ("Other", "Other", ("Travel guide", "Rail")),
    ],
)
def test_a_markdown_document_without_a_title_has_that_of_its_heading(
    title: str, expected: str, heading: tuple[str, ...]
) -> None:
    document = cut_record(Record("a/guide.md", title, TEXT, markdown=True), characters=100, overlap=1)
    assert document.title == expected
    assert [(one.text, one.place.heading) for one in document.passages] == [("- one\n    - two", heading)]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("guide.md#3", "guide"),
        ("shop/kiln/prices.md", "kiln – prices"),
        ("kiln/Kiln prices.md", "Kiln prices"),
        ("kiln/docs/prices.md", "prices"),
        ("kiln.zip!prices.md", "prices"),
        ("a/kiln.zip!wheel/prices.md", "wheel – prices"),
        ("https://kiln.example/prices.html", "prices"),
    ],
)
def test_a_markdown_document_without_any_title_is_named_by_its_folder_and_file(name: str, title: str) -> None:
    assert cut_record(Record(name, "", "Hi.", markdown=True), characters=100, overlap=1).title == title


@pytest.mark.parametrize("name", ["pack.zip!guide.md", "box.mbox#1!guide.md", "C# guide.md"])
def test_the_name_of_a_member_is_no_title(name: str) -> None:
    title = name.rpartition("!")[2].removesuffix(".md")
    assert cut_record(Record(name, title, TEXT, markdown=True), characters=100, overlap=1).title == "Travel guide"


def test_pages_are_found_in_the_tidy_text() -> None:
    text = "One\r\n\r\n## A\r\n\r\nTwo"
    record = Record("a", "t", text, markdown=True, positions=(Position(0, page=1), Position(text.index("##"), page=2)))
    passages = cut_record(record, characters=100, overlap=0).passages
    assert [(one.text, one.place.page) for one in passages] == [("One", 1), ("Two", 2)]


@pytest.mark.parametrize(("text", "texts"), [("ab cd", ["ab", "cd"]), ("ab  cd", ["ab cd"])])
def test_passages_of_an_export_are_kept_if_the_text_is_normalised(text: str, texts: list[str]) -> None:
    exported = ExportedFields("other", "hash", ((0, 2), (3, 5)))
    passages = cut_record(Record("1", "t", text, exported=exported), characters=100, overlap=1).passages
    assert [passage.text for passage in passages] == texts


def test_details_are_those_of_the_record() -> None:
    record = Record(
        "1", "t", "x", date="2024-05-01", language="de", archived=True, draft=True, tags=("a",), kind="pair"
    )
    details = cut_record(record, characters=100, overlap=1).details
    assert (details.kind, details.date, details.language) == ("pair", "2024-05-01", "de")
    assert (details.archived, details.draft, details.tags) == (True, True, ("a",))


@pytest.mark.parametrize(
    ("date", "text", "expected"),
    [
        ("2020-01-01", "Last updated: 2 May 2024", "2020-01-01"),
        ("", "Last updated: 2 May 2024", "2024-05-02"),
        ("", "Text.\n\n" * 500 + "Stand: 02.05.2024", "2024-05-02"),
        ("", "Text.\n\n" * 500 + "Stand: 02.05.2024\n\n" + "Text.\n\n" * 500, "2025-01-01"),  # in the middle
    ],
)
def test_the_date_is_the_readers_or_stated_or_that_of_the_file(date: str, text: str, expected: str) -> None:
    record = Record("a.md", "t", text, markdown=True, date=date, modified="2025-01-01")
    assert cut_record(record, characters=1000, overlap=1).details.date == expected


@pytest.mark.parametrize(
    ("name", "title", "text", "expected"),
    [
        ("a.md", "Minutes of the committee meeting, 24 September 2025", "Text.", "2025-09-24"),
        ("a.md", "", "# Protokoll vom 24. September 2025\n\nText.", "2025-09-24"),
        ("2025-09-01.md", "Protokoll", "## Sitzung am 24.09.2025\n\nText.", "2025-09-24"),  # a heading before the name
        ("a.md", "t", "Text.\n\n## One\n\nText.\n\n## 24 September 2025\n\nText.", "2026-01-01"),  # one part's
        ("minutes/2025-09-24-committee.md", "Minutes", "Text.", "2025-09-24"),
        ("2025-09-24-committee/a.md", "Minutes", "Text.", "2026-01-01"),  # a folder's
        ("box.mbox#1!2025-09-24.md", "2025-09-24", "Text.", "2025-09-24"),
        ("pack.zip!2025-09-24.md", "2025-09-24", "Text.", "2025-09-24"),
        ("2025-09-24.md", "Minutes", "Last updated: 2 May 2024", "2024-05-02"),
        ("a.md", "Prices 2025/2026", "Text.", "2026-01-01"),
    ],
)
def test_a_date_in_the_title_the_first_heading_or_the_name_counts_before_that_of_the_file(
    name: str, title: str, text: str, expected: str
) -> None:
    record = Record(name, title, text, markdown=True, modified="2026-01-01")
    assert cut_record(record, characters=1000, overlap=1).details.date == expected


def test_plain_records_state_nothing() -> None:
    record = Record("archive/1", "t", "This page is archived.\nLast updated: 2 May 2024", modified="2025-01-01")
    details = cut_record(record, characters=1000, overlap=1).details
    assert (details.archived, details.date) == (False, "")


def test_an_archived_document() -> None:
    record = Record("a/faq-old.md", "FAQ", "Text.", markdown=True)
    assert cut_record(record, characters=1000, overlap=1).details.archived


def test_a_mailbox_called_an_archive_has_mails_of_all_ages() -> None:
    for name, archived in (("a/mail-archive.mbox#7", False), ("archive/mail.mbox#7", True)):
        record = Record(name, "Keys", "Text.", markdown=True)
        assert cut_record(record, characters=1000, overlap=1).details.archived is archived
