"""Reads calendars (ICS): an event is a section with its time, its place and what is said of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import dropwhile

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.mail.calendars.content_lines import ContentLine, content_lines, unescaped
from qa_bot.documents.ingest.formats.mail.calendars.recurrence import rule_in_words
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Record, Reject

ENTRIES = {"VEVENT", "VTODO", "VJOURNAL"}
TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
DURATION = re.compile(
    r"\+?P(?:(?P<weeks>\d{1,4})W)?(?:(?P<days>\d{1,5})D)?"
    r"(?:T(?:(?P<hours>\d{1,5})H)?(?:(?P<minutes>\d{1,6})M)?(?:(?P<seconds>\d{1,7})S)?)?"
)
LABELS = {
    "RRULE": "Repeats",
    "RDATE": "Also on",
    "EXDATE": "Not on",
    "RECURRENCE-ID": "Instead of",
    "DUE": "Due",
    "LOCATION": "Where",
    "ORGANIZER": "Organiser",
    "ATTENDEE": "Attendees",
    "STATUS": "Status",
    "CATEGORIES": "Categories",
    "URL": "Link",
}
TIMES = {"RDATE", "EXDATE", "RECURRENCE-ID", "DUE"}
PEOPLE = {"ORGANIZER", "ATTENDEE"}
READ = {*LABELS, "UID", "SUMMARY", "DTSTART", "DTEND", "DURATION", "DESCRIPTION"}
Entry = dict[str, list[ContentLine]]
"""The lines of an entry by their names."""


def read(file: SourceFile) -> Iterator[Item]:
    """One record for all entries; its title is the calendar's name, else the file's stem."""
    writer, title = MarkdownWriter(), ""
    entry: Entry | None = None
    inner = 0  # components inside an entry, such as alarms
    for line in content_lines(file.text()):
        if line.name == "BEGIN" and line.value.upper() in ENTRIES and entry is None:
            entry = {}
        elif line.name in {"BEGIN", "END"} and entry is not None:
            inner += 1 if line.name == "BEGIN" else -1
            if inner < 0:
                _write(writer, entry)
                entry, inner = None, 0
        elif entry is not None and not inner:
            entry.setdefault(line.name, []).append(line)
        elif line.name in {"X-WR-CALNAME", "NAME"} and entry is None:
            title = title or line.text
    if not writer.text:
        yield Reject(f"{file.where}:1", "Expected a calendar with events, but got none; export it again.")
        return
    yield Record(file.name, title or file.stem, writer.text, where=f"{file.where}:1", markdown=True)


def content(data: bytes) -> frozenset[tuple[str, str]]:
    """What the entries of a calendar say, the same for two copies of an invitation; nothing without entries."""
    lines = content_lines(data.decode("utf-8", "replace"))
    entries = dropwhile(lambda line: line.name != "BEGIN" or line.value.upper() not in ENTRIES, lines)
    return frozenset((line.name, line.text) for line in entries if line.name in READ)


def _write(writer: MarkdownWriter, entry: Entry) -> None:
    summary = entry["SUMMARY"][0].text if "SUMMARY" in entry else ""
    start = entry["DTSTART"][0] if "DTSTART" in entry else None
    when = _when(start, _end(start, entry))
    writer.heading(2, summary or when)
    lines = [f"When: {when}"] if when else []
    for name, label in LABELS.items():
        if values := [value for line in entry.get(name, []) for value in _values(line) if value]:
            lines.append(f"{label}: {', '.join(values)}")
    writer.paragraph("\n".join(lines))
    if "DESCRIPTION" in entry:
        writer.paragraph(unescaped(entry["DESCRIPTION"][0].value))


def _values(line: ContentLine) -> list[str]:
    """The values of a line as readers see them."""
    if line.name == "RRULE":
        return [rule_in_words(line.value)]
    if line.name in TIMES:
        return [_shown(line._replace(value=value)) for value in line.value.split(",")]
    if line.name in PEOPLE:
        name = line.parameters.get("CN") or line.text.removeprefix("mailto:")
        answer = line.parameters.get("PARTSTAT", "NEEDS-ACTION").lower()
        return [name if answer == "needs-action" else f"{name} ({answer})"]
    return line.texts if line.name == "CATEGORIES" else [line.text]


def _end(start: ContentLine | None, entry: Entry) -> ContentLine | None:
    """The stated end of an entry, or its start and duration."""
    if "DTEND" in entry:
        return entry["DTEND"][0]
    duration = DURATION.fullmatch(entry["DURATION"][0].value.strip()) if "DURATION" in entry else None
    if start is None or duration is None:
        return None
    form = "%Y%m%dT%H%M%S" if "T" in start.value else "%Y%m%d"
    zone = "Z" if start.value.endswith("Z") else ""
    try:
        first = datetime.strptime(start.value.strip().removesuffix("Z"), form)
        last = first + timedelta(**{unit: int(number) for unit, number in duration.groupdict("0").items()})
    except (ValueError, OverflowError):
        return None
    return start._replace(value=f"{last.strftime(form)}{zone}")


def _when(start: ContentLine | None, end: ContentLine | None) -> str:
    """The time of an event; the last day of one of whole days is the day before its end."""
    first = _shown(start) if start is not None else ""
    last = _shown(end) if end is not None else ""
    if end is not None and re.fullmatch(r"\d{4}-\d\d-\d\d", last):
        try:
            last = (date.fromisoformat(last) - timedelta(days=1)).isoformat()
        except (ValueError, OverflowError):
            last = ""
    return first if last in {"", first} else f"{first} to {last}"


def _shown(line: ContentLine) -> str:
    """A date or a time in ISO 8601, with its time zone."""
    match = TIME.fullmatch(line.value.strip())
    if match is None:
        return line.text
    day = f"{match[1]}-{match[2]}-{match[3]}"
    zone = "UTC" if match[6] else line.parameters.get("TZID", "")
    return " ".join(filter(None, (day, f"{match[4]}:{match[5]}" if match[4] else "", f"({zone})" if zone else "")))
