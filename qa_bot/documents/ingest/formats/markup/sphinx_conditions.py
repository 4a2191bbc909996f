"""Conditions of Sphinx (`.. only:: html`): what a web page shows is read, what only other formats show is not.

The blocks are moved out before docutils parses the text, because they may hold headings, which no directive may.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence

ONLY = re.compile(r"([ \t]*)\.\.[ \t]+only::[ \t]*(.*)")
OF_WEB_PAGES = {"html", "format_html", "builder_html"}
DEEPEST = 10  # conditions inside conditions


def for_web_pages(source: str) -> str:
    """The text with the blocks whose condition holds for web pages, without the others."""
    return "\n".join(_chosen(source.split("\n"), 0)) if ".. only::" in source else source


def _chosen(lines: Sequence[str], depth: int) -> Iterator[str]:
    position = 0
    while position < len(lines):
        match = ONLY.fullmatch(lines[position].rstrip()) if depth < DEEPEST else None
        position += 1
        if match is None:
            yield lines[position - 1]
            continue
        end = _end(lines, position, len(match[1]))
        if holds(match[2]):
            block = textwrap.dedent("\n".join(lines[position:end])).split("\n")
            yield from (f"{match[1]}{line}".rstrip() for line in _chosen(["", *block, ""], depth + 1))
        position = end


def _end(lines: Sequence[str], start: int, indent: int) -> int:
    """The number of the line after the block of a directive with this indent."""
    for number in range(start, len(lines)):
        line = lines[number]
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            return number
    return len(lines)


def holds(condition: str) -> bool:
    """Whether a condition of tags with `and`, `or` and `not` holds for web pages; also if it cannot be read."""
    try:
        return _value(ast.parse(condition.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True


def _value(node: ast.expr) -> bool:
    match node:
        case ast.BoolOp(op=ast.And()):
            return all(map(_value, node.values))
        case ast.BoolOp():
            return any(map(_value, node.values))
        case ast.UnaryOp(op=ast.Not()):
            return not _value(node.operand)
        case ast.Name():
            return node.id in OF_WEB_PAGES
    raise ValueError(f"Expected tags with and, or, not, but got {ast.unparse(node)}.")
