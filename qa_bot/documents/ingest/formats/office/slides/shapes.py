"""Writes the shapes of a slide: text with its bullets and steps, groups, tables, charts, diagrams, pictures' texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.list_labels import Depths, numeral
from qa_bot.documents.ingest.formats.office.embedded import REFERENCES, write_embedded
from qa_bot.documents.ingest.formats.office.formula_markup import formula_text
from qa_bot.documents.ingest.formats.office.merged_cells import Cell, Merged, table_of
from qa_bot.documents.ingest.formats.office.names import child, value, whole_number
from qa_bot.documents.ingest.formats.office.package import Link, Package, picture_text, web_link
from qa_bot.documents.ingest.formats.office.slides.reading_order import in_reading_order, is_above
from qa_bot.documents.ingest.formats.office.symbol_fonts import symbols
from qa_bot.documents.ingest.formats.run_marks import marked, resolved
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

FURNITURE = {"dt", "ftr", "sldNum", "hdr", "sldImg"}
BULLETED = {"", "body", "obj"}
"""Kinds of placeholders whose paragraphs have bullets unless they say otherwise."""
BULLETS = {"a:buChar", "a:buBlip"}
NUMBER_FORM = re.compile(r"(alphaLc|alphaUc|romanLc|romanUc|arabic)(\w*)")
FORMS = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I", "arabic": "1"}
NUMBER_SIGNS = {"ParenBoth": ("(", ")"), "ParenR": ("", ")"), "Period": ("", ".")}
MOST_LEVELS = 9
NOT_STRUCK = "noStrike"
USUAL_SIZE = 1800  # hundredths of points
LONGEST_TITLE = 80  # characters


def placeholder_of(shape: Element) -> str | None:
    """The kind of a placeholder, "" for the general one, None for other shapes."""
    for properties in shape:
        placeholder = child(properties, "p:nvPr", "p:ph")
        if placeholder is not None:
            return placeholder.get("type", "")
    return None


def shape_text(shape: Element) -> str:
    """The text of a shape in one line."""
    body = child(shape, "p:txBody")
    texts = [_paragraph_text(paragraph, {}) for paragraph in body.iter("a:p")] if body is not None else []
    return " ".join(" ".join(texts).split())


def heading_text(shapes: Iterable[Element]) -> list[Element]:
    """The title of a slide without a placeholder for it.

    It is the short text box with larger letters than all others, or the only one, above a table, chart or diagram.
    """
    shapes = list(shapes)
    texts = [shape for shape in shapes if shape.tag == "p:sp" and shape_text(shape)]
    sizes = sorted({_size(shape) for shape in texts})
    largest = [shape for shape in texts if _size(shape) == sizes[-1]]
    frames = [shape for shape in shapes if shape.tag == "p:graphicFrame"]
    stands_out = len(sizes) > 1 or (bool(frames) and all(is_above(shape, frame) for shape in texts for frame in frames))
    is_title = stands_out and len(largest) == 1 and len(shape_text(largest[0])) <= LONGEST_TITLE
    return largest if is_title else []


def _size(shape: Element) -> int:
    """The size of a shape's first letters in hundredths of points."""
    body = child(shape, "p:txBody")
    runs = [run for run in body.iter("a:rPr") if run.get("sz")] if body is not None else []
    return whole_number(runs[0].get("sz"), USUAL_SIZE) if runs else USUAL_SIZE


class Shapes:
    """Writes shapes in the order of the slide; without `has_bullets` all text is paragraphs."""

    def __init__(
        self, package: Package, links: Mapping[str, Link], writer: MarkdownWriter, *, has_bullets: bool = True
    ) -> None:
        self._package = package
        self._links = links
        self._writer = writer
        self._has_bullets = has_bullets
        self._writers: dict[str, Callable[[Element], None]] = {
            "p:sp": self._text_shape,
            "p:grpSp": self._group,
            "p:graphicFrame": self._frame,
            "p:pic": self._alternative_text,
            "mc:AlternateContent": self._alternative,
            "mc:Choice": self.add_all,
        }

    def add_all(self, shapes: Iterable[Element]) -> None:
        """Writes shapes, those of groups too; dates, footers and slide numbers are left out."""
        for shape in shapes:
            write = self._writers.get(shape.tag)
            if write is not None and placeholder_of(shape) not in FURNITURE:
                write(shape)

    def _group(self, group: Element) -> None:
        self.add_all(in_reading_order(group))

    def _alternative(self, shape: Element) -> None:
        self.add_all(list(shape)[:1])  # the first form is the richest

    def _text_shape(self, shape: Element) -> None:
        body = child(shape, "p:txBody")
        paragraphs = [inner for inner in body if inner.tag == "a:p"] if body is not None else []
        texts = [_paragraph_text(paragraph, self._links) for paragraph in paragraphs]
        filled = [(paragraph, text) for paragraph, text in zip(paragraphs, texts, strict=True) if text]
        if not filled:
            self._alternative_text(shape)
            return
        kind = placeholder_of(shape)
        is_list = self._has_bullets and kind in BULLETED and len(filled) > 1
        counts: dict[int, int] = {}
        depths = Depths()
        for paragraph, text in filled:
            properties = child(paragraph, "a:pPr")
            level = min(max(0, whole_number(value(paragraph, "a:pPr", attribute="lvl"))), MOST_LEVELS)
            sign = _sign(properties, is_list=is_list) if self._has_bullets else None
            if sign is None:
                counts = {}
                depths.clear()
                self._writer.paragraph(text)
                continue
            number = _count(properties, counts, level) if sign == "number" else None
            label = _label(properties, number) if number is not None else ""
            self._writer.item(text, depth=depths.depth(level), number=number, label=label)

    def _frame(self, frame: Element) -> None:
        for data in frame.iter("a:graphicData"):
            for inner in data:
                if inner.tag == "a:tbl":
                    self._table(inner)
                elif inner.tag in REFERENCES:
                    write_embedded(inner, self._package, self._links, self._writer)
        self._alternative_text(frame)

    def _table(self, table: Element) -> None:
        rows = [self._row(row) for row in table if row.tag == "a:tr"]
        says_header = value(table, "a:tblPr", attribute="firstRow") in {"1", "true"}
        table_of(rows, [says_header and row is rows[0] for row in rows]).write(self._writer)

    def _row(self, row: Element) -> list[Cell]:
        cells: list[Cell] = []
        for cell in (inner for inner in row if inner.tag == "a:tc"):
            if cell.get("vMerge") in {"1", "true"}:
                cells.append(Merged.ABOVE)
            elif cell.get("hMerge") in {"1", "true"}:
                cells.append(Merged.LEFT)
            else:
                texts = (_paragraph_text(paragraph, self._links) for paragraph in cell.iter("a:p"))
                cells.append("; ".join(filter(None, texts)))
        return cells

    def _alternative_text(self, shape: Element) -> None:
        for properties in shape:
            self._writer.paragraph(picture_text(value(properties, "p:cNvPr", attribute="descr")))


def _paragraph_text(paragraph: Element, links: Mapping[str, Link]) -> str:
    pieces = []
    for run in paragraph:
        if run.tag == "a:br":
            pieces.append("\n")
            continue
        text = _run_text(run)
        properties = child(run, "a:rPr")
        fonts = [value(properties, name, attribute="typeface") for name in ("a:latin", "a:sym")]
        text = symbols(text, fonts[0], private_font=fonts[1])
        if properties is not None:
            is_raised = whole_number(properties.get("baseline")) > 0
            text = marked(text, is_raised=is_raised, is_struck=properties.get("strike", NOT_STRUCK) != NOT_STRUCK)
        link = links.get(value(properties, "a:hlinkClick", attribute="r:id"))
        is_web = link is not None and link.is_external
        pieces.append(web_link(text, link.target) if link is not None and is_web else text)
    lines = (" ".join(line.split()) for line in resolved("".join(pieces)).replace("\v", "\n").split("\n"))
    return "\n".join(line for line in lines if line)


def _run_text(node: Element) -> str:
    """The text of a run, or its formula: of two forms of a formula the first is the richest."""
    if node.tag == "m:oMath":
        return formula_text(node)
    if node.tag == "a:t":
        return node.text or ""
    return "".join(map(_run_text, list(node)[:1] if node.tag == "mc:AlternateContent" else node))


def _label(properties: Element | None, number: int) -> str:
    """A number as PowerPoint shows it: `alphaLcParenR` is "a)"."""
    match = NUMBER_FORM.match(value(properties, "a:buAutoNum", attribute="type"))
    if match is None:
        return ""
    before, after = NUMBER_SIGNS.get(match[2], ("", ""))
    return f"{before}{numeral(number, FORMS[match[1]])}{after}"


def _sign(properties: Element | None, *, is_list: bool) -> str | None:
    """What stands before a paragraph: "bullet", "number" or None."""
    for inner in properties if properties is not None else ():
        if inner.tag == "a:buNone":
            return None
        if inner.tag == "a:buAutoNum":
            return "number"
        if inner.tag in BULLETS:
            return "bullet"
    return "bullet" if is_list else None


def _count(properties: Element | None, counts: dict[int, int], level: int) -> int:
    start = whole_number(value(properties, "a:buAutoNum", attribute="startAt"), 1)
    counts[level] = counts.get(level, start - 1) + 1
    for deeper in [other for other in counts if other > level]:
        del counts[deeper]
    return counts[level]
