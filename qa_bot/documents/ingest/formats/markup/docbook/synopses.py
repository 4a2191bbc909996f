"""How commands and functions are called: synopses of DocBook as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.markup.docbook.elements import (
    DROPPED,
    attribute,
    child,
    children,
    local,
    title_of,
    words,
)

DEEPEST = 20  # groups inside groups
BRACKETS = {"plain": ("", ""), "req": ("{", "}"), "opt": ("[", "]")}


def synopsis(element: Element) -> str:
    """The lines of a synopsis of a command, of functions or of classes."""
    name = local(element)
    if name == "cmdsynopsis":
        return "".join(_command(element))
    if name == "funcsynopsis":
        lines = (_function(part) if local(part) == "funcprototype" else words(part) for part in element)
        return "\n".join(filter(None, lines))
    return words(element)


def _command(element: Element) -> str:
    lines: list[list[str]] = [[]]
    for part in element:
        name = local(part)
        if name == "sbr":
            lines.append([])
        elif name == "synopfragment":
            title = title_of(part)
            lines.append([f"{words(title)}:"] if title is not None else [])
            lines[-1] += _arguments(part, 0)
        elif name not in DROPPED and name not in {"info", "title"}:
            lines[-1].append(_argument(part, 0))
    return "\n".join(" ".join(filter(None, line)) for line in lines if line)


def _arguments(element: Element, depth: int) -> Iterator[str]:
    return (_argument(part, depth) for part in element if local(part) not in {"title", *DROPPED})


def _argument(element: Element, depth: int) -> str:
    """An argument or a group of them, in brackets if it may be left out."""
    name = local(element)
    if name not in {"arg", "group"}:
        return words(element)
    if name == "group" and depth < DEEPEST:
        text = " | ".join(filter(None, _arguments(element, depth + 1)))
    else:
        text = _mixed(element, depth) if depth < DEEPEST else words(element)
    before, after = BRACKETS.get(attribute(element, "choice") or "opt", BRACKETS["opt"])
    return f"{before}{text}{after}{'...' if attribute(element, 'rep') == 'repeat' else ''}"


def _mixed(element: Element, depth: int) -> str:
    parts = [element.text or ""]
    for part in element:
        parts += [_argument(part, depth + 1) if local(part) not in DROPPED else "", part.tail or ""]
    return " ".join("".join(parts).split())


def _function(prototype: Element) -> str:
    definition = child(prototype, "funcdef")
    parameters = [words(part) for part in children(prototype, "paramdef")]
    if child(prototype, "varargs") is not None:
        parameters.append("...")
    if not parameters and child(prototype, "void") is not None:
        parameters.append("void")
    return f"{words(definition) if definition is not None else ''}({', '.join(parameters)});"
