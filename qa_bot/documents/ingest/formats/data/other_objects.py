"""Objects without known fields as a table, a row an object, or as sections if they have long texts or many fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from qa_bot.documents.ingest.formats.field_markup import cells_without_tags, is_html, plain_field
from qa_bot.documents.ingest.formats.markup.html import fragment
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

DEEPEST = 3  # objects in others whose fields are columns
MOST_COLUMNS = 12
ROWS = 500  # of a table; a longer one is several, so that a parser can take each at once
LONGEST_CELL = 300  # characters
NAMES = ("title", "name", "heading", "subject", "label", "product", "titel", "bezeichnung", "überschrift", "produkt")
"""Fields that name an object."""
LONGEST_NAME = 100  # characters


def written(objects: Sequence[Mapping[str, object]]) -> MarkdownWriter:
    """The objects as Markdown, without empty fields; nothing if none has words."""
    writer = MarkdownWriter()
    rows = [dict(_cells(fields)) for fields in objects]
    if not any(any(map(str.isalpha, text)) for row in rows for text in row.values()):
        return writer
    columns = [*dict.fromkeys(name for row in rows for name in row)]
    if len(columns) <= MOST_COLUMNS and all(len(text) <= LONGEST_CELL for row in rows for text in row.values()):
        lines = cells_without_tags([[row.get(name, "") for name in columns] for row in rows])
        for begin in range(0, len(lines), ROWS):
            writer.table([columns, *lines[begin : begin + ROWS]], header=True, first_row=begin + 1)
    else:
        for number, row in enumerate(rows, 1):
            _write_section(writer, row, number)
    return writer


def _write_section(writer: MarkdownWriter, row: Mapping[str, str], number: int) -> None:
    names = {key.casefold(): key for key in row}
    key = next((names[name] for name in NAMES if name in names and len(row[names[name]]) <= LONGEST_NAME), "")
    writer.heading(2, plain_field(row[key]) if key else f"{number}")
    for name, text in row.items():
        if name == key:
            continue
        if len(text) <= LONGEST_CELL:
            writer.item(f"{name}: {plain_field(text)}")
            continue
        writer.paragraph(f"{name}:")
        if is_html(text):
            fragment(text, writer)
        else:
            writer.paragraph(text)


def _cells(fields: Mapping[str, object], above: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The names and texts of fields; those of inner objects have the name of the outer field before theirs."""
    for key, value in fields.items():
        name = f"{above} {key.replace('_', ' ').strip()}".strip()
        if isinstance(value, Mapping) and depth < DEEPEST:
            yield from _cells(value, name, depth + 1)
        elif text := _text(value):
            yield name, text


def _text(value: object, depth: int = 0) -> str:
    """A value on a line: items of a list divided by commas, fields of objects in it by semicolons."""
    if depth > DEEPEST or value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        inner = ((key, _text(part, depth + 1)) for key, part in value.items())
        return "; ".join(f"{key}: {text}" for key, text in inner if text)
    if isinstance(value, list):
        gap = "; " if any(isinstance(part, Mapping) for part in value) else ", "
        return gap.join(filter(None, (_text(part, depth + 1) for part in value)))
    return str(value).strip()
