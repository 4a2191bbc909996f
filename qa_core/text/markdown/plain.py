"""Markdown as plain text for readers: no signs of emphasis or links, and a row of a table as a line of words."""

from __future__ import annotations

from collections.abc import Sequence

from qa_core.text.markdown.blocks import Block, Cell, Code, ListBlock, Paragraph, Quotation, Rule, Table, blocks
from qa_core.text.markdown.inline import Words

INDENT = "  "


def as_plain_text(markdown: str) -> str:
    """Paragraphs, items behind `-` or their number, and rows as `first cell: header value; header value`."""
    return _text(markdown, blocks(markdown))


def _text(text: str, parts: Sequence[Block]) -> str:
    return "\n\n".join(part for part in (_block(text, block) for block in parts) if part)


def _block(text: str, block: Block) -> str:
    match block:
        case Paragraph(words):
            return _words(text, words)
        case Code(lines):
            return "\n".join(text[start:end] for start, end in lines)
        case Table(header, rows):
            return "\n".join(_row(text, header, row) for row in rows if any(row))
        case ListBlock(items, numbers):
            signs = [f"{number}. " for number in numbers] or ["- "] * len(items)
            return "\n".join(_item(text, sign, item) for sign, item in zip(signs, items, strict=True))
        case Quotation(parts):
            return _text(text, parts)
        case Rule():
            return ""


def _item(text: str, sign: str, parts: Sequence[Block]) -> str:
    inner = "\n".join(_block(text, part) for part in parts)
    return sign + inner.replace("\n", f"\n{INDENT}")


def _row(text: str, header: Sequence[Cell] | None, row: Sequence[Cell]) -> str:
    first, *rest = (_words(text, cell).replace("\n", " ") for cell in row)
    names = [_words(text, cell).replace("\n", " ") for cell in header or ()][1:]
    names += [""] * (len(rest) - len(names))
    values = "; ".join(f"{name} {value}".strip() for name, value in zip(names, rest, strict=False) if value)
    return ": ".join(part for part in (first, values) if part)


def _words(text: str, words: Sequence[Words]) -> str:
    return "".join(text[part.start : part.end] if part.shown is None else part.shown for part in words)
