"""Calendars: events with their times, places and what is said of them."""

import pytest

from qa_bot.documents.ingest.formats.mail.calendars.events import content


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
        "When: 2026-07-10 15:30 (Europe/Berlin) to 2026-07-10 22:00 (Europe/Berlin)\nRepeats: every year, 2 times\n"
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


@pytest.mark.parametrize(
    ("start", "duration", "when"),
    [
        (":20260914T080000Z", "PT2H30M", "2026-09-14 08:00 (UTC) to 2026-09-14 10:30 (UTC)"),
        (
            ";TZID=Europe/Berlin:20260914T230000",
            "P1DT2H",
            "2026-09-14 23:00 (Europe/Berlin) to 2026-09-16 01:00 (Europe/Berlin)",
        ),
        (";VALUE=DATE:20260803", "P2W", "2026-08-03 to 2026-08-16"),
        (";VALUE=DATE:20260803", "P1D", "2026-08-03"),
        (":20260914T080000", "-PT5M", "2026-09-14 08:00"),
        (":20260914T080000", "P9999W", "2026-09-14 08:00 to 2218-05-04 08:00"),
        (":99991231T080000", "P9999W", "9999-12-31 08:00"),
        (":soon", "PT5M", "soon"),
    ],
)
def test_the_end_of_an_event_with_a_duration(reads, start, duration, when):
    data = calendar("BEGIN:VEVENT", f"DTSTART{start}", f"DURATION:{duration}", "SUMMARY:Course", "END:VEVENT")
    (record,), _, _ = reads("a.ics", data)
    assert record.text == f"## Course\n\nWhen: {when}"


def test_people_groups_and_exceptions_of_an_event(reads):
    data = calendar(
        "BEGIN:VEVENT",
        "RECURRENCE-ID:20260617T160000Z",
        "RDATE;VALUE=DATE:20260701,20260702",
        "EXDATE:20260708T160000Z",
        "EXDATE:20260715T160000Z",
        "SUMMARY:Course",
        'ATTENDEE;CN="Deniz Kaya";PARTSTAT=NEEDS-ACTION:mailto:deniz@example.org',
        "ATTENDEE;PARTSTAT=DECLINED:mailto:lena@example.org",
        "CATEGORIES:Intern,Sales\\, north",
        "CATEGORIES:Team",
        "END:VEVENT",
    )
    (record,), _, _ = reads("a.ics", data)
    assert record.text == (
        "## Course\n\nAlso on: 2026-07-01, 2026-07-02\nNot on: 2026-07-08 16:00 (UTC), 2026-07-15 16:00 (UTC)\n"
        "Instead of: 2026-06-17 16:00 (UTC)\nAttendees: Deniz Kaya, lena@example.org (declined)\n"
        "Categories: Intern, Sales, north, Team"
    )


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
