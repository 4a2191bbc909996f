"""Calendars: events with their times, places and what is said of them."""

import pytest

from qa_bot.documents.ingest.formats.mail.events import content


def calendar(*lines):
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", *lines, "END:VCALENDAR", ""])


def test_events_are_sections(reads, tmp_path):
    data = calendar(
        "X-WR-CALNAME:Team",
        "BEGIN:VEVENT",
        "DTSTART;TZID=Europe/Berlin:20260710T153000",
        "DTEND;TZID=Europe/Berlin:20260710T220000",
        "SUMMARY:Summer party\\, with fam",
        " ilies",
        "LOCATION:Boat house",
        "ORGANIZER;CN=Ann Lee:mailto:ann@example.org",
        "RRULE:FREQ=YEARLY;COUNT=2",
        "DESCRIPTION:Bus at 15:00.\\nBring shoes.",
        "BEGIN:VALARM",
        "DESCRIPTION:Reminder",
        "END:VALARM",
        "END:VEVENT",
        "BEGIN:VEVENT",
        "DTSTART:20261021T080000Z",
        "SUMMARY:Stocktaking",
        "END:VEVENT",
    )
    (record,), rejects, notices = reads("days.ics", data)
    assert (rejects, notices) == ([], [])
    assert (record.id, record.title, record.where) == ("days.ics", "Team", f"{tmp_path}/days.ics:1")
    assert record.text == (
        "## Summer party, with families\n\n"
        "When: 2026-07-10 15:30 (Europe/Berlin) to 2026-07-10 22:00 (Europe/Berlin)\nRepeats: yearly, count=2\n"
        "Where: Boat house\nOrganiser: Ann Lee\n\nBus at 15:00.\nBring shoes.\n\n"
        "## Stocktaking\n\nWhen: 2026-10-21 08:00 (UTC)"
    )


@pytest.mark.parametrize(
    ("end", "when"),
    [("20260804", "2026-08-03"), ("20260822", "2026-08-03 to 2026-08-21"), ("20269999", "2026-08-03")],
)
def test_the_end_of_whole_days_is_not_included(reads, end, when):
    data = calendar(
        "BEGIN:VEVENT", "DTSTART;VALUE=DATE:20260803", f"DTEND;VALUE=DATE:{end}", "SUMMARY:Works holiday", "END:VEVENT"
    )
    (record,), _, _ = reads("a.ics", data)
    assert (record.title, record.text) == ("a", f"## Works holiday\n\nWhen: {when}")


def test_copies_of_an_event_have_the_same_content():
    event = ("BEGIN:VEVENT", "UID:7", "SUMMARY:Tea", "END:VEVENT")
    first = calendar(
        "METHOD:REQUEST", "DESCRIPTION:of the calendar", *event[:2], "DTSTAMP:20260101T000000Z", *event[2:]
    )
    assert content(first.encode()) == content(calendar(*event).encode()) == {("UID", "7"), ("SUMMARY", "Tea")}
    assert content(calendar("METHOD:REPLY").encode()) == content(b"\xff") == frozenset()


def test_a_calendar_without_events(reads):
    records, (reject,), _ = reads("a.ics", calendar())
    assert records == []
    assert "Expected a calendar with events" in reject.reason
