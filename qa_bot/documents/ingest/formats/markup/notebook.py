"""Jupyter notebooks, one document a file: the texts, the code, and short outputs of its cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.document_title import first_title
from qa_bot.documents.ingest.formats.markup.html import without_title
from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Record, Reject

LONGEST_OUTPUT = 2000  # characters of one output; longer ones are data
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")  # colours of terminals


def read(file: SourceFile) -> Iterator[Item]:
    """One record; its title is the heading of level 1, else the file's stem."""
    try:
        notebook = orjson.loads(file.text())
    except orjson.JSONDecodeError as error:
        yield Reject(
            f"{file.where}:{error.lineno}",
            f"Expected a notebook (JSON), but got broken JSON ({error.msg}); save it anew.",
        )
        return
    cells = _cells(notebook)
    if cells is None:
        yield Reject(
            f"{file.where}:1", "Expected a notebook with cells, but got other JSON; name another format with --format."
        )
        return
    writer = MarkdownWriter()
    language = _language(notebook)
    for cell in cells:
        _write_cell(writer, cell, language)
    title = first_title(writer)
    text = file.repairs.clean(without_title(writer.text, title))
    if not text:
        yield Reject(f"{file.where}:1", "Expected a notebook with text or code, but got empty cells; fill it.")
        return
    title = file.repairs.clean(title) or file.stem
    yield Record(file.name, title, text, where=f"{file.where}:1", markdown=True)


def _cells(notebook: object) -> list[Mapping[str, Any]] | None:
    """The cells of a notebook of format 3 or later, None if the object is no notebook."""
    if not isinstance(notebook, Mapping):
        return None
    sheets = notebook.get("worksheets")
    holders = sheets if isinstance(sheets, list) else [notebook]
    cells = [holder.get("cells") for holder in holders if isinstance(holder, Mapping)]
    if not any(isinstance(part, list) for part in cells):
        return None
    return [cell for part in cells if isinstance(part, list) for cell in part if isinstance(cell, Mapping)]


def _language(notebook: Mapping[str, Any]) -> str:
    metadata = notebook.get("metadata")
    for name, key in (("language_info", "name"), ("kernelspec", "language")):
        info = metadata.get(name) if isinstance(metadata, Mapping) else None
        value = info.get(key) if isinstance(info, Mapping) else None
        if isinstance(value, str) and re.fullmatch(r"[\w+#-]{1,20}", value):
            return value
    return "python"


def _write_cell(writer: MarkdownWriter, cell: Mapping[str, Any], language: str) -> None:
    source = _text(cell.get("source", cell.get("input")))
    kind = cell.get("cell_type")
    if kind == "markdown":
        markdown_blocks(source, writer)
    elif kind == "heading":  # of format 3
        level = cell.get("level")
        writer.heading(level if isinstance(level, int) else 1, source)
    elif kind == "code":
        writer.code(source, language)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else ():
            writer.code(_output(output))
    else:
        writer.paragraph(source)


def _output(output: object) -> str:
    """The plain text of an output; "" for images and long ones."""
    if not isinstance(output, Mapping):
        return ""
    data = output.get("data")
    values = [output.get("text"), data.get("text/plain") if isinstance(data, Mapping) else None]
    if output.get("output_type") in {"error", "pyerr"}:
        values = [f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"]
    text = ESCAPES.sub("", next(filter(None, map(_text, values)), "")).strip("\r\n").rstrip()
    return text if len(text) <= LONGEST_OUTPUT else ""


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""
