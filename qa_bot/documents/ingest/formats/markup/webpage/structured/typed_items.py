"""Paragraphs and lines below each other whose numbers or bullets their author typed become lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from qa_bot.documents.ingest.formats.markup.webpage.structured.trees import inner_html, replace_by

_BLOCKS = "p div ul ol dl table pre blockquote h1 h2 h3 h4 h5 h6 section article details form img"
BLOCKS = frozenset(_BLOCKS.split())
WITH_SIGNS = frozenset(["td", "th", "li", "dd", "dt"])
"""What writes no signs of the lists in it, or has one itself."""
SIGN = re.compile(
    r"(?P<before>(?:\s|&nbsp;|<[^<>]*>)*)(?:(?P<number>\d{1,2})[.)]|(?P<bullet>[-•·‣▪◦–*]))"
    r"(?P<after>(?:</?[^<>]*>)*)(?:\s|&nbsp;)(?:\s|&nbsp;)*(?=\S)"
)
_LINE_END = re.compile(r"<br\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-z][\w-]*)[^<>]*>", re.IGNORECASE)


class _Item(NamedTuple):
    """A line without its sign; `number` is 0 if that is a bullet."""

    markup: str
    number: int
    bullet: str

    def is_followed_by(self, other: _Item) -> bool:
        return other.bullet == self.bullet and other.number == self.number + (not self.bullet)


def list_typed_items(root: LexborNode) -> None:
    """Make lists of at least two paragraphs or lines with the same bullet, or with numbers that go on."""
    run: list[tuple[LexborNode, _Item]] = []
    for node in [*root.css("p, div")]:
        if not _is_plain(node):
            continue
        lines = _LINE_END.split(inner_html(node))
        if len(lines) > 1:
            _list_lines(node, lines)
            continue
        item = _item(lines[0])
        if item is None or _is_bold(node):
            continue
        if run and not (run[-1][1].is_followed_by(item) and _are_neighbours(run[-1][0], node)):
            _list_run(run)
            run = []
        run.append((node, item))
    _list_run(run)


def _list_run(run: Sequence[tuple[LexborNode, _Item]]) -> None:
    if len(run) > 1:
        for node, _ in run[1:]:
            node.decompose()
        replace_by(run[0][0], _markup([item for _, item in run]))


def _list_lines(node: LexborNode, lines: Sequence[str]) -> None:
    """Make a list of the lines of a paragraph; those above the first item stay a paragraph."""
    lines = [line for line in lines if _TAG.sub("", line).replace("&nbsp;", "").strip()]
    if not all(map(_is_balanced, lines)):
        return
    items = [_item(line) for line in lines]
    first = next((place for place, item in enumerate(items) if item is not None), len(items))
    listed = [item for item in items[first:] if item is not None]
    if len(listed) < max(2, len(items) - first) or not all(
        one.is_followed_by(other) for one, other in pairwise(listed)
    ):
        return
    lead = f"<p>{'<br>'.join(lines[:first])}</p>" if first else ""
    replace_by(node, lead + _markup(listed))


def _markup(items: Sequence[_Item]) -> str:
    tag = "ul" if items[0].bullet else f"ol start={items[0].number}"
    return f"<{tag}>{''.join(f'<li>{item.markup}</li>' for item in items)}</{tag[:2]}>"


def _item(line: str) -> _Item | None:
    sign = SIGN.match(line)
    if sign is None:
        return None
    rest = sign["before"].lstrip() + sign["after"] + line[sign.end() :]
    return _Item(rest, int(sign["number"] or 0), sign["bullet"] or "")


def _is_balanced(line: str) -> bool:
    """Whether the elements that begin in a line end in it."""
    opened: list[str] = []
    for tag in _TAG.finditer(line):
        if not tag[1]:
            opened.append(tag[2])
        elif not opened or opened.pop() != tag[2]:
            return False
    return not opened


def _is_plain(node: LexborNode) -> bool:
    """Whether an element is a paragraph of words alone, outside of tables and lists."""
    if any(inner.tag in BLOCKS and inner.mem_id != node.mem_id for inner in node.traverse()):
        return False
    return all(above.tag not in WITH_SIGNS for above in _above(node))


def _above(node: LexborNode) -> Iterator[LexborNode]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def _is_bold(node: LexborNode) -> bool:
    """Whether all words of a paragraph are bold: a heading has a number, too."""
    bold = node.css_first("b, strong")
    return bold is not None and bold.text().strip() == node.text().strip()


def _are_neighbours(node: LexborNode, other: LexborNode) -> bool:
    """Whether nothing but white space is between two elements."""
    beside = node.next
    while beside is not None and beside.mem_id != other.mem_id and not beside.text().strip():
        beside = beside.next
    return beside is not None and beside.mem_id == other.mem_id
