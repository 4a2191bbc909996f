"""Writes the blocks of a Word document's body: paragraphs by their style, lists, tables, text boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.list_labels import Depths
from qa_bot.documents.ingest.formats.office.embedded import REFERENCES, write_embedded
from qa_bot.documents.ingest.formats.office.merged_cells import table_of
from qa_bot.documents.ingest.formats.office.names import child, value
from qa_bot.documents.ingest.formats.office.package import Link, Package
from qa_bot.documents.ingest.formats.office.word.bold_line import TYPED, BoldLine, write_typed
from qa_bot.documents.ingest.formats.office.word.styles import (
    CONTENTS,
    CONTINUED,
    LIST_DEPTH,
    QUOTE,
    TITLES,
    Number,
    Numbering,
    Style,
    is_on,
    numbering_of,
    outline_level,
)
from qa_bot.documents.ingest.formats.office.word.tabbed_lines import TabbedLines
from qa_bot.documents.ingest.formats.office.word.tables import cells_of, join_blocks, read_table, rows_of
from qa_bot.documents.ingest.formats.office.word.text import Line, Notes, read_line
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter, item_sign

CONTAINERS = {"w:sdt", "w:sdtContent", "w:customXml", "w:ins", "w:moveTo", "w:smartTag"}


class Blocks:
    """Writes blocks one by one.

    `title` is the text of the style Title, else of a bold line that begins the text.
    """

    def __init__(
        self,
        writer: MarkdownWriter,
        styles: Mapping[str, Style],
        numbering: Numbering,
        links: Mapping[str, Link],
        notes: Notes,
        package: Package,
        comments: Mapping[str, Element],
    ) -> None:
        self.writer = writer
        self.notes = notes
        self.title = ""
        self._styles = styles
        self._default = next((style for style in styles.values() if style.name.lower() == "normal"), Style())
        self._numbering = numbering
        self._links = links
        self._package = package
        self._comments = comments
        self._references: list[Element] = []  # of the block that is read
        self._code: list[str] = []
        self._bold = BoldLine(writer)
        self._tabbed = TabbedLines[tuple[str, Line, Style]]()
        self._joined = ""  # a paragraph whose end was deleted, or a large first letter
        self._depths = Depths()
        self._inside = 0  # items around what follows the last paragraph
        self._in_contents = False  # the field of a table of contents is open

    def add(self, block: Element) -> None:
        """Writes a paragraph, a table, or what a container has."""
        if block.tag == "w:p":
            self._paragraph(block)
        elif block.tag == "w:tbl":
            self._table(block)
        elif block.tag in REFERENCES:
            self._references.append(block)
        elif block.tag in CONTAINERS and not (_is_contents(block) or _is_hint(block)):
            for inner in block:
                self.add(inner)
        self._show_references()

    def end(self) -> None:
        """Writes what waits for a next block."""
        self._flush()
        self._bold.settle("end")
        self.title = self.title or self._bold.title
        if self._joined:
            self.writer.paragraph(self._joined)
            self._joined = ""

    def add_notes(self, notes: Sequence[tuple[int, Element]]) -> None:
        """Writes notes with their numbers."""
        self.writer.heading(2, "Notes")
        for number, note in notes:
            self.writer.paragraph(f"[{number}] {self.cell_text(note)}")
            self._show_references()

    def cell_text(self, cell: Element) -> str:
        """The blocks of a cell in one line."""
        texts: list[str] = []
        for block in cell:
            if block.tag == "w:p":
                line, _, number = self._read(block)
                texts += [_sign_in_cell(number) + line.text if line.text else "", *map(self.cell_text, line.boxes)]
            elif block.tag == "w:tbl":
                texts += [", ".join(filter(None, map(self.cell_text, cells_of(row)))) for row in rows_of(block)]
            elif block.tag in CONTAINERS and not _is_hint(block):
                texts.append(self.cell_text(block))
        return join_blocks(texts)

    def _read(self, paragraph: Element) -> tuple[Line, Style, Number | None]:
        properties = child(paragraph, "w:pPr")
        style = self._styles.get(value(properties, "w:pStyle"), self._default)
        line = read_line(paragraph, self._links, self.notes, self._styles, is_bold=style.is_bold)
        self._references += line.references
        numbering = numbering_of(properties) or style.numbering
        has_text = bool(line.text)
        number = self._numbering.next(*numbering) if numbering is not None and has_text else None
        if number is not None and (match := LIST_DEPTH.match(style.name)):
            number = number._replace(depth=max(number.depth, int(match[1]) - 1))
        return line, style, number

    def _paragraph(self, paragraph: Element) -> None:
        line, style, number = self._read(paragraph)
        properties = child(paragraph, "w:pPr")
        level = outline_level(properties) or style.level
        if style.is_hidden or CONTENTS.match(style.name) or self._is_entry(line, level):
            return
        text = self._joined + (" " if self._joined and line.code[:1].isspace() else "") + line.text
        if is_on(child(properties, "w:rPr"), "w:del"):  # its end was deleted: the next paragraph continues it
            self._joined = f"{text} "
        elif value(properties, "w:framePr", attribute="w:dropCap", default="none") != "none":
            self._joined = text
        elif style.is_code or line.is_monospaced:
            self._flush_tabbed()
            self._bold.settle("text")
            self._code.append(line.code)
        elif text.strip():
            self._joined = ""
            self._flush_code()
            self._text(text.strip(), line, style, number, level)
        elif self._code and not line.boxes:
            self._code.append("")
        self._show_references()
        for box in line.boxes:
            for block in box:
                self.add(block)

    def _show_references(self) -> None:
        """Writes the charts, diagrams and comments of the block above."""
        references, self._references = self._references, []
        if references:
            self._flush()
            self._bold.settle("text")
        for reference in references:
            if reference.tag in REFERENCES:
                self._depths.clear()
                write_embedded(reference, self._package, self._links, self.writer)
            elif (comment := self._comments.get(reference.get("w:id", ""))) is not None:
                author, text = " ".join(comment.get("w:author", "").split()), self.cell_text(comment)
                self.writer.paragraph(
                    f"Comment{f' ({author})' if author else ''}: {text}" if text else "", depth=self._inside
                )

    def _is_entry(self, line: Line, level: int) -> bool:
        """Whether a line is in the field of a table of contents, and ends with the number of a page, or only leads to
        a heading.

        A heading ends a field whose end is missing.
        """
        is_inside = not level and (self._in_contents or line.begins_contents)
        self._in_contents = is_inside and not line.ended_fields
        return (is_inside and line.text[-1:].isdigit()) or (not level and line.is_entry)

    def _text(self, text: str, line: Line, style: Style, number: Number | None, level: int) -> None:
        is_title = style.name.lower() in TITLES
        if self._inside and not level and number is None and self._goes_on(text, line, style):
            self.writer.paragraph(text, depth=self._inside)
            return
        self._inside = 0
        if not level and not is_title and number is None and self._holds(text, line, style):
            return
        self._flush_tabbed()
        if level or is_title:
            self._bold.settle("title" if is_title else "heading")
            if is_title:
                self.title = self.title or " ".join(text.split())
            label = f"{number.label} " if number is not None and number.label else ""
            self.writer.heading(level or 1, label + text)
            self._depths.clear()
        elif number is not None:
            self._item(text, line, number)
        else:
            self._depths.clear()
            self._plain(text, line, style)

    def _goes_on(self, text: str, line: Line, style: Style) -> bool:
        """Whether a paragraph belongs to the item above it."""
        return bool(CONTINUED.match(style.name)) and not line.is_bold and not TYPED.match(text)

    def _item(self, text: str, line: Line, number: Number) -> None:
        """An item of a list; a bold one with a number is a heading if text follows."""

        def write(_: str) -> None:
            self.writer.item(text, depth=depth, number=number.number, label=number.label)

        depth = self._depths.depth(number.depth)
        may_head = number.number is not None and not depth and line.is_bold
        if may_head and self._bold.takes(f"{number.label or f'{number.number}.'} {text}", is_bold=True, plain=write):
            return
        self._bold.settle("item")
        write(text)
        self._inside = depth + 1

    def _holds(self, text: str, line: Line, style: Style) -> bool:
        """Whether a paragraph may be a row of a table that tabs make."""
        cells = line.cells
        if len(cells) < 2 or QUOTE.search(style.name) or " ".join(cells).strip() != text:
            return False
        if not self._tabbed.takes(cells, (text, line, style)):
            self._flush_tabbed()
            return self._tabbed.takes(cells, (text, line, style))
        return True

    def _flush_tabbed(self) -> None:
        rows, held = self._tabbed.take()
        if rows:
            self._depths.clear()
            self._bold.settle("text")
            is_named = held[0][1].is_bold and not held[-1][1].is_bold
            table_of(rows, [is_named, *[False] * (len(rows) - 1)]).write(self.writer)
            return
        for text, line, style in held:
            self._depths.clear()
            self._plain(text, line, style)

    def _plain(self, text: str, line: Line, style: Style) -> None:
        head, _, rest = text.partition("\n")
        if rest and line.has_bold_head and self._bold.takes(head, is_bold=not style.is_caption):
            self._bold.settle("text")
            text = rest
        if QUOTE.search(style.name):  # Word's "Intense Quote" is bold, and no heading
            self._bold.settle("text")
            self.writer.quote(text)
        elif not self._bold.takes(text, is_bold=line.is_bold and not style.is_caption, is_large=line.is_large):
            write_typed(self.writer, text)

    def _flush(self) -> None:
        self._flush_tabbed()
        self._flush_code()

    def _flush_code(self) -> None:
        if self._code:
            self.writer.code("\n".join(self._code).strip("\n"))
            self._code = []
            self._depths.clear()

    def _table(self, table: Element) -> None:
        self._inside = 0
        self._flush()
        self._bold.settle("text")
        self._depths.clear()
        rows = read_table(table, self.cell_text)
        if rows is not None:
            rows.write(self.writer)
            return
        for row in rows_of(table):  # a layout
            for cell in cells_of(row):
                for block in cell:
                    self.add(block)


def _sign_in_cell(number: Number | None) -> str:
    """The number or the label before an item in a cell; "" for a bullet."""
    if number is None or number.number is None:
        return ""
    return f"{item_sign(number.number, number.label).removeprefix('- ')} "


def _is_contents(block: Element) -> bool:
    """Whether a block is a table of contents."""
    return value(block, "w:sdtPr", "w:docPartObj", "w:docPartGallery").lower() == "table of contents"


def _is_hint(block: Element) -> bool:
    """Whether a block is a control that shows what to write into it: "Click here to enter text"."""
    return child(block, "w:sdtPr", "w:showingPlcHdr") is not None
