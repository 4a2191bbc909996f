"""Extensions of Markdown in sites of MkDocs: blocks between slashes, keys, icons, snippets, names of mkdocstrings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qa_bot.documents.ingest.formats.markup.dialects.fences import lines_of

BLOCK = re.compile(r"([\s>]*)/{3,}[ \t]+([A-Za-z][\w-]*)[ \t]*(?:\|[ \t]*(.*))?")
BLOCK_END = re.compile(r"([\s>]*)/{3,}[ \t]*")
BLOCK_OPTION = re.compile(r"[\s>]* {4}([\w-]+):[ \t]*(.*)")
UNTITLED = {"admonition", "caption", "define", "definition", "figure-caption", "html", "table-caption"}
"""Blocks that show no name."""
SNIPPETS = re.compile(
    r"^[ \t>]*;?-{2,8}8<-{2,8}[ \t]*\n(?:.*\n){0,50}?[ \t>]*-{2,8}8<-{2,8}[ \t]*$"
    r"|^[ \t>]*;?-{1,8}8<-{1,8}[ \t]+\S.*$",
    re.MULTILINE,
)
ABBREVIATION = re.compile(r"^[ \t]*\*\[([^\[\]\n]{1,100})\]:[ \t]*(.*)$", re.MULTILINE)
DESCRIBED = re.compile(
    r"^:::[ \t]+([A-Za-z_]\w*(?:\.\w+)+|[A-Za-z_]\w*(?=\n[ \t]+(?:options|handler):))[ \t]*$(?:\n[ \t]{2,}\S.*)*",
    re.MULTILINE,
)
"""What mkdocstrings describes, with its options."""
ICON = re.compile(r":(?:material|octicons|fontawesome|simple)-[a-z\d-]{1,80}:(?:\{[^{}\n]{0,200}\})?[ \t]?")
_KEY = r"(?:\"[^\"\n+]{1,30}\"|[A-Za-z\d][\w-]{0,30})"
KEYS = re.compile(rf"(?<![\w+{{])\+\+({_KEY}(?:\+{_KEY}){{0,5}})\+\+(?![\w+}}])")


def with_blocks_as_containers(source: str) -> str:
    """The source with `/// note | Title` as `::: note Title`, without the options below it."""
    if not any(line.startswith("///") for line in map(str.lstrip, source.split("\n"))):
        return source
    return "\n".join(_containers(list(lines_of(source))))


def _containers(lines: Sequence[tuple[bool, str]]) -> Iterator[str]:
    position, depth = 0, 0
    while position < len(lines):
        is_code, line = lines[position]
        position += 1
        if not is_code and depth and (end := BLOCK_END.fullmatch(line)):
            depth -= 1
            yield f"{end[1]}:::"
            continue
        block = None if is_code else BLOCK.fullmatch(line)
        if block is None:
            yield line
            continue
        depth += 1
        name, title = block[2], block[3] or ""
        while position < len(lines) and (option := BLOCK_OPTION.fullmatch(lines[position][1])):
            name = option[2] if option[1] == "type" and name in UNTITLED else name
            position += 1
        is_shown = bool(title) and name != "html"
        yield f"{block[1]}::: {f'{name} {title}' if is_shown else 'div' if name in UNTITLED else name}"


def without_references(text: str) -> str:
    """Prose without the places of other files; names that are described, and abbreviations, are paragraphs."""
    if "8<-" in text:
        text = SNIPPETS.sub("", text)
    if "*[" in text:
        text = ABBREVIATION.sub(r"\n\1: \2\n", text)
    return DESCRIBED.sub(r"\n`\1`\n", text) if "::: " in text else text


def without_icons(text: str) -> str:
    """Prose without icons, and with keys as HTML."""
    if "-" in text and ":" in text:
        text = ICON.sub("", text)
    return KEYS.sub(lambda match: "+".join(map(_key, match[1].split("+"))), text) if "++" in text else text


def _key(name: str) -> str:
    shown = name.strip('"') if name.startswith('"') else name.replace("-", " ").title()
    return f"<kbd>{shown}</kbd>"
