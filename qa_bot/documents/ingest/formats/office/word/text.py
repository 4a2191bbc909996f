"""The text of a paragraph of a Word document: runs, links, fields, notes' marks, changes as accepted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.office.embedded import REFERENCES
from qa_bot.documents.ingest.formats.office.formula_markup import formula_text
from qa_bot.documents.ingest.formats.office.names import child, value, whole_number
from qa_bot.documents.ingest.formats.office.package import Link, picture_text, web_link
from qa_bot.documents.ingest.formats.office.symbol_fonts import symbol, symbols
from qa_bot.documents.ingest.formats.office.word.styles import RAISED, Style, font_of, is_monospaced, is_on
from qa_bot.documents.ingest.formats.run_marks import marked, resolved, unmarked

SKIPPED = {
    *("w:pPr", "w:rPr", "w:sdtPr", "w:tcPr"),  # properties
    *("w:del", "w:moveFrom", "w:delText"),
    *("w:annotationRef", "w:footnoteRef", "w:endnoteRef"),
    "w:rt",  # the reading of a Japanese word
}
CONTENTS_FIELD = re.compile(r"\s*TOC\b")
CONTENTS_TARGET = re.compile(r"_Toc|_heading=h\.")
"""Begins the name of a place that a table of contents leads to, in Word and in Google Docs."""
LINK_FIELD = re.compile(r'\s*HYPERLINK\s+"([^"]+)"')
LARGE = 28
"""The size of letters of a title in half points, at least."""
COMMENT = "w:commentReference"
PLAIN = Style()
CHARACTERS = {"w:tab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "\u2011", "w:ptab": "\t"}
CODE_TAB = "    "


@dataclass
class Notes:
    """The marks of footnotes and endnotes in the order of their references."""

    marks: dict[tuple[str, str], int] = field(default_factory=dict)

    def mark(self, kind: str, note: str) -> str:
        """`[n]` for a note; the first reference gives its number."""
        return f"[{self.marks.setdefault((kind, note), len(self.marks) + 1)}]"


@dataclass
class Line:
    """The text of one paragraph, the contents of its text boxes, and how it is set."""

    pieces: list[str] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    references: list[Element] = field(default_factory=list)  # to charts, diagrams and comments
    bold: int = 0  # or underlined characters
    large: int = 0
    monospaced: int = 0
    characters: int = 0
    head: list[bool] = field(default_factory=list)  # of the runs before the first line end: whether they are bold
    has_head: bool = False  # a line end was read
    leading: int = 0  # characters that lead to a heading
    begins_contents: bool = False  # the field of a table of contents, which goes on in the next paragraph
    ended_fields: int = 0  # those that began in an earlier paragraph

    @property
    def text(self) -> str:
        lines = (" ".join(line.split()) for line in resolved("".join(self.pieces)).split("\n"))
        return "\n".join(line for line in lines if line)

    @property
    def code(self) -> str:
        """The text with all its spaces."""
        return unmarked("".join(self.pieces)).replace("\t", CODE_TAB).rstrip()

    @property
    def cells(self) -> list[str]:
        """The texts that tabs divide; the first is empty if a tab begins the line."""
        text = resolved("".join(self.pieces)).rstrip()
        texts = [" ".join(cell.split()) for cell in text.split("\t")]
        return [texts[0], *filter(None, texts[1:])] if "\n" not in text.strip() else []

    @property
    def is_bold(self) -> bool:
        return 0 < self.characters == self.bold

    @property
    def has_bold_head(self) -> bool:
        """Whether the first of several lines is bold, and not all of them are."""
        return self.has_head and all(self.head) and not self.is_bold

    @property
    def is_large(self) -> bool:
        return 0 < self.characters == self.large

    @property
    def is_entry(self) -> bool:
        """Whether it is of a table of contents, perhaps without the number of a page."""
        return 0 < self.characters == self.leading

    @property
    def is_monospaced(self) -> bool:
        return 0 < self.characters == self.monospaced


def read_line(
    paragraph: Element, links: Mapping[str, Link], notes: Notes, styles: Mapping[str, Style], *, is_bold: bool = False
) -> Line:
    """The text of a paragraph; `is_bold` is what its style says, and `styles` has those of its runs."""
    reader = _LineReader(links, notes, styles, is_bold=is_bold)
    reader.walk(paragraph)
    reader.end()
    return reader.line


class _LineReader:
    def __init__(self, links: Mapping[str, Link], notes: Notes, styles: Mapping[str, Style], *, is_bold: bool) -> None:
        self.line = Line()
        self._styles = styles
        self._links = links
        self._notes = notes
        self._is_bold = is_bold
        self._font = ""
        self._fields: list[tuple[list[str], int]] = []  # instruction, number of pieces before the field
        self._handlers: dict[str, Callable[[Element], None]] = {
            "w:r": self._run,
            "w:t": self._text,
            "m:oMath": lambda node: self.line.pieces.append(formula_text(node)),
            "w:hyperlink": self._link,
            "w:fldSimple": self._simple_field,
            "w:fldChar": self._field_sign,
            "w:instrText": self._instruction,
            "w:footnoteReference": lambda node: self._note("footnote", node),
            "w:endnoteReference": lambda node: self._note("endnote", node),
            "w:txbxContent": lambda node: self.line.boxes.append(node),
            **dict.fromkeys((*REFERENCES, COMMENT), lambda node: self.line.references.append(node)),
            "wp:docPr": self._picture,
            "w:sym": lambda node: self.line.pieces.append(symbol(node.get("w:char", ""), node.get("w:font", ""))),
            "w:sdt": self._control,
            "mc:AlternateContent": self._alternative,
        }

    def walk(self, element: Element) -> None:
        for node in element:
            if node.tag in SKIPPED:
                continue
            handler = self._handlers.get(node.tag)
            if handler is not None:
                handler(node)
            elif node.tag in CHARACTERS:
                self.line.pieces.append(CHARACTERS[node.tag])
            else:
                self.walk(node)

    def end(self) -> None:
        """Closes the fields that end in a later paragraph."""
        self.line.begins_contents = any(CONTENTS_FIELD.match("".join(instruction)) for instruction, _ in self._fields)
        while self._fields:
            self._close_field()

    def _run(self, run: Element) -> None:
        properties = child(run, "w:rPr")
        style = self._styles.get(value(properties, "w:rStyle"), PLAIN)
        if _either(is_on(properties, "w:vanish"), style.is_hidden):
            return
        before = len(self.line.pieces)
        self._font = font_of(properties) or style.font
        self.walk(run)
        size = sum(len(piece.strip()) for piece in self.line.pieces[before:])
        is_underlined = value(properties, "w:u") not in {"", "none"}
        self.line.characters += size
        is_bold = is_underlined or _either(is_on(properties, "w:b"), self._is_bold or style.is_bold)
        self.line.bold += size * is_bold
        self._head("".join(self.line.pieces[before:]), is_bold=is_bold)
        self.line.large += size * (whole_number(value(properties, "w:sz")) >= LARGE)
        self.line.monospaced += size * (is_monospaced(properties) or style.is_code)
        raised = value(properties, "w:vertAlign")
        is_raised = raised == RAISED if raised else style.is_raised
        is_struck = _either(is_on(properties, "w:strike"), style.is_struck) or bool(is_on(properties, "w:dstrike"))
        if is_raised or is_struck:
            self.line.pieces[before:] = [
                marked(piece, is_raised=is_raised, is_struck=is_struck) for piece in self.line.pieces[before:]
            ]

    def _head(self, text: str, *, is_bold: bool) -> None:
        """Notes of a run before the first line end whether it is bold."""
        if not self.line.has_head:
            text = text if self.line.head else text.lstrip()
            self.line.head += [is_bold] if text.partition("\n")[0].strip() else []
            self.line.has_head = "\n" in text

    def _text(self, node: Element) -> None:
        self.line.pieces.append(symbols(node.text or "", self._font))

    def _link(self, node: Element) -> None:
        link = self._links.get(node.get("r:id", ""))
        before, earlier = len(self.line.pieces), self.line.characters
        self.walk(node)
        if CONTENTS_TARGET.match(node.get("w:anchor", "")):
            self.line.leading += self.line.characters - earlier
        if link is not None and link.is_external:
            self._wrap(before, link.target)

    def _wrap(self, before: int, target: str) -> None:
        text = "".join(self.line.pieces[before:])
        self.line.pieces[before:] = [web_link(text, target)]

    def _simple_field(self, node: Element) -> None:
        before = len(self.line.pieces)
        self.walk(node)
        if match := LINK_FIELD.match(node.get("w:instr", "")):
            self._wrap(before, match[1])

    def _field_sign(self, node: Element) -> None:
        kind = node.get("w:fldCharType")
        if kind == "begin":
            self._fields.append(([], len(self.line.pieces)))
            self.line.pieces.append(_form_value(child(node, "w:ffData")))
        elif kind == "end" and self._fields:
            self._close_field()
        elif kind == "end":
            self.line.ended_fields += 1

    def _instruction(self, node: Element) -> None:
        if self._fields:
            self._fields[-1][0].append(node.text or "")

    def _close_field(self) -> None:
        instruction, before = self._fields.pop()
        if match := LINK_FIELD.match("".join(instruction)):
            self._wrap(before, match[1])

    def _note(self, kind: str, node: Element) -> None:
        self.line.pieces.append(self._notes.mark(kind, node.get("w:id", "")))

    def _picture(self, node: Element) -> None:
        self.line.pieces.append(f" {picture_text(node.get('descr', ''))} ")

    def _control(self, node: Element) -> None:
        if child(node, "w:sdtPr", "w:showingPlcHdr") is None:  # the hint of an empty control
            content = child(node, "w:sdtContent")
            self.walk(content if content is not None else node)

    def _alternative(self, node: Element) -> None:
        choice = next(iter(node), None)  # the first form is the richest
        if choice is not None:
            self.walk(choice)


def _either(switch: bool | None, by_style: bool) -> bool:
    """A switch of a run, or else of its style."""
    return by_style if switch is None else switch


def _form_value(form: Element | None) -> str:
    """The state of a form's check box, or the choice of its list; "" for its other fields, which have a result."""
    box = child(form, "w:checkBox")
    if box is not None:
        checked = is_on(box, "w:checked")
        return "☒ " if (is_on(box, "w:default") if checked is None else checked) else "☐ "
    choices = child(form, "w:ddList")
    if choices is None:
        return ""
    entries = [entry.get("w:val", "") for entry in choices if entry.tag == "w:listEntry"]
    chosen = whole_number(value(choices, "w:result"))
    return entries[chosen] if 0 <= chosen < len(entries) else ""
