"""Writes the paragraphs, items, tables and notes of RTF files."""

from __future__ import annotations

import re

from qa_bot.documents.ingest.formats.list_labels import Depths, number_and_label
from qa_bot.documents.ingest.formats.office.merged_cells import Cell, Merged, table_of
from qa_bot.documents.ingest.formats.office.package import web_link
from qa_bot.documents.ingest.formats.office.rich_text.rows import RowShape, grid_of
from qa_bot.documents.ingest.formats.office.word.bold_line import BoldLine, write_typed
from qa_bot.documents.ingest.formats.office.word.styles import CODE, CONTENTS, HEADING, TITLES
from qa_bot.documents.ingest.formats.office.word.tables import join_blocks
from qa_bot.documents.ingest.formats.office.word.text import LINK_FIELD
from qa_bot.documents.ingest.formats.run_marks import resolved, unmarked
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

NUMBER = re.compile(r"\(?(\d{1,9})[.)]?$")
MERGED = {"clvmrg": Merged.ABOVE, "clmrg": Merged.LEFT}
"""Words of cells that belong to the one above or on the left."""
MOST_CELLS = 1000  # of a row


class RtfBlocks:
    """Collects text until a paragraph, a cell or a row ends.

    `title` is the text of the style Title, else of a bold line that begins the text.
    """

    def __init__(self, writer: MarkdownWriter) -> None:
        self.writer = writer
        self.title = ""
        self._names: dict[int, str] = {}
        self._levels: dict[int, int] = {}
        self._pieces: list[str] = []
        self._has_plain = False  # letters of the paragraph that are not bold
        self._bold = BoldLine(writer)
        self._outer: list[list[str]] = []  # pieces of the text around a note
        self._notes: list[str] = []
        self._cell: list[str] = []
        self._row: list[str] = []
        self._rows: list[tuple[list[Cell], list[int]]] = []  # with the right edges of the cells
        self._shape = RowShape()
        self._code: list[str] = []
        self._reset()
        self._sign = ""  # it may come before the properties of its paragraph
        self._depths = Depths()

    @property
    def position(self) -> int:
        """Number of pieces of text in the paragraph."""
        return len(self._pieces)

    def _reset(self) -> None:
        self._style = 0
        self._level = 0
        self._in_table = False
        self._list_level = 0

    def define_style(self, number: int, name: str) -> None:
        """Adds to the name of a style of the style sheet."""
        self._names[number] = (self._names.get(number, "") + name).rstrip(";").strip()

    def define_level(self, number: int, level: int) -> None:
        """The outline level of a style."""
        self._levels[number] = level if level < 10 else 0

    def text(self, text: str, *, is_bold: bool = False) -> None:
        """Text of the paragraph."""
        self._pieces.append(text)
        self._has_plain = self._has_plain or (not is_bold and not text.isspace())

    def sign(self, text: str) -> None:
        """The bullet or number of an item, as shown."""
        self._sign += text.strip()

    def end_link(self, start: int, instruction: str) -> None:
        """What was written since `start` is a field's result."""
        if match := LINK_FIELD.match(instruction):
            text = "".join(self._pieces[start:])
            self._pieces[start:] = [web_link(text, match[1])]

    def begin_note(self) -> None:
        """A footnote begins within the paragraph."""
        self._outer.append(self._pieces)
        self._pieces = []

    def end_note(self) -> None:
        """The footnote ends; its mark is added to the paragraph."""
        if self._outer:
            self._notes.append("".join(self._pieces))
            self._pieces = self._outer.pop()
            self._pieces.append(f"[{len(self._notes)}]")

    def word(self, word: str, number: int | None) -> None:
        """A control word that is about paragraphs and tables."""
        if self._outer:  # within a note
            if word == "par":
                self._pieces.append(" ")
        elif word in {"par", "sect", "page"}:
            self._end_paragraph()
        elif word in {"cell", "nestcell"}:
            self._end_cell(is_nested=word == "nestcell")
        elif word in {"row", "nestrow"}:
            self._end_row(is_nested=word == "nestrow")
        elif word == "pard":
            self._reset()
        elif word == "trowd":
            self._shape = RowShape()
        elif word in MERGED:
            self._shape.next_merged = MERGED[word]
        elif word == "cellx":
            self._shape.end_cell(number or 0)
        else:
            self._set(word, number or 0)

    def _set(self, word: str, number: int) -> None:
        if word == "s":
            self._style = number
        elif word == "outlinelevel":
            self._level = number + 1 if number < 9 else 0
        elif word == "intbl":
            self._in_table = True
        elif word == "ilvl":
            self._list_level = min(max(0, number), 8)

    def end(self) -> None:
        """Writes the last paragraph or table, and the notes."""
        self._end_paragraph()
        self._end_table()
        self._end_code()
        self._bold.settle("end")
        self.title = self.title or self._bold.title
        if self._notes:
            self.writer.heading(2, "Notes")
        for number, note in enumerate(self._notes, 1):
            self.writer.paragraph(f"[{number}] {' '.join(resolved(note).split())}")

    def _take(self) -> tuple[str, str]:
        """The text of the paragraph, and the same with all its spaces."""
        raw = "".join(self._pieces)
        self._pieces = []
        lines = (" ".join(line.split()) for line in resolved(raw).split("\n"))
        return "\n".join(line for line in lines if line), unmarked(raw).replace("\t", "    ").rstrip()

    def _end_paragraph(self) -> None:
        text, raw = self._take()
        if self._in_table:
            self._cell.append(f"{self._sign} {text}".strip() if text else "")
        elif text:
            self._end_table()
            self._block(text, raw)
        self._sign, self._has_plain = "", False

    def _block(self, text: str, raw: str) -> None:
        name = self._names.get(self._style, "")
        match = HEADING.match(name)
        level = int(match[1]) if match else self._level or self._levels.get(self._style, 0)
        if CODE.search(name):
            self._bold.settle("text")
            self._code.append(raw)
            return
        self._end_code()
        if CONTENTS.match(name):
            return
        if level or name.lower() in TITLES:
            self._bold.settle("heading" if level else "title")
            if not level:
                self.title = self.title or " ".join(text.split())
            self.writer.heading(level or 1, f"{self._sign} {text}" if NUMBER.match(self._sign) else text)
            self._depths.clear()
        elif self._sign:
            self._bold.settle("text")
            number, label = number_and_label(self._sign)
            self.writer.item(text, depth=self._depths.depth(self._list_level), number=number, label=label)
        else:
            self._depths.clear()
            if not self._bold.takes(text, is_bold=not self._has_plain):
                write_typed(self.writer, text)

    def _end_code(self) -> None:
        if self._code:
            self.writer.code("\n".join(self._code))
            self._code = []

    def _end_cell(self, *, is_nested: bool) -> None:
        text, _ = self._take()
        self._cell.append(f"{self._sign} {text}".strip() if text else "")
        self._sign, self._has_plain = "", False
        if is_nested:
            self._cell[-1] += ","
        elif len(self._row) < MOST_CELLS:
            self._row.append(join_blocks(self._cell).rstrip(","))
            self._cell = []

    def _end_row(self, *, is_nested: bool) -> None:
        if is_nested:
            if self._cell:
                self._cell[-1] = self._cell[-1].rstrip(",")
            return
        if any(self._row):
            self._rows.append((self._shape.cells(self._row), self._shape.edges[: len(self._row)]))
        self._row, self._cell = [], []

    def _end_table(self) -> None:
        if self._row or self._cell:
            self._end_row(is_nested=False)
        rows, self._rows = self._rows, []
        if not rows:
            return
        self._end_code()
        self._bold.settle("text")
        self._depths.clear()
        grid = grid_of(rows)
        if max(map(len, grid)) == 1 or len(grid) == 1:
            for row in grid:
                for cell in row:
                    self.writer.paragraph(cell if isinstance(cell, str) else "")
        else:
            table_of(grid, [False] * len(grid)).write(self.writer)
