"""Reads contacts (VCF): a person or firm is a section with numbers and addresses."""

from __future__ import annotations

from collections.abc import Iterator

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.mail.calendars.content_lines import ContentLine, content_lines
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Record, Reject

LABELS = {
    "NICKNAME": "Nickname",
    "ORG": "Organisation",
    "TITLE": "Position",
    "ROLE": "Role",
    "TEL": "Phone",
    "EMAIL": "E-mail",
    "ADR": "Address",
    "BDAY": "Birthday",
    "ANNIVERSARY": "Anniversary",
    "X-ANNIVERSARY": "Anniversary",
    "X-ABDATE": "Date",
    "X-SPOUSE": "Spouse",
    "RELATED": "Related",
    "X-ABRELATEDNAMES": "Related",
    "URL": "Web",
    "IMPP": "Chat",
    "X-SOCIALPROFILE": "Profile",
    "CATEGORIES": "Categories",
    "NOTE": "Note",
}
LISTS = {"NICKNAME", "CATEGORIES"}
GROUP_LABEL = "X-ABLABEL"
"""What the other lines of its group are. Apple's programs write the labels that they know as `_$!<Home>!$_`."""


def read(file: SourceFile) -> Iterator[Item]:
    """One record for all contacts; its title is the only contact's name, else the file's stem."""
    writer = MarkdownWriter()
    card: list[ContentLine] = []
    for line in content_lines(file.text()):
        if line.name == "BEGIN":
            card = []
        elif line.name == "END":
            _write(writer, card)
        else:
            card.append(line)
    if not writer.text:
        yield Reject(f"{file.where}:1", "Expected contacts with names, but got none; export them again.")
        return
    names = [name for _, name in writer.headings]
    title = names[0] if len(names) == 1 else file.stem
    yield Record(file.name, title, writer.text, where=f"{file.where}:1", markdown=True)


def _write(writer: MarkdownWriter, card: list[ContentLine]) -> None:
    named = [next((line.text for line in card if line.name == name and line.text), "") for name in ("FN", "N", "ORG")]
    writer.heading(2, next(filter(None, named), ""))
    labels = {line.group: line.text.removeprefix("_$!<").removesuffix(">!$_") for line in card if _is_label(line)}
    for line in card:
        if line.name in LABELS and line.text:
            kind = labels.get(line.group) or line.types
            text = ", ".join(line.texts) if line.name in LISTS else line.text
            label = f"{LABELS[line.name]} ({kind})" if kind else LABELS[line.name]
            writer.item(f"{label}: {text.removeprefix('tel:').removeprefix('mailto:')}")


def _is_label(line: ContentLine) -> bool:
    return line.name == GROUP_LABEL and line.group != ""
