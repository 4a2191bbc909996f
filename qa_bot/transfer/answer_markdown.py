"""The Markdown of an answer with its structure, and nothing else: HTML, images and other links become plain text.

Lists, steps, tables, code, emphasis and web links stay. A heading becomes a line in bold, so that answers have no
headings of the transcript. All other markup is escaped (CommonMark 0.31.2, 2.4: a backslash before punctuation makes it
plain).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

_MARKUP = re.compile(r"[\\`*_\[\]<>~|&$!#]")
_BLOCK = re.compile(r"^(\d{0,9})([-+=.)])")
"""The beginning of a list or a heading."""
_ENTITY = re.compile(r"&(?=#?\w+;)")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_TICKS = re.compile(r"`+")
_MARKS = {"strong": "**", "em": "*"}


def structured(text: str) -> str:
    """An answer's Markdown, made safe."""
    return _blocks(SyntaxTreeNode(_parser().parse(_CONTROL.sub("\ufffd", text))).children)


def line(text: str) -> str:
    """Text in one line, with a backslash before markup."""
    return _line_start(_escaped(" ".join(text.split())))


def link(url: str) -> str:
    """A web address without characters that would end it; empty for other kinds of addresses."""
    if not url.lower().startswith(("http://", "https://")):
        return ""
    return _ENTITY.sub("&amp;", quote(url, safe="%/:?#[]@!$&'()*+,;=~-._", errors="replace"))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", _CONTROL.sub("\ufffd", text))


def _line_start(text: str) -> str:
    return _BLOCK.sub(r"\1\\\2", text)


def _blocks(nodes: Sequence[SyntaxTreeNode]) -> str:
    return "\n\n".join(filter(None, map(_block, nodes)))


def _block(node: SyntaxTreeNode) -> str:
    match node.type:
        case "paragraph":
            return _inlines(node)
        case "heading":
            text = _inlines(node).replace("\\\n", " ")
            return f"**{text.replace('**', '')}**" if text else ""
        case "bullet_list":
            return _items(node, ["- "] * len(node.children))
        case "ordered_list":
            first = int(node.attrs.get("start", 1))
            return _items(node, [f"{first + at}. " for at in range(len(node.children))])
        case "fence" | "code_block":
            fence = "`" * max(3, _longest_ticks(node.content) + 1)
            return f"{fence}\n{node.content.rstrip()}\n{fence}"
        case "blockquote":
            return "\n".join(f"> {row}".rstrip() for row in _blocks(node.children).split("\n"))
        case "table":
            return _table(node)
        case "hr":
            return "---"
    return _blocks(node.children)


def _items(node: SyntaxTreeNode, marks: Sequence[str]) -> str:
    is_loose = any(child.type == "paragraph" and not child.hidden for item in node.children for child in item.children)
    items = []
    for mark, item in zip(marks, node.children, strict=True):
        parts = filter(None, map(_block, item.children))
        rows = ("\n\n" if is_loose else "\n").join(parts).split("\n")
        indented = [f"{' ' * len(mark)}{row}".rstrip() for row in rows[1:]]
        items.append("\n".join([f"{mark}{rows[0]}".rstrip(), *indented]))
    return ("\n\n" if is_loose else "\n").join(items)


def _table(node: SyntaxTreeNode) -> str:
    rows = [[_cell(cell) for cell in row.children] for part in node.children for row in part.children]
    written = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([written[0], f"|{' --- |' * len(rows[0])}", *written[1:]])


def _cell(cell: SyntaxTreeNode) -> str:
    text = _inlines(cell).replace("\\\n", " ")
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def _inlines(node: SyntaxTreeNode) -> str:
    """The text of a block; none of its lines begins a list or a heading."""
    text = "".join(_inline(part) for child in node.children for part in child.children)
    return "\\\n".join(_line_start(row.strip()) for row in text.split("\n"))


def _inline(node: SyntaxTreeNode) -> str:
    inner = "".join(map(_inline, node.children))
    match node.type:
        case "softbreak" | "hardbreak":
            return "\n"
        case "code_inline":
            ticks = "`" * (_longest_ticks(node.content) + 1)
            padding = " " if node.content[:1] in {"`", " "} or node.content[-1:] in {"`", " "} else ""
            return f"{ticks}{padding}{node.content}{padding}{ticks}"
        case "strong" | "em":
            return f"{_MARKS[node.type]}{inner}{_MARKS[node.type]}"
        case "link":
            address = link(str(node.attrs.get("href", "")))
            return f"[{inner}](<{address}>)" if address else inner
        case "image" | "text":
            return inner or _escaped(node.content)
    return inner


def _longest_ticks(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
