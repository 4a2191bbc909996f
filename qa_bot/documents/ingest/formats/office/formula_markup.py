"""Formulas of Word and PowerPoint (Office Math Markup Language) as text on one line."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.formulas import fraction, limited, lowered, raised, root
from qa_bot.documents.ingest.formats.office.names import child, value

SKIPPED = {"w:del", "w:moveFrom", "m:ctrlPr", "m:rPr", "w:rPr", "a:rPr"}
SUM = "∫"
"""The sign of a sum or an integral that names none."""


def formula_text(node: Element) -> str:
    """The text of a formula, or of a part of it."""
    if node.tag in SKIPPED:
        return ""
    if (write := _WRITERS.get(node.tag)) is not None:
        return write(node)
    return node.text or "" if node.tag in {"m:t", "w:t", "a:t"} else _all(node)


def _all(node: Element) -> str:
    return "".join(map(formula_text, node))


def _part(node: Element, name: str) -> str:
    part = child(node, name)
    return _all(part).strip() if part is not None else ""


def _parts(node: Element, name: str) -> list[str]:
    return [_all(part).strip() for part in node if part.tag == name]


def _fraction(node: Element) -> str:
    top, bottom = _part(node, "m:num"), _part(node, "m:den")
    has_bar = value(node, "m:fPr", "m:type", attribute="m:val") != "noBar"
    return fraction(top, bottom) if has_bar else f"{top}; {bottom}"


def _script(node: Element) -> str:
    base, index, exponent = (_part(node, f"m:{name}") for name in ("e", "sub", "sup"))
    return limited(base, index, exponent) if index else raised(base, exponent)


def _script_before(node: Element) -> str:
    return f"{raised('', _part(node, 'm:sup'))}{lowered('', _part(node, 'm:sub'))} {_part(node, 'm:e')}".strip()


def _root(node: Element) -> str:
    return root(_part(node, "m:e"), _part(node, "m:deg"))


def _delimited(node: Element) -> str:
    begin, between, end = (
        value(node, "m:dPr", f"m:{name}", attribute="m:val", default=default)
        for name, default in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
    )
    return f"{begin}{between.join(_parts(node, 'm:e'))}{end}"


def _sum(node: Element) -> str:
    sign = value(node, "m:naryPr", "m:chr", attribute="m:val", default=SUM)
    return f"{limited(sign, _part(node, 'm:sub'), _part(node, 'm:sup'))} {_part(node, 'm:e')}"


def _function(node: Element) -> str:
    name, argument = _part(node, "m:fName"), _part(node, "m:e")
    return f"{name}{'' if argument.startswith('(') else ' '}{argument}"


def _limit(node: Element) -> str:
    return lowered(_part(node, "m:e"), _part(node, "m:lim"))


def _matrix(node: Element) -> str:
    return "; ".join(", ".join(_parts(row, "m:e")) for row in node if row.tag == "m:mr")


_WRITERS: dict[str, Callable[[Element], str]] = {
    "m:f": _fraction,
    **dict.fromkeys(("m:sSup", "m:sSub", "m:sSubSup"), _script),
    "m:sPre": _script_before,
    "m:rad": _root,
    "m:d": _delimited,
    "m:nary": _sum,
    "m:func": _function,
    "m:limLow": _limit,
    "m:m": _matrix,
    "m:eqArr": lambda node: "; ".join(_parts(node, "m:e")),
}
