"""Splits Markdown files into documents at headings of level 1 and 2. The only file that imports markdown-it.

The id is `PATH#slug` with the slug that GitHub gives the heading (`-1`, `-2`, … where it repeats), the title is the
heading under its level-1 heading (`Install › Linux`); text before the first heading has the bare path as its id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.markup.html import plain
from qa_bot.documents.ingest.records import Item, Record, Reject

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
FRONT_TITLE = re.compile(r"^title:[ \t]*[\"']?(.*?)[\"']?[ \t]*$", re.MULTILINE)
BREAK_AFTER = {
    "paragraph_close": "\n\n",
    "heading_close": "\n\n",
    "bullet_list_close": "\n\n",
    "ordered_list_close": "\n\n",
    "table_close": "\n\n",
    "tr_close": "\n",
    "th_close": " ",
    "td_close": " ",
}


@dataclass(slots=True)
class _Section:
    title: str
    slug: str
    line: int
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return re.sub(r"\n{3,}", "\n\n", "".join(self.parts).replace(" \n", "\n")).strip()


def read(file: SourceFile) -> Iterator[Item]:
    """A record for each section that has text."""
    source = file.text()
    front = FRONT_MATTER.match(source)
    front_title = FRONT_TITLE.search(front[0]) if front else None
    title = front_title[1] if front_title and front_title[1] else PurePosixPath(file.name).stem
    start = front.end() if front else 0
    first_line = 1 + source.count("\n", 0, start)
    empty = True
    for section in sections(source[start:], title):
        if text := section.text:
            empty = False
            identifier = f"{file.name}#{section.slug}" if section.slug else file.name
            yield Record(identifier, section.title, text, where=f"{file.where}:{first_line + section.line}")
    if empty:
        yield Reject(f"{file.where}:1", "Expected text, but got none (headings alone, or an empty file); add some.")


def sections(source: str, title: str) -> Iterator[_Section]:
    """The file's sections in order, lines counted from 0, the text before the first heading under `title`."""
    section = _Section(title, "", 0)
    slugs: Counter[str] = Counter()
    above, opening = "", None
    for token in MarkdownIt("commonmark").enable("table").parse(source):
        if token.type == "heading_open" and token.level == 0 and token.tag in {"h1", "h2"}:
            opening = token
        elif opening is not None and token.type == "inline":
            yield section
            heading = " ".join(_inline(token).split())
            above = heading if opening.tag == "h1" else above
            full = f"{above} › {heading}" if opening.tag == "h2" and above else heading
            section = _Section(full, _slug(heading, slugs), (opening.map or [0])[0])
        elif opening is not None:
            opening = None  # its heading_close
        else:
            section.parts.append(_block(token))
    yield section


def _block(token: Token) -> str:
    if token.type == "inline":
        return _inline(token)
    if token.type in {"fence", "code_block"}:
        return token.content.rstrip("\n") + "\n\n"
    if token.type == "html_block":
        return plain(token.content) + "\n\n"
    if token.type == "paragraph_close" and token.hidden:
        return "\n"  # in a tight list
    return BREAK_AFTER.get(token.type, "")


def _inline(token: Token) -> str:
    return "".join(_piece(child) for child in token.children or ())


def _piece(token: Token) -> str:
    if token.type in {"text", "code_inline"}:
        return token.content
    if token.type == "image":
        return _inline(token)  # its alternative text
    return {"softbreak": " ", "hardbreak": "\n"}.get(token.type, "")


def _slug(heading: str, slugs: Counter[str]) -> str:
    slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") or "section"
    slugs[slug] += 1
    return slug if slugs[slug] == 1 else f"{slug}-{slugs[slug] - 1}"
