"""Plain text of Markdown: what is searched, encoded, and shown where Markdown is not understood."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from qa_core.types import Span

_INLINE = re.compile(
    r"(?<!(?<!\\)`)(?P<ticks>`++)(?P<code>.{1,500}?)(?<!`)(?P=ticks)(?!`)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|!?\[(?P<label>(?:[^\[\]\\]|\\.){0,500})\](?:\((?P<target>[^()\s]{0,1000}(?:\([^()\s]{0,100}\)[^()\s]{0,100})?"
    r"(?:[ \t]+(?:\"[^\"]{0,300}\"|'[^']{0,300}'))?)\)|\[[^\[\]]{0,100}\])"
    r"|<(?P<address>(?:https?://|mailto:)[^<>\s]{1,1000}|[^<>\s@]{1,64}@[^<>\s@]{1,255})>"
    r"|(?P<stars>\*{1,3})(?=[^\s*])(?P<bold>.{0,1000}?[^\s*])(?P=stars)(?!\*)"
    r"|(?<!\w)(?P<bars>_{1,3})(?=[^\s_])(?P<slanted>.{0,1000}?[^\s_])(?P=bars)(?!\w)"
    r"|~~(?=\S)(?P<deleted>.{1,1000}?)(?<=\S)~~",
    re.DOTALL,
)
_SIGNS = frozenset("`\\[<*_~&")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[^\n`]*")
_DASHES = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_ESCAPED_SIGN = re.compile(r"^([ \t>]*(?:[-*+][ \t]+)?)(?:(\d{1,9})\\(?=[.)](?:\s|$))|\\(?=[#>|*+-]))")
_RULE = frozenset("|-: ")
_PIPE = re.compile(r"(?<!\\)\|")


def plain_line(markdown: str) -> str:
    """Words of a line or paragraph: no emphasis, no link targets, no escapes, one space between words."""
    return " ".join(_plain(markdown).split())


def without_block_signs(markdown: str) -> str:
    """Markdown for readers who see its signs: headings without `#`, and no backslash before the sign of a line.

    "3\\. May" is "3. May", "\\# a comment" is "# a comment". Code is unchanged.
    """
    if "\\" not in markdown and "#" not in markdown:
        return markdown
    return "\n".join(line if is_code else _without_sign(line) for line, is_code in _lines(markdown))


def _without_sign(line: str) -> str:
    heading = _HEADING.fullmatch(line)
    return heading[1] if heading else _ESCAPED_SIGN.sub(r"\1\2", line)


def _lines(markdown: str) -> Iterator[tuple[str, bool]]:
    """The lines, and whether each is code or a fence of code."""
    fence = ""
    for line in markdown.split("\n"):
        mark = _FENCE.fullmatch(line)
        yield line, bool(fence or mark)
        if fence and mark and mark[1].startswith(fence):
            fence = ""
        elif mark and not fence:
            fence = mark[1]


@lru_cache(1 << 10)
def plain_text(markdown: str) -> str:
    """Markdown as plain text, line by line: lists keep their signs, cells of a table are divided by `|`.

    Code is unchanged, without its fence. The last texts are kept, because a passage is indexed and then encoded.
    """
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark[1].startswith(fence):
                fence = ""
            else:
                lines.append(line)
        elif mark:
            fence = mark[1]
        elif not ("|" in line and _DASHES.fullmatch(line)):
            lines.append(_plain_line_of_block(line))
    return "\n".join(lines).strip("\n")


def unit_text(text: str, unit: Span, header: Sequence[str] | None = None) -> str:
    """The plain words of one unit of a passage, in one line except for code.

    A row of a table is `first cell | header: cell; header: cell`, an item comes without its sign.

    Args:
        text: the passage, as Markdown.
        unit: span of a sentence group, an item, a row or code in `text`.
        header: cells of the table's header; by default those above the row in `text`.
    """
    words = text[unit[0] : unit[1]]
    if words.startswith(("```", "~~~")):
        return plain_text(words)
    if words.startswith("|"):
        return _row(_cells(words), header if header is not None else _header(text, unit[0]))
    lines = (_ITEM.sub("", _QUOTE.sub("", line) if ">" in line else line, count=1) for line in words.split("\n"))
    return plain_line("\n".join(lines))


def header_above(text: str, start: int) -> Span | None:
    """The header, with the line below it, of the table in whose rows `start` is; None in other places.

    Args:
        text: Markdown.
        start: a position in it, at the beginning of a line.
    """
    first = start
    while first > 0 and (line := _line_before(text, first)) and text.startswith("|", line[0]):
        first = line[0]
    lines = text[first:].split("\n", 2)
    is_table = len(lines) == 3 and lines[0].startswith("|") and set(lines[1]) <= _RULE
    below = first + len(lines[0]) + len(lines[1]) + 2 if is_table else 0
    return (first, below) if is_table and below <= start and text.startswith("|", start) else None


def context(title: str, heading: Sequence[str]) -> str:
    """`title › heading › heading`: the prefix of a passage for search. Repeated names are left out."""
    names: dict[str, str] = {}
    for name in (title, *heading):
        line = " ".join(name.split())
        if line:
            names.setdefault(line.casefold(), line)
    return " › ".join(names.values())


def _plain(markdown: str) -> str:
    if _SIGNS.isdisjoint(markdown):
        return markdown
    text = _INLINE.sub(_words, markdown)
    return html.unescape(text) if "&" in text else text


def _words(match: re.Match[str]) -> str:
    """The words inside a match, without the signs inside them."""
    if match["code"] is not None:
        return match["code"].strip()
    if match["escaped"] is not None:
        return match["escaped"]
    if match["address"] is not None:
        return match["address"].removeprefix("mailto:")
    inside = next(words for words in match.group("label", "bold", "slanted", "deleted") if words is not None)
    return _INLINE.sub(_words, inside)


def _plain_line_of_block(line: str) -> str:
    if ">" in line:
        line = _QUOTE.sub("", line, count=1)
    heading = _HEADING.fullmatch(line)
    if heading:
        return _plain(heading[1])
    if line.lstrip().startswith("|"):
        return " | ".join(_cells(line))
    return _plain(line)


def _cells(row: str) -> list[str]:
    """The plain words of the cells of a row."""
    row = row.strip().removeprefix("|")
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    return [plain_line(cell.replace("\\|", "|")) for cell in _PIPE.split(row)]


def _header(text: str, start: int) -> list[str]:
    """Cells of the header of the table of the row at `start`; none if there is no header above it."""
    above = text[:start].split("\n")[:-1]
    for index in range(len(above) - 1, 0, -1):
        if not above[index].lstrip().startswith("|"):
            break
        if _DASHES.fullmatch(above[index]):
            return _cells(above[index - 1])
    return []


def _line_before(text: str, start: int) -> Span | None:
    """The line above, without its line break; None unless `start` is the beginning of a second or later line."""
    end = start - 1
    return (text.rfind("\n", 0, end) + 1, end) if text[max(0, end) : start] == "\n" else None


def _row(cells: Sequence[str], header: Sequence[str]) -> str:
    first, rest = cells[0], cells[1:]
    names = [*header[1:], *[""] * len(rest)]
    pairs = "; ".join(f"{name}: {cell}" if name else cell for name, cell in zip(names, rest, strict=False) if cell)
    return " | ".join(part for part in (first, pairs) if part)
