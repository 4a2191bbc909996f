"""Puts text in place of the formulas of a page (MathML): "(a+b)/2", "c²"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from selectolax.lexbor import LexborNode

from qa_bot.documents.ingest.formats.formulas import fraction, limited, lowered, raised, root

DEEPEST = 40  # levels of a formula; what is nested deeper is text
UNREAD = {"annotation", "annotation-xml", "mphantom", "none", "mprescripts", "-comment"}
INVISIBLE = dict.fromkeys(range(0x2061, 0x2065))
"""Signs that multiply or apply a function without being shown."""


def write_formulas(page: LexborNode) -> None:
    """Replaces each formula below an element by its text."""
    for node in reversed(page.css("math")):  # inner ones first
        text = formula_text(node) or (node.attributes.get("alttext") or "").strip()
        is_block = node.attributes.get("display") == "block"
        node.replace_with(f" {text} " if is_block else text)


def formula_text(node: LexborNode, depth: int = 0) -> str:
    """The text of a formula, or of a part of it that is `depth` levels deep."""
    tag = node.tag or ""
    if tag in UNREAD:
        return ""
    if tag == "-text" or depth >= DEEPEST:
        text = node.text_content if tag == "-text" else node.text()
        return " ".join((text or "").translate(INVISIBLE).split())
    parts = [formula_text(part, depth + 1) for part in node.iter(include_text=True) if not _is_space(part)]
    write = _WRITERS.get(tag)
    if write is not None and len(parts) >= _FEWEST.get(tag, 0):
        return write(parts)
    between = {"mtable": "; ", "mtr": ", "}.get(tag, "")
    text = between.join(parts[:1] if tag == "semantics" else parts)
    return f"{text} " if tag == "mtext" else text


def _is_space(node: LexborNode) -> bool:
    return node.tag == "-comment" or (node.tag == "-text" and not (node.text_content or "").strip())


def _fenced(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)})"


_WRITERS: dict[str, Callable[[Sequence[str]], str]] = {
    "mfrac": lambda parts: fraction(parts[0], parts[1]),
    "msup": lambda parts: raised(parts[0], parts[1]),
    "mover": lambda parts: raised(parts[0], parts[1]),
    "msub": lambda parts: lowered(parts[0], parts[1]),
    "munder": lambda parts: f"{lowered(parts[0], parts[1])} ",
    "msubsup": lambda parts: limited(parts[0], parts[1], parts[2]),
    "munderover": lambda parts: f"{limited(parts[0], parts[1], parts[2])} ",
    "msqrt": lambda parts: root("".join(parts)),
    "mroot": lambda parts: root(parts[0], parts[1]),
    "mfenced": _fenced,
}
_FEWEST = {
    **dict.fromkeys(("mfrac", "msup", "mover", "msub", "munder", "mroot"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
}
"""The number of parts that each one has at least."""
