"""What MyST adds to Markdown besides containers: roles, targets, comments, and directives that are no text or code."""

from __future__ import annotations

import csv
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence

from qa_bot.documents.ingest.formats.markup.dialects.containers import DIRECTIVE, OF_TEXT, OPTION
from qa_bot.documents.ingest.formats.markup.dialects.fences import closes, lines_of, opening_fence
from qa_bot.documents.ingest.formats.markup.dialects.roles import with_texts_of_roles

MARK = re.compile(r"^[ \t>]*(?:`{3,}|~{3,}|:{3,})\{[\w:-]+\}|^\([\w .:-]+\)=[ \t]*$", re.MULTILINE)
"""A directive or a target; without one, or a role, signs of comments and breaks are text."""
SIGNS = ("```{", "~~~{", ":::{", ")=")
"""Each mark has one of them."""
UNSEEN = re.compile(r"\([\w .:-]+\)=\s*|%(?: .*)?|\+\+\+(?:\s*\{.*\})?\s*")
"""A line with the name of the block below it, a comment, or a break between blocks."""
ROW, CELL = re.compile(r"[*-][ \t]+[*-](?:[ \t]+(.*))?"), re.compile(r"[ \t]+[*-](?:[ \t]+(.*))?")
CELL_INDENT = 4
RESTRUCTURED = re.compile(r"\.\.[ \t]+([\w:-]+)::[ \t]*(.*)")


def with_directives(source: str) -> str:
    """The source with tables and glossaries of directives as HTML and Markdown, and without those of the layout."""
    return "\n".join(_with_blocks(source.split("\n"))) if _is_marked(source) else source


def with_roles(source: str) -> str:
    """The source, in which directives of text are containers, with the texts of roles, and without what is not seen."""
    is_marked = _is_marked(source)
    if not is_marked and "}`" not in source:
        return source
    lines = [(is_code, line if is_code else with_texts_of_roles(line)) for is_code, line in lines_of(source)]
    replaced = "\n".join(line for _, line in lines)
    if replaced == source and not is_marked:
        return source
    return "\n".join(line for is_code, line in lines if is_code or not UNSEEN.fullmatch(line))


def _is_marked(source: str) -> bool:
    return any(sign in source for sign in SIGNS) and MARK.search(source) is not None


def _with_blocks(lines: Sequence[str]) -> Iterator[str]:
    """The lines with the directives converted that are neither Markdown nor code."""
    fences: list[str] = []  # of the open directives of text
    code, position = "", 0
    while position < len(lines):
        line = lines[position]
        position += 1
        directive = None if code else DIRECTIVE.fullmatch(line)
        if directive and (convert := CONVERTED.get(directive[3])):
            end = _end(lines, position, directive[2])
            options, content = _parts([text.removeprefix(directive[1]) for text in lines[position:end]])
            yield from (f"{directive[1]}{text}".rstrip() for text in convert(directive[4], options, content))
            position = end + 1
            continue
        if code:
            code = "" if closes(line, code) else code
        elif fences and closes(line, fences[-1]):
            fences.pop()
        elif directive and directive[2][0] != ":" and directive[3] in OF_TEXT:
            fences.append(directive[2])
        elif not directive or directive[2][0] != ":":
            code = opening_fence(line)
        yield line


def _end(lines: Sequence[str], start: int, fence: str) -> int:
    """The number of the line that closes a directive."""
    for number in range(start, len(lines)):
        sign = lines[number].strip(" \t>")
        if sign.startswith(fence) and not sign.strip(fence[0]):
            return number
    return len(lines)


def _parts(lines: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The options of a directive and its content."""
    count = next((number for number, line in enumerate(lines) if not OPTION.fullmatch(line)), len(lines))
    options = [line.strip()[1:].partition(":") for line in lines[:count]]
    return {name: value.strip() for name, _, value in options}, list(lines[count:])


def _list_table(title: str, options: dict[str, str], lines: Sequence[str]) -> Iterator[str]:
    rows: list[list[list[str]]] = []
    for line in lines:
        if row := ROW.fullmatch(line):
            rows.append([[row[1] or ""]])
        elif rows and (cell := CELL.fullmatch(line)) and len(line) - len(line.lstrip()) < CELL_INDENT:
            rows[-1].append([cell[1] or ""])
        elif rows:
            rows[-1][-1].append(line[min(CELL_INDENT, len(line) - len(line.lstrip())) :])
    return _table(title, options, [["\n".join(cell) for cell in row] for row in rows])


def _csv_table(title: str, options: dict[str, str], lines: Sequence[str]) -> Iterator[str]:
    header = [options["header"]] if "header" in options else []
    try:
        rows = list(csv.reader([*header, *filter(str.strip, lines)], skipinitialspace=True))
    except csv.Error:
        return iter(lines)
    return _table(title, {"header-rows": "1"} if header else options, rows)


def _table(title: str, options: dict[str, str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows as HTML whose cells are Markdown."""
    count = options.get("header-rows", "0")
    heads = int(count) if re.fullmatch(r"[0-9]{1,4}", count) else 0
    yield from ("", title, "") if title else ("",)
    yield "<table>"
    for number, row in enumerate(rows):
        tag = "th" if number < heads else "td"
        yield "<tr>"
        for cell in row:
            yield from (f"<{tag}>", "", *cell.strip().split("\n"), "", f"</{tag}>")
        yield "</tr>"
    yield from ("</table>", "")


def _glossary(_: str, __: dict[str, str], lines: Sequence[str]) -> Iterator[str]:
    """Terms with their definitions; terms below each other have one definition."""
    terms: list[str] = []
    yield ""
    for line in lines:
        if not line.strip():
            yield ""
        elif not line[0].isspace():
            terms.append(line.strip())
        elif terms:
            yield from (", ".join(terms), f": {line.strip()}")
            terms.clear()
        else:
            yield f"  {line.strip()}"
    yield from (*terms, "")


def _restructured(_: str, __: dict[str, str], lines: Sequence[str]) -> Iterator[str]:
    """The text of reStructuredText: directives of text as containers, without the others' first lines."""
    yield ""
    is_open, end = False, 0
    for number, line in enumerate(lines):
        directive = RESTRUCTURED.fullmatch(line) if number >= end else None
        if directive and (convert := TABLES.get(directive[1])):
            end = _indented_end(lines, number + 1)
            inside = textwrap.dedent("\n".join(lines[number + 1 : end])).split("\n")
            yield from convert(directive[2], *_parts(inside))
        if number < end:
            continue
        if is_open and line.strip() and not line[0].isspace():
            yield from (":::", "")
            is_open = False
        if directive:
            is_open = directive[1] in OF_TEXT
            yield f":::{{{directive[1]}}} {directive[2]}" if is_open else directive[2]
        elif not OPTION.fullmatch(line):
            yield line.strip()
    yield ":::" if is_open else ""


def _indented_end(lines: Sequence[str], start: int) -> int:
    """The number of the first line from there on that is not indented."""
    outside = (
        number for number in range(start, len(lines)) if lines[number].strip() and not lines[number][0].isspace()
    )
    return next(outside, len(lines))


def _nothing(*_: object) -> Iterator[str]:
    return iter(())


_UNSEEN_NAMES = "toctree tableofcontents contents include literalinclude index bibliography image only highlight"
Converter = Callable[[str, dict[str, str], Sequence[str]], Iterator[str]]
TABLES: dict[str, Converter] = {"list-table": _list_table, "csv-table": _csv_table}
CONVERTED: dict[str, Converter] = {
    **dict.fromkeys(_UNSEEN_NAMES.split(), _nothing),
    **TABLES,
    "glossary": _glossary,
    "eval-rst": _restructured,
}
"""Directives whose content is neither Markdown nor code."""
