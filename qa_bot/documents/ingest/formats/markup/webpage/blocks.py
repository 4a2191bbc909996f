"""Writes the blocks of an HTML tree as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from qa_bot.documents.ingest.formats.list_labels import Depths, number_and_label, numeral
from qa_bot.documents.ingest.formats.markup.webpage.image_texts import image_text
from qa_bot.documents.ingest.formats.markup.webpage.inline import INVISIBLE, Inline
from qa_bot.documents.ingest.formats.markup.webpage.lists import (
    definitions,
    first_number,
    number_form,
    office_item,
    parts_of_term,
    term_label,
    whole_number,
)
from qa_bot.documents.ingest.formats.markup.webpage.note_marks import NoteMarks
from qa_bot.documents.ingest.formats.markup.webpage.tables import cells, grid, is_layout, remove_line_numbers
from qa_bot.documents.ingest.formats.markup.webpage.tabs import HEADINGS, first_panel, hides_nothing, is_content
from qa_bot.documents.ingest.formats.markup.webpage.tags import EMPHASIS, HANDLERS
from qa_bot.documents.ingest.line_headings import divided_at_headings
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

DEEPEST = 100  # levels of elements; what is nested deeper becomes running text
DEEPEST_QUOTE = 4
ANCHOR_SIGNS = {"¶", "#", "§", "🔗", "link", "permalink", "edit", "[edit]"}
EDIT_LINKS = ".mw-editsection, .editsection"
BOXES = re.compile(r"(?:\[[x ]\]\s*)+")
CODE_LANGUAGE = re.compile(r"(?:language-|lang-|highlight-source-|brush:\s*|code (?=[\w+#-]+ literal))([\w+#-]+)")
SUPERSCRIPTS = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


@dataclass(slots=True)
class _ListItem:
    """An item around the current block; its sign is written with its first text."""

    number: int | None = None
    lead: str = ""
    label: str = ""
    is_written: bool = False


class BlockWriter:
    """Walks a tree and writes headings, paragraphs, lists, tables, code and quotes."""

    def __init__(
        self, writer: MarkdownWriter | None = None, *, quotes: int = 0, marks: NoteMarks | None = None
    ) -> None:
        self.writer = MarkdownWriter() if writer is None else writer
        self._quotes = quotes
        self._marks = NoteMarks() if marks is None else marks
        self._inline = Inline()
        self._items: list[_ListItem] = []
        self._office_depths = Depths()
        self._in_heading = self._in_term = False
        self._heading_text = ""
        self._are_definitions = False  # whether the last list outside of items is a `dl`

    def write(self, root: LexborNode, depth: int = 0) -> MarkdownWriter:
        """Write all that is in the element, which is itself `depth` levels deep."""
        self._children(root, depth)
        self._flush()
        return self.writer

    def _children(self, node: LexborNode, depth: int, panels: LexborNode | None = None) -> None:
        """Write what is in an element; the headings of `panels`, the first of those at its end, end with it."""
        child, above = node.child, self.writer.headed
        while child is not None:
            if panels is not None and child.mem_id == panels.mem_id:
                self._flush()
                above = self.writer.headed
            if (name := HANDLERS.get(child.tag or "")) is not None:
                getattr(self, name)(child, depth + 1)
            elif depth >= DEEPEST:
                self._inline.text(f" {child.text()} ")
            else:
                self._children(child, depth + 1)
            child = child.next
        if panels is not None:
            self._flush()
            self._end_headings(above)

    # --- inline -----------------------------------------------------------------------------------------------------

    def _nothing(self, node: LexborNode, depth: int) -> None:
        pass

    def _text(self, node: LexborNode, _: int) -> None:
        self._inline.text(node.text_content or "")

    def _break(self, _node: LexborNode, _: int) -> None:
        self._inline.line_break()

    def _emphasis(self, node: LexborNode, depth: int) -> None:
        emphasis = EMPHASIS[node.tag or "b"]
        self._inline.begin(emphasis)
        self._deeper(node, depth)
        self._inline.end(emphasis)

    def _code(self, node: LexborNode, _: int) -> None:
        self._inline.code(node.text())

    def _link(self, node: LexborNode, depth: int) -> None:
        attributes = node.attributes
        address = (attributes.get("href") or "").strip()
        text = node.text().strip()
        if address.startswith("#") and text.lower() in ANCHOR_SIGNS and text != self._heading_text:
            return
        if (mark := self._marks.shown(node)) is not None:
            self._note_mark(mark)
            return
        self._inline.begin_link()
        self._deeper(node, depth)
        self._inline.end_link(address)

    def _image(self, node: LexborNode, _: int) -> None:
        if alternative := image_text(node):
            self._inline.gap_if_glued()
            self._inline.text(alternative)
            self._inline.gap_if_glued()

    def _input(self, node: LexborNode, _: int) -> None:
        attributes = node.attributes
        if attributes.get("type") == "checkbox":
            self._inline.text("[x] " if "checked" in attributes else "[ ] ")

    def _label(self, node: LexborNode, depth: int) -> None:
        self._inline.gap_if_glued()
        self._deeper(node, depth)
        self._inline.gap_if_glued()

    def _quotation_marks(self, node: LexborNode, depth: int) -> None:
        self._inline.text("“")
        self._deeper(node, depth)
        self._inline.text("”")

    def _superscript(self, node: LexborNode, depth: int) -> None:
        text, word = node.text().strip(), self._inline.last_word()
        is_number = text.lstrip("+-").isascii() and text.lstrip("+-").isdigit()
        if (link := node.css_first("a[href*='#']")) is not None and link.text().strip() == text.strip("[]"):
            self._link(link, depth)
        elif not is_number or not word:
            self._deeper(node, depth)
        elif word[-1].isdigit() or len(word) <= 2:
            self._inline.text(text.translate(SUPERSCRIPTS))
        else:
            self._note_mark(f"[{text}]")

    def _note_mark(self, mark: str) -> None:
        """The mark of a footnote, or its label; headings have none."""
        if mark and not self._in_heading:
            self._inline.note_mark(mark)

    def _deeper(self, node: LexborNode, depth: int, panels: LexborNode | None = None) -> None:
        if depth >= DEEPEST:
            self._inline.text(f" {node.text()} ")
        else:
            self._children(node, depth, panels)

    # --- blocks -----------------------------------------------------------------------------------------------------

    def _block(self, node: LexborNode, depth: int) -> None:
        if is_content(node):
            self._aside(node, depth)
            return
        self._flush()
        self._deeper(node, depth, first_panel(node))
        self._flush()

    def _aside(self, node: LexborNode, depth: int) -> None:
        """An element whose headings do not head what follows it."""
        self._flush()
        above = self.writer.headed
        self._deeper(node, depth)
        self._flush()
        self._end_headings(above)

    def _end_headings(self, above: tuple[int, int]) -> None:
        if not self._items and not self._quotes:
            self.writer.end_headings(above)

    def _heading(self, node: LexborNode, depth: int) -> None:
        self._flush()
        for link in node.css(EDIT_LINKS):
            link.decompose()
        self._in_heading, self._heading_text = True, node.text().rstrip("¶#§🔗 \n\t").lstrip()
        self._deeper(node, depth)
        self._in_heading, self._heading_text = False, ""
        text = self._inline.take_plain()
        for sign in ANCHOR_SIGNS & {"¶", "#", "🔗"}:
            text = text.removesuffix(sign).rstrip()
        if self._items and text:  # a heading inside a list does not end it
            self._write_text(f"**{text}**")
        elif text:
            self.writer.heading(int((node.tag or "h6")[1]), text)

    def _summary(self, node: LexborNode, depth: int) -> None:
        self._flush()
        if hides_nothing(node):
            return
        if node.css_first("div, p") is None or node.css_first(HEADINGS) is not None:
            self._deeper(node, depth)
        else:
            self._inline.text(node.text(separator=" "))
        if text := self._inline.take_plain():
            self._write_text(f"**{text}**")

    def _button(self, node: LexborNode, depth: int) -> None:
        attributes = node.attributes
        is_label = self._in_heading or self._in_term
        if ("aria-expanded" in attributes or "aria-controls" in attributes) and not is_label:
            self._summary(node, depth)
        else:
            self._deeper(node, depth)

    def _paragraph(self, node: LexborNode, depth: int) -> None:
        item = office_item(node, self._office_depths)
        if item is None:
            self._block(node, depth)
            return
        self._flush()
        number, label = number_and_label(item[1])
        outer = [*self._items]
        self._items += [_ListItem(is_written=True)] * item[0]
        self._item([node], depth, _ListItem(number, label=label))
        self._items = outer

    def _list(self, node: LexborNode, depth: int) -> None:
        self._begin_list(node)
        number, step = first_number(node)
        form = number_form(node)
        child, is_begun = node.child, False
        while child is not None:
            if child.tag == "li" and node.tag == "ol":
                number = whole_number(child.attributes.get("value"), number)
                label = f"{numeral(number, number_form(child) or form)}."
                self._item([child], depth + 1, _ListItem(number, label=label))
                number += step
            elif child.tag in {"ul", "ol"} and is_begun:  # a list in the list instead of in its last item
                self._items.append(_ListItem(is_written=True))
                self._list(child, depth + 1)
                self._items.pop()
            elif (name := HANDLERS.get(child.tag or "")) is not None:
                getattr(self, name)(child, depth + 1)
            else:
                self._deeper(child, depth + 1)
            is_begun = is_begun or child.tag == "li"
            child = child.next
        self._flush()

    def _stray_item(self, node: LexborNode, depth: int) -> None:
        self._item([node], depth, _ListItem())

    def _begin_list(self, node: LexborNode) -> None:
        """Definitions do not continue steps or bullets; bullets continue steps, which people indent too little."""
        self._flush()
        if not self._items and (node.tag == "dl") != self._are_definitions:
            self.writer.end_list()
            self._are_definitions = node.tag == "dl"

    def _item(self, parts: Sequence[LexborNode], depth: int, item: _ListItem) -> None:
        self._flush()
        self._write_lead()
        self._items.append(item)
        for part in parts:
            self._deeper(part, depth)
            self._flush()
        self._items.pop()

    def _definitions(self, node: LexborNode, depth: int) -> None:
        self._begin_list(node)
        for names, descriptions in definitions(node):
            terms = [term for name in names for part in parts_of_term(name) if (term := self._term(part, depth))]
            if descriptions:
                self._item(descriptions, depth, _ListItem(lead=term_label(terms)))
            elif terms:
                self._items.append(_ListItem())
                self._write_text(", ".join(terms))
                self._items.pop()

    def _term(self, node: LexborNode, depth: int) -> str:
        self._in_term = True
        self._deeper(node, depth)
        self._in_term = False
        return self._inline.take_plain().strip(", ")

    def _preformatted(self, node: LexborNode, _: int) -> None:
        self._flush()
        for line_end in node.css("br"):
            line_end.replace_with("\n")
        remove_line_numbers(node)
        inner = node.css_first("code")
        names = f"{node.attributes.get('class') or ''} {(inner and inner.attributes.get('class')) or ''}"
        language = CODE_LANGUAGE.search(names)
        if node.text().strip():
            self._write_lead()
            text = "\n".join(line.rstrip() for line in node.text().expandtabs(4).split("\n"))
            self.writer.code(text, language[1] if language else "", depth=self._depth)

    def _quote(self, node: LexborNode, depth: int) -> None:
        self._flush()
        if self._quotes >= DEEPEST_QUOTE or depth >= DEEPEST:
            self._block(node, depth)
            return
        inner = BlockWriter(quotes=self._quotes + 1, marks=self._marks).write(node, depth)
        if inner.text:
            self._write_lead()
            self.writer.quoted(inner, depth=self._depth)

    def _table(self, node: LexborNode, depth: int) -> None:
        self._flush()
        for part in node.iter():
            if part.tag == "caption":
                self._block(part, depth)
        if is_layout(node) or depth >= DEEPEST:
            for cell in cells(node):
                self._block(cell, depth)
            return
        rows = grid(node, lambda cell: cell_text(cell, depth, self._marks))
        if rows.rows:
            self._write_lead()
            self.writer.table(rows.rows, header=rows.header, depth=self._depth)

    # --- output -----------------------------------------------------------------------------------------------------

    @property
    def _depth(self) -> int:
        return sum(item.is_written for item in self._items)

    def _flush(self) -> None:
        self._write_text(self._inline.take())

    def _write_text(self, text: str) -> None:
        is_empty = not text.strip(INVISIBLE)
        if is_empty or (not self._items and BOXES.fullmatch(text)):  # boxes without text are switches of the page
            return
        if not self._items or self._items[-1].is_written:
            self.writer.paragraph(text if self._items else divided_at_headings(text), depth=self._depth)
            return
        self._write_item(self._items[-1], text)

    def _write_lead(self) -> None:
        """A term whose description begins with code, a list or a table stands above it."""
        if self._items and self._items[-1].lead and not self._items[-1].is_written:
            self._write_item(self._items[-1], "")

    def _write_item(self, item: _ListItem, text: str) -> None:
        self.writer.item(f"{item.lead}{text}".rstrip(), depth=self._depth, number=item.number, label=item.label)
        item.is_written = True


class _CellWriter(BlockWriter):
    """Collects the text of a cell; items of its lists are divided by semicolons."""

    def __init__(self, marks: NoteMarks) -> None:
        super().__init__(marks=marks)
        self.text = ""

    def _write_text(self, text: str) -> None:
        if text:
            gap = "; " if self._items and self.text and self.text[-1] not in ".:;,!?" else " "
            self.text += f"{gap}{text}"

    def _heading(self, node: LexborNode, depth: int) -> None:
        self._block(node, depth)

    def _preformatted(self, node: LexborNode, depth: int) -> None:
        self._flush()
        self._code(node, depth)
        self._flush()

    def _quote(self, node: LexborNode, depth: int) -> None:
        self._block(node, depth)

    def _table(self, node: LexborNode, depth: int) -> None:
        self._flush()
        lines = [] if depth >= DEEPEST else grid(node, lambda cell: cell_text(cell, depth + 1, self._marks)).rows
        self._write_text("; ".join(": ".join(filter(None, line)) for line in lines))


def cell_text(cell: LexborNode, depth: int, marks: NoteMarks) -> str:
    """The text of a cell on one line."""
    child = cell.child
    if child is not None and child.next is None and child.tag == "-text":
        return " ".join((child.text_content or "").split())
    inner = _CellWriter(marks)
    inner.write(cell, depth)
    return " ".join(inner.text.split())
