"""Reads contacts (VCF): a person or firm is a section with numbers and addresses."""

from __future__ import annotations

from collections.abc import Iterator

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.mail.content_lines import ContentLine, content_lines
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Record, Reject

LABELS = {
    "ORG": "Organisation",
    "TITLE": "Position",
    "ROLE": "Role",
    "TEL": "Phone",
    "EMAIL": "E-mail",
    "ADR": "Address",
    "BDAY": "Birthday",
    "URL": "Web",
    "NOTE": "Note",
}


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
    for line in card:
        if line.name in LABELS and line.text:
            kind = f" ({line.types})" if line.types else ""
            writer.item(f"{LABELS[line.name]}{kind}: {line.text.removeprefix('tel:').removeprefix('mailto:')}")
