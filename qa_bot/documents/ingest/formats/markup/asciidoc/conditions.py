"""Conditions of AsciiDoc: the lines that a web page shows, as Asciidoctor chooses them.

Attributes that no line sets are not set, those that name the format of the output are as for a page in HTML. So what
only shows on GitHub, in a PDF, or if an author sets an attribute on the command line, is left out.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from qa_bot.documents.ingest.formats.markup.asciidoc.header import ATTRIBUTE, assign

CONDITION = re.compile(r"(ifdef|ifndef|ifeval|endif)::(\S*?)\[(.*)\]")
ESCAPED = re.compile(r"\\(?=(?:ifdef|ifndef|ifeval|endif)::)")
EXPRESSION = re.compile(r"(.+?) *([=!<>]=|[<>]) *(.+)")
REFERENCE = re.compile(r"\{([\w-]+)\}")
NUMBER = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,15})?")
PAGE = {"backend": "html5", "basebackend": "html", "filetype": "html", "doctype": "article", "outfilesuffix": ".html"}
FLAGS = ("backend", "basebackend", "filetype", "doctype")
"""With each value an attribute is set, such as `backend-html5`."""
OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def all_lines(lines: Sequence[str]) -> list[str]:
    """The lines as if all conditions were met."""
    matches = ((line, CONDITION.fullmatch(line.rstrip())) for line in lines)
    return [line if match is None else "" if match[1] == "ifeval" else match[3] for line, match in matches]


def shown_lines(lines: Sequence[str], attributes: Mapping[str, str]) -> Iterator[str]:
    """The lines whose conditions are met.

    Args:
        attributes: those that every document has.
    """
    values = {**attributes, **PAGE, "asciidoctor": ""}
    matches = [CONDITION.fullmatch(line.rstrip()) if "::" in line else None for line in lines]
    endless = _endless(matches)
    blocks: list[bool] = []  # of the open conditions: whether they are met
    for number, (line, match) in enumerate(zip(lines, matches, strict=True)):
        shown = ESCAPED.sub("", line, count=1)
        if match and match[1] == "endif":
            del blocks[-1:]
            continue
        if match:
            is_met = number in endless or _is_met(match, values)
            if _begins_block(match):
                blocks.append(is_met)
            if _begins_block(match) or not is_met:
                continue
            shown = match[3]
        if all(blocks):
            if attribute := ATTRIBUTE.fullmatch(shown.rstrip()):
                assign(values, attribute)
            yield shown


def _endless(matches: Sequence[re.Match[str] | None]) -> set[int]:
    """Numbers of the lines that begin a block without an end: nothing says what it would hide."""
    begins: list[int] = []
    for number, match in enumerate(matches):
        if match and match[1] == "endif":
            del begins[-1:]
        elif match and _begins_block(match):
            begins.append(number)
    return set(begins)


def _begins_block(condition: re.Match[str]) -> bool:
    """Whether the lines below depend on a condition; else it is one of the text between its brackets."""
    return condition[1] == "ifeval" or not condition[3]


def _is_met(condition: re.Match[str], values: Mapping[str, str]) -> bool:
    kind, names, content = condition.groups()
    return _holds(content, values) if kind == "ifeval" else _is_set(names, values) == (kind == "ifdef")


def _is_set(names: str, values: Mapping[str, str]) -> bool:
    """Whether any of the names between commas, or each of those between plus signs, is that of an attribute."""
    flags = {f"{name}-{values.get(name)}" for name in FLAGS}
    states = [name in values or name in flags for name in re.split("[,+]", names.lower())]
    return all(states) if "+" in names else any(states)


def _holds(expression: str, values: Mapping[str, str]) -> bool:
    """Whether a comparison holds; what is none is taken to hold."""
    match = EXPRESSION.fullmatch(expression.strip())
    if match is None:
        return True
    try:
        return OPERATORS[match[2]](_operand(match[1], values), _operand(match[3], values))
    except TypeError:  # a number and a text have no order
        return False


def _operand(text: str, values: Mapping[str, str]) -> object:
    """The value of a text between quotation marks, of what begins with a number (4.2 of "4.2.1"), or of a word."""
    value = REFERENCE.sub(lambda match: values.get(match[1].lower(), ""), text.strip())
    if value[:1] in {'"', "'"} and value[-1] == value[0]:
        return value[1:-1]
    number = NUMBER.match(value)
    return float(number[0]) if number else value
