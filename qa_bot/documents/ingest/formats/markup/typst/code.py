"""Where brackets, statements and arguments in the code of Typst end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

LONGEST = 200_000  # characters between brackets
MOST_BROKEN = 20  # brackets without an end
PAIRS = {"(": ")", "[": "]", "{": "}"}
STRING = r'"(?:[^"\\]|\\.){0,1000}"'
COMMENT = r"(?<!:)//[^\n]*|/\*(?:.*?\*/|.*)"
CODE = re.compile(rf"{STRING}|{COMMENT}|[()\[\]{{}}]", re.DOTALL)
MARKUP = re.compile(rf"\\.|```.*?```|`[^`\n]*`|{COMMENT}|#[A-Za-z][\w.-]*\(|#[({{]|[\[\]]", re.DOTALL)
STATEMENT_PART = re.compile(rf"{STRING}|{COMMENT}|[(\[{{]|[\n;]", re.DOTALL)
PART = re.compile(
    rf"({STRING})|({COMMENT})|(?<![\w.-])([A-Za-z][\w.-]{{0,100}})\s*(?=[(\[])|"
    rf"(?<![\w.-])([A-Za-z][\w-]{{0,100}})\s*:|([(\[{{])|([,;\n])",
    re.DOTALL,
)


class Part(NamedTuple):
    """A part of the arguments of a call: a string, a content in brackets, a call, or other code.

    `name` is that of the argument, `text` what the part holds, `call` the name of the function.
    """

    kind: str
    text: str
    name: str = ""
    call: str = ""
    contents: tuple[str, ...] = ()


class Brackets:
    """Goes through brackets; after `MOST_BROKEN` ones without an end none is followed any more."""

    def __init__(self) -> None:
        self.broken = 0

    def closing(self, text: str, start: int) -> int:
        """The offset of the bracket that closes the one at `start`; -1 without one in `LONGEST` characters."""
        if self.broken >= MOST_BROKEN:
            return -1
        opened, position, end = [text[start]], start + 1, start + LONGEST
        while (match := (MARKUP if opened[-1] == "[" else CODE).search(text, position, end)) is not None:
            sign, position = match[0][-1], match.end()
            if len(match[0]) > 1 and match[0][0] != "#":
                continue
            if sign in PAIRS:
                opened.append(sign)
            elif sign == PAIRS[opened[-1]]:
                opened.pop()
                if not opened:
                    return match.start()
        self.broken += 1
        return -1

    def statement_end(self, text: str, start: int) -> int:
        """The offset after the statement that begins at `start`: a line, with all lines of the brackets in it."""
        position = start
        while (match := STATEMENT_PART.search(text, position)) is not None:
            if match[0] in {"\n", ";"}:
                return match.end() if match[0] == ";" else match.start()
            position = match.end()
            if match[0] in PAIRS:
                end = self.closing(text, match.start())
                if end < 0:
                    break
                position = end + 1
        line_end = text.find("\n", start)
        return len(text) if match is None or line_end < 0 else line_end

    def parts(self, text: str) -> Iterator[Part]:
        """The strings, contents and calls among arguments, and the names of the arguments they belong to."""
        position, name = 0, ""
        while (match := PART.search(text, position)) is not None:
            string, comment, call, argument, bracket, divider = match.groups()
            position = match.end()
            if string:
                yield Part("string", unquoted(string), name)
            elif argument:
                name = argument
            elif divider == ",":
                name = ""
            elif call or bracket:
                start = position if call else match.start()
                end = self.closing(text, start)
                if end < 0:
                    return
                inner, position = text[start + 1 : end], end + 1
                contents: list[str] = []
                if call:
                    contents, position = self.following(text, position) if text[start] == "(" else ([inner], position)
                    yield Part("call", inner if text[start] == "(" else "", name, call, tuple(contents))
                else:
                    yield Part("content" if bracket == "[" else "code", inner, name)
            elif comment:
                continue

    def following(self, text: str, position: int) -> tuple[list[str], int]:
        """The contents in brackets that directly follow, and the offset after them."""
        contents: list[str] = []
        while text[position : position + 1] == "[" and (end := self.closing(text, position)) >= 0:
            contents.append(text[position + 1 : end])
            position = end + 1
        return contents, position


def unquoted(string: str) -> str:
    """The text of a string in quotation marks."""
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), string[1:-1], flags=re.DOTALL)
