"""Cuts a document into units, the smallest parts that answer: sentences, list items, table rows, blocks of code."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from qa_core.text.analysis import sentences
from qa_lab.reference.documents import Document

UnitKind = Literal["sentence", "item", "row", "code"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a document below `headings`; `block` counts paragraphs, lists and tables, `section` headings."""

    document: Document
    headings: tuple[str, ...]
    text: str
    kind: UnitKind
    block: int
    section: int


_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_BOLD_LINE = re.compile(r"\*\*([^*]{3,80})\*\*:?$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_RULE = re.compile(r"([-*_]\s*){3,}$")
_DASHES = re.compile(r"\|?(\s*:?-+:?\s*\|?)+$")
_ITEM = re.compile(r"\s*([-*+•]|\d{1,3}[.)])\s+(.*)$")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_LIQUID = re.compile(r"\{%-?\s*comment.*?endcomment\s*-?%\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_INLINE = (
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), " "),  # images
    (re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])"), r"\1"),  # links
    (re.compile(r"\{:[^}]*\}"), ""),  # attributes of kramdown
    (re.compile(r"<((?:https?|mailto)[^>]+)>"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^<>]*>"), " "),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),  # escaped signs
)
TITLE_LEVEL, BOLD_LEVEL = 1, 6


def units(document: Document) -> list[Unit]:
    """The units of a document in order; its title is no unit, and a heading of level 1 that repeats it is none."""
    if not document.markdown:
        return _Cutter(document).plain()
    return _Cutter(document).markdown()


def inline(text: str) -> str:
    """The words of a line of Markdown: links and images by their labels, without tags."""
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return " ".join(html.unescape(text).split())


@dataclass(slots=True)
class _Cutter:
    document: Document
    _units: list[Unit] = field(default_factory=list)
    _headings: list[tuple[int, str]] = field(default_factory=list)
    _paragraph: list[str] = field(default_factory=list)
    _block: int = 0
    _section: int = 0

    def plain(self) -> list[Unit]:
        for paragraph in re.split(r"\n\s*\n", self.document.text):
            self._paragraph = [paragraph]
            self._end_paragraph()
        return self._units

    def markdown(self) -> list[Unit]:
        text = _COMMENT.sub(" ", _LIQUID.sub("", self.document.text))
        lines = text.expandtabs(4).split("\n")
        at = 0
        while at < len(lines):
            at = self._read_block(lines, at)
        self._end_paragraph()
        return self._units

    def _read_block(self, lines: Sequence[str], at: int) -> int:
        """Read what begins at a line; return the line after it."""
        line = lines[at].strip()
        if not line or _RULE.match(line):
            self._end_paragraph()
        elif heading := _HEADING.match(line):
            self._begin_section(len(heading[1]), heading[2])
        elif (bold := _BOLD_LINE.match(line)) and not self._paragraph and _is_blank(lines, at + 1):
            self._begin_section(BOLD_LEVEL, bold[1])
        elif fence := _FENCE.match(lines[at]):
            return self._read_code(lines, at, fence[1][:3])
        elif line.startswith("|"):
            return self._read_table(lines, at)
        elif (item := _ITEM.match(lines[at])) and not self._continues(item[1]):
            return self._read_item(lines, at, item)
        else:
            self._paragraph.append(line.removeprefix("> "))
        return at + 1

    def _continues(self, mark: str) -> bool:
        """Whether a number at the start of a line belongs to the paragraph above ("in the year⏎2020. Then …")."""
        return bool(self._paragraph) and mark[0].isdigit() and mark[:-1] != "1"

    def _begin_section(self, level: int, text: str) -> None:
        self._end_paragraph()
        self._section += 1
        heading = inline(text).strip("# *")
        if not heading:
            return
        self._headings = [above for above in self._headings if above[0] < level]
        if level > TITLE_LEVEL or heading != self.document.title:
            self._headings.append((level, heading))

    def _end_paragraph(self) -> None:
        joined = " ".join(self._paragraph)
        text = inline(joined) if self.document.markdown else joined
        self._paragraph = []
        if text.strip():
            self._block += 1
            for start, end in sentences(text):
                self._add(" ".join(text[start:end].split()), "sentence")

    def _read_code(self, lines: Sequence[str], at: int, fence: str) -> int:
        self._end_paragraph()
        end = at + 1
        while end < len(lines) and not lines[end].strip().startswith(fence):
            end += 1
        self._block += 1
        self._add("\n".join(line.strip() for line in lines[at + 1 : end]), "code")
        return end + 1

    def _read_table(self, lines: Sequence[str], at: int) -> int:
        """A unit a row: `first cell | header: cell; header: cell`."""
        self._end_paragraph()
        end = at
        while end < len(lines) and lines[end].strip().startswith("|"):
            end += 1
        rows = [[inline(cell) for cell in _CELL_BORDER.split(line.strip().strip("|"))] for line in lines[at:end]]
        header: list[str] = []
        if len(rows) > 1 and _DASHES.match(lines[at + 1].strip()):
            header, rows = rows[0], rows[2:]
        self._block += 1
        for row in rows:
            names = (header + [""] * len(row))[1 : len(row)]
            cells = [f"{name}: {cell}" if name else cell for name, cell in zip(names, row[1:], strict=True) if cell]
            self._add(" | ".join(part for part in (row[0], "; ".join(cells)) if part), "row")
        return end

    def _read_item(self, lines: Sequence[str], at: int, item: re.Match[str]) -> int:
        """An item with its mark, to the next item, heading, table, code or empty line."""
        is_first = bool(self._paragraph) or not self._units or self._units[-1].kind != "item"
        self._end_paragraph()
        parts = [item[2]]
        end = at + 1
        while end < len(lines) and lines[end].strip() and not _begins_block(lines[end]):
            parts.append(lines[end].strip())
            end += 1
        if is_first or self._units[-1].section != self._section:
            self._block += 1
        mark = item[1] if item[1][0].isdigit() else "-"
        self._add(f"{mark} {inline(' '.join(parts))}", "item")
        return end

    def _add(self, text: str, kind: UnitKind) -> None:
        if len(text) > 1:
            headings = tuple(heading for _, heading in self._headings)
            self._units.append(Unit(self.document, headings, text, kind, self._block, self._section))


def _begins_block(line: str) -> bool:
    return line.strip().startswith(("#", "```", "~~~", "|")) or _ITEM.match(line) is not None


def _is_blank(lines: Sequence[str], at: int) -> bool:
    return at >= len(lines) or not lines[at].strip()


def all_units(documents: Sequence[Document]) -> Iterator[Unit]:
    for document in documents:
        yield from units(document)
