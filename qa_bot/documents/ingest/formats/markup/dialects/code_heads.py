"""The first lines of fenced code: chunks of R Markdown, attributes of Pandoc, directives of MyST, titles of files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qa_bot.documents.ingest.formats.markup.dialects.fences import closes, opening_fence

HEAD = re.compile(r"([\s>]*)((?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})[ \t]*(.*)")
BRACES = re.compile(r"\{[ \t]*\.?([\w+#-]*)([^{}]*)\}[ \t]*([\w+#-]*)")
RAW = re.compile(r"\{=([a-z]+)\}[ \t]*")
"""Of Pandoc: a block for one format of output, of which HTML alone is read."""
LANGUAGE = re.compile(r"[\w+#.-]*")
TITLE = re.compile(r"\b(?:title|filename|file|name)=(?:\"([^\"]+)\"|'([^']+)')")
OPTION = re.compile(r"[\s>]*(?::([\w-]+):|(?:#|//|--|%%)\|)[ \t]*(.*)")
"""Of MyST, and of Quarto, in a comment of the language."""
SIGNS = re.compile(r"([\\`*_\[\]<>{}$])")
SIGNS_OF_HEADS = ("{", "title=", "name=", "file=")


class Head(NamedTuple):
    """What the first line of a block of code says."""

    language: str
    title: str
    has_options: bool


def with_plain_heads(source: str) -> str:
    """The source with the bare language in the first line of each block of code; its title is a line above."""
    if "```" not in source and "~~~" not in source:
        return source
    lines = source.split("\n")
    if not any(sign in line for line in lines if opening_fence(line) for sign in SIGNS_OF_HEADS):
        return source
    return "\n".join(_lines(lines))


def _lines(lines: Sequence[str]) -> Iterator[str]:
    fence, position = "", 0
    while position < len(lines):
        line = lines[position]
        position += 1
        begins = not fence and (fence := opening_fence(line))
        if not begins:
            fence = "" if fence and closes(line, fence) else fence
            yield line
            continue
        before = HEAD.match(line)
        if before and (raw := RAW.fullmatch(before[4])):
            end = next((number for number in range(position, len(lines)) if closes(lines[number], fence)), len(lines))
            yield from ("", *lines[position:end], "") if raw[1] == "html" else ("",)
            fence, position = "", end + 1
            continue
        head = _head(before[4]) if before else None
        if before is None or head is None:
            yield line
            continue
        title = head.title
        while head.has_options and position < len(lines) and (option := OPTION.fullmatch(lines[position])):
            title = option[2] if option[1] == "caption" else title
            position += 1
        yield from _begin(before, head.language, title)


def _head(text: str) -> Head | None:
    """None if the text is only a language."""
    attribute = TITLE.search(text)
    title = SIGNS.sub(r"\\\1", attribute[1] or attribute[2]) if attribute else ""
    if match := BRACES.fullmatch(text):
        return Head(match[3] or match[1], title, has_options=True)
    language = LANGUAGE.match(text)
    return Head(language[0] if language else "", title, has_options=False) if title else None


def _begin(head: re.Match[str], language: str, title: str) -> Iterator[str]:
    """The title, and below it the fence, both in the quotation or item in which the code is."""
    before, item, fence = head[1], head[2] or "", head[3]
    if title:
        yield from (*(() if item else (before,)), f"{before}{item}{title}", before.rstrip())
        item = " " * len(item)
    yield f"{before}{item}{fence}{language}"
