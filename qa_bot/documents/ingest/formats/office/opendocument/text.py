"""The text of OpenDocument paragraphs, and blocks of text documents: headings, lists, tables, frames, notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.office.merged_cells import Cell, Merged, table_of
from qa_bot.documents.ingest.formats.office.names import child, whole_number
from qa_bot.documents.ingest.formats.office.opendocument.lists import OdfLists
from qa_bot.documents.ingest.formats.office.opendocument.styles import OdfStyle, OdfStyles
from qa_bot.documents.ingest.formats.office.package import picture_text, web_link
from qa_bot.documents.ingest.formats.office.symbol_fonts import symbols
from qa_bot.documents.ingest.formats.office.word.bold_line import BoldLine, write_typed
from qa_bot.documents.ingest.formats.office.word.tables import join_blocks
from qa_bot.documents.ingest.formats.run_marks import marked, resolved
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

LARGE = 14
"""The size of a title in points, at least."""
MOST_REPEATED = 1000  # spaces, rows or columns of one element
COMMENT = "office:annotation"
SKIPPED = {
    *("text:tracked-changes", COMMENT, "office:annotation-end", "text:ruby-text", "text:note-citation"),
    *("text:table-of-content", "text:alphabetical-index", "text:illustration-index", "text:table-index"),
    *("office:forms", "text:sequence-decls", "presentation:notes", "text:soft-page-break", "text:hidden-text"),
}
CONTAINERS = {
    *("text:section", "text:index-body", "draw:frame", "draw:text-box", "draw:g", "draw:a", "draw:custom-shape"),
    *("draw:rect", "draw:ellipse", "draw:line", "draw:connector", "text:list-header", "draw:page"),
}
BOXES = {"draw:frame", "draw:text-box", "draw:custom-shape", "draw:rect", "draw:ellipse", "draw:g"}


class OdfBlocks:
    """Writes the blocks of a document one by one.

    `title` is the text of the style Title, else of a line that begins the text and looks like a title.

    Args:
        has_bold_headings: whether bold lines are headings; those of slides are not.
    """

    def __init__(self, writer: MarkdownWriter, styles: OdfStyles, *, has_bold_headings: bool = False) -> None:
        self.writer = writer
        self.title = ""
        self._styles = styles
        self._bold = BoldLine(writer) if has_bold_headings else None
        self._lists = OdfLists(styles, self._item, self.add)
        self._notes: list[Element] = []
        self._code: list[str] = []
        self._comments: list[Element] = []  # on the block that is read
        self._writers: dict[str, Callable[[Element], None]] = {
            "text:h": self._heading,
            "text:p": self._paragraph,
            "text:list": self._lists.write,
            "table:table": self._table,
            "svg:title": self._picture,
            "svg:desc": self._picture,
        }

    def add(self, block: Element) -> None:
        """Writes a block, or what a section or a frame has."""
        if block.tag != "text:p":
            self.flush()
        write = self._writers.get(block.tag)
        if self._is_hidden(block):
            return
        if write is not None and block.tag != "text:p":
            self._settle("heading" if block.tag == "text:h" else "text")
        if write is not None:
            write(block)
        elif block.tag in CONTAINERS:
            for inner in block:
                self.add(inner)
        self._show_comments()

    def flush(self) -> None:
        """Writes the lines of code that wait for a next one."""
        if self._code:
            self.writer.code("\n".join(self._code))
            self._code = []

    def end(self) -> None:
        """Writes the notes, with their numbers."""
        self.flush()
        self._settle("end")
        self.title = self.title or (self._bold.title if self._bold else "")
        notes, self._notes = self._notes, []
        if notes:
            self.writer.heading(2, "Notes")
        for number, note in enumerate(notes, 1):
            self.writer.paragraph(f"[{number}] {self.blocks_text(note)}")
            self._show_comments()

    def line(self, element: Element) -> tuple[str, list[Element]]:
        """The text of a paragraph, and the frames in it."""
        pieces: list[str] = []
        boxes: list[Element] = []
        if self._is_hidden(element):
            return "", []
        self._walk(element, pieces, boxes)
        style = self._styles.style(element.get("text:style-name", ""))
        text = marked(symbols("".join(pieces)), is_struck=style.is_struck)
        lines = (" ".join(line.split(" ")).strip() for line in resolved(text).split("\n"))
        return "\n".join(line for line in lines if line), boxes

    def blocks_text(self, element: Element) -> str:
        """The blocks of a cell or a note in one line."""
        texts: list[str] = []
        for block in element:
            if block.tag in {"text:p", "text:h"}:
                text, boxes = self.line(block)
                texts += [text, *map(self.blocks_text, boxes)]
            elif block.tag == "table:table":
                texts += [
                    ", ".join(cell for cell in row if isinstance(cell, str) and cell) for row in self._cells(block)
                ]
            elif not self._is_hidden(block):
                texts.append(self.blocks_text(block))
        return join_blocks(texts)

    def _cells(self, table: Element) -> list[list[Cell]]:
        """The places of a table; empty columns at its end are left out."""
        rows: list[list[Cell]] = []
        down: dict[int, int] = {}  # column → rows that a merged cell still covers
        for row, _ in _rows(table):
            cells: list[Cell] = []
            right = 0  # columns that a merged cell still covers
            for cell in row:
                if cell.tag not in {"table:table-cell", "table:covered-table-cell"}:
                    continue
                is_covered = cell.tag == "table:covered-table-cell"
                text = self.blocks_text(cell)
                repeated = min(whole_number(cell.get("table:number-columns-repeated"), 1), MOST_REPEATED)
                first = len(cells)
                for column in range(first, first + max(1, repeated)):
                    if is_covered and right > 0:
                        cells.append(Merged.LEFT)
                        right -= 1
                    else:
                        cells.append(Merged.ABOVE if is_covered and down.get(column, 0) > 0 else text)
                        down[column] = down.get(column, 0) - 1
                if not is_covered:
                    right = _span(cell, "columns") - 1
                    down |= dict.fromkeys(range(first, len(cells) + right), _span(cell, "rows") - 1)
            while cells and not cells[-1]:
                cells.pop()
            rows.append(cells)
        width = max(map(len, rows), default=0)
        return [cells + [""] * (width - len(cells)) for cells in rows]

    def _walk(self, element: Element, pieces: list[str], boxes: list[Element]) -> None:
        pieces.append(_folded(element.text))
        for node in element:
            if node.tag == COMMENT:
                self._comments.append(node)
            elif self._is_hidden(node):
                pass
            elif node.tag in BOXES:
                boxes.append(node)
            elif node.tag == "text:note":
                self._notes += [body for body in node if body.tag == "text:note-body"]
                pieces.append(f"[{len(self._notes)}]")
            elif node.tag == "text:a":
                inner: list[str] = []
                self._walk(node, inner, boxes)
                pieces.append(web_link("".join(inner), node.get("xlink:href", "")))
            elif node.tag == "text:span":
                run: list[str] = []
                self._walk(node, run, boxes)
                style = self._styles.style(node.get("text:style-name", ""))
                text = symbols("".join(run), style.font)
                pieces.append(marked(text, is_raised=style.is_raised, is_struck=style.is_struck))
            elif node.tag == "text:s":
                pieces.append(" " * min(max(1, whole_number(node.get("text:c"), 1)), MOST_REPEATED))
            elif node.tag in {"text:tab", "text:line-break"}:
                pieces.append(" " if node.tag == "text:tab" else "\n")
            else:
                self._walk(node, pieces, boxes)
            pieces.append(_folded(node.tail))

    def _is_hidden(self, node: Element) -> bool:
        """Whether an element is left out, or hidden by its attribute or by its style."""
        is_text = node.tag in {"text:p", "text:h", "text:span"}
        is_hidden = node.tag in SKIPPED or node.get("text:display") == "none"
        return is_hidden or (is_text and self._styles.style(node.get("text:style-name", "")).is_hidden)

    def _show_comments(self, *, depth: int = 0) -> None:
        """Writes the comments on the block above, which is within `depth` items."""
        comments, self._comments = self._comments, []
        if comments:
            self.flush()
            self._settle("text")
        for comment in comments:
            creator = child(comment, "dc:creator")
            author = f" ({creator.text})" if creator is not None and creator.text else ""
            text = self.blocks_text(comment)
            self.writer.paragraph(f"Comment{author}: {text}" if text else "", depth=depth)

    def _heading(self, element: Element) -> None:
        text, boxes = self.line(element)
        level = max(1, whole_number(element.get("text:outline-level"), 1))
        self.writer.heading(level, text)
        self._show_comments()
        for box in boxes:
            self.add(box)

    def _paragraph(self, element: Element) -> None:
        style = self._styles.style(element.get("text:style-name", ""))
        text, boxes = self.line(element)
        if style.is_code and text:
            self._settle("text")
            self._code.append(self._plain(element))
        else:
            self.flush()
            if style.is_title:
                self._settle("title")
                self.title = self.title or " ".join(text.split())
                self.writer.heading(1, text)
            elif style.is_quote:
                self._settle("text")
                self.writer.quote(text)
            elif text:
                self._plain_text(text, element, style)
        self._show_comments()
        for box in boxes:
            self.add(box)

    def _plain_text(self, text: str, element: Element, style: OdfStyle) -> None:
        if self._bold is None:
            self.writer.paragraph(text)
            return
        spans = [self._styles.style(span.get("text:style-name", "")) for span in element if span.tag == "text:span"]
        is_large = max([style.size, *(span.size for span in spans[:1])]) >= LARGE
        is_bold = self._is_bold(element, is_bold=style.is_bold)
        if not self._bold.takes(text, is_bold=is_bold, is_large=is_large and is_bold):
            write_typed(self.writer, text)

    def _is_bold(self, element: Element, *, is_bold: bool) -> bool:
        """Whether all of the text in a paragraph or a run is bold.

        Args:
            is_bold: whether the text outside of runs is.
        """
        if not is_bold and (element.text or "").strip():
            return False
        for node in element:
            style = self._styles.style(node.get("text:style-name", ""))
            if not self._is_bold(node, is_bold=is_bold or (node.tag == "text:span" and style.is_bold)):
                return False
            if not is_bold and (node.tail or "").strip():
                return False
        return True

    def _settle(self, follower: Literal["text", "heading", "title", "end"]) -> None:
        if self._bold is not None:
            self._bold.settle(follower)

    def _item(self, item: Element, depth: int, number: int | None, label: str) -> None:
        texts, boxes = [], []
        for block in item:
            if block.tag in {"text:p", "text:h"}:
                text, inner = self.line(block)
                texts.append(text)
                boxes += inner
        self.writer.item("\n".join(filter(None, texts)), depth=depth, number=number, label=label)
        self._show_comments(depth=depth + 1)
        for box in boxes:
            self.add(box)

    def _table(self, table: Element) -> None:
        marked = [is_header for _, is_header in _rows(table)]
        rows = [(row, is_header) for row, is_header in zip(self._cells(table), marked, strict=True) if any(row)]
        table_of([row for row, _ in rows], [is_header for _, is_header in rows]).write(self.writer)

    def _picture(self, element: Element) -> None:
        self.writer.paragraph(picture_text(element.text or ""))

    def _plain(self, element: Element) -> str:
        """A line of code with its spaces."""
        pieces = [element.text or ""]
        for node in element:
            if node.tag == "text:s":
                pieces.append(" " * min(max(1, whole_number(node.get("text:c"), 1)), MOST_REPEATED))
            elif node.tag in {"text:tab", "text:line-break"}:
                pieces.append("    " if node.tag == "text:tab" else "\n")
            elif not self._is_hidden(node):
                pieces.append(self._plain(node))
            pieces.append(node.tail or "")
        return "".join(pieces)


def _rows(table: Element, *, is_header: bool = False) -> Iterator[tuple[Element, bool]]:
    """The rows of a table, and whether they are marked as headers."""
    for inner in table:
        if inner.tag == "table:table-row":
            yield inner, is_header
        elif inner.tag in {"table:table-header-rows", "table:table-rows", "table:table-row-group"}:
            yield from _rows(inner, is_header=is_header or inner.tag == "table:table-header-rows")


def _span(cell: Element, direction: str) -> int:
    return min(max(1, whole_number(cell.get(f"table:number-{direction}-spanned"), 1)), MOST_REPEATED)


def _folded(text: str | None) -> str:
    """Text with white space folded, as the format demands."""
    if not text:
        return ""
    folded = " ".join(text.split())
    return f"{' ' if text[0].isspace() else ''}{folded}{' ' if folded and text[-1].isspace() else ''}"
