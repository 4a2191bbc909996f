"""Blocks of a Markdown text: headings, paragraphs, lists, tables, code, quotes. Imports markdown-it.

Blocks are spans of the text. Every character but white space and horizontal rules is in a block. Words inside a block
are not parsed, and the rows of a table are lines, so that a sheet of a million rows takes no memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from qa_bot.documents.cutting.sentence_groups import stripped
from qa_bot.documents.ingest.line_headings import bold_heading, is_sentence
from qa_bot.documents.ingest.plain_paragraphs import faster

BlockType = Literal["heading", "paragraph", "list", "steps", "item", "table", "code", "quote"]

PARSED_AT_ONCE = 250_000
"""Characters; a longer text is parsed in portions, so that memory and time stay in proportion."""

LINE_HEADING = 7
"""Level of a line in bold type, or of a question in italics, used as a heading: below all signs of Markdown."""
LONGEST_LINE_HEADING = 120

_ITALIC_QUESTION = re.compile(r"\*([^*\n]+\?)\*|_([^_\n]+\?)_")
_LINE_END = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DASHES = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?")
_PIPE = re.compile(r"(?<!\\)\|")
_TYPES: dict[str, BlockType] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "steps",
    "list_item_open": "item",
    "table_lines": "table",
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "quote",
}


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the text at `[start, end)`.

    `level` and `words` are of a heading: 1 to 6, or `LINE_HEADING`, and its line without signs of the block. `parts`
    are the items of a list, and the blocks in an item.
    """

    type: BlockType
    start: int
    end: int
    level: int = 0
    words: str = ""
    parts: tuple[Block, ...] = ()


def blocks(text: str) -> list[Block]:
    """The outermost blocks of a text, in order and without outer white space.

    A line in bold type above another block is a heading, unless it states something, and so is a question in italics:
    people write headings so. A sentence with signs of a heading that has nothing below it is a paragraph.
    """
    outermost: list[Block] = []
    start = 0
    while start < len(text):
        end = _portion_end(text, start)
        outermost += _blocks(text[start:end], start)
        start = _table_end(text, outermost[-1], end) if outermost and outermost[-1].type == "table" else end
        if start > end:
            outermost[-1] = Block("table", *stripped(text, outermost[-1].start, start))
    return list(_with_line_headings(text, [*_with_sentences(text, outermost)]))


def _with_sentences(text: str, outermost: Sequence[Block]) -> Iterator[Block]:
    """The blocks, with paragraphs in place of headings that are sentences and have nothing below them."""
    for block, following in zip(outermost, [*outermost[1:], None], strict=False):
        is_idle = following is None or (following.type == "heading" and following.level <= block.level)
        if block.type == "heading" and block.level > 1 and is_idle and is_sentence(block.words):
            start = text.find(block.words, block.start, block.end)
            yield Block("paragraph", start, start + len(block.words)) if start >= 0 else block
        else:
            yield block


def _with_line_headings(text: str, outermost: Sequence[Block]) -> Iterator[Block]:
    """The blocks, with headings in place of the lines that are used as headings."""
    heads = [_line_heading(text, block) for block in outermost]
    for number, (block, head, following, next_head) in enumerate(
        zip(outermost, heads, [*outermost[1:], None], [*heads[1:], None], strict=False)
    ):
        is_in_run = number > 1 and heads[number - 1] is not None and heads[number - 2] is not None
        if head is None or is_in_run:
            yield block
            continue
        start, end = stripped(text, head.end, block.end)
        has_rest = start < end
        heads_following = following is not None and following.type != "heading" and next_head is None
        yield head if has_rest or heads_following else block
        if has_rest:
            yield Block("paragraph", start, end)


def _line_heading(text: str, block: Block) -> Block | None:
    """The heading that the first line of a paragraph is, or None."""
    if block.type != "paragraph":
        return None
    line_end = _LINE_END.search(text, block.start, min(block.end, block.start + LONGEST_LINE_HEADING + 1))
    start, end = stripped(text, block.start, line_end.start() if line_end else block.end)
    line = text[start:end] if end - start <= LONGEST_LINE_HEADING else ""
    question = _ITALIC_QUESTION.fullmatch(line)
    words = next(filter(None, question.groups())) if question else bold_heading(line)
    return Block("heading", start, end, LINE_HEADING, words.rstrip(":")) if words else None


def _table_end(text: str, table: Block, end: int) -> int:
    """The end of the rows that follow a table up to the end of a portion: the table goes on in the next one."""
    if text[table.end : end] == "\n":
        while text.startswith("|", end):
            end = text.find("\n", end) + 1 or len(text)
    return end


def _portion_end(text: str, start: int) -> int:
    """The end of a portion of about `PARSED_AT_ONCE` characters, outside code.

    It ends before a heading; or else at an empty line, or at a line end.
    """
    if len(text) - start <= PARSED_AT_ONCE:
        return len(text)
    fence, best, rank = "", start + PARSED_AT_ONCE, 0
    line = start
    while line < start + PARSED_AT_ONCE:
        if (match := _FENCE.match(text, line)) and (not fence or match[1].startswith(fence)):
            fence = "" if fence else match[1]
        elif not fence and line > start:
            line_rank = 3 if text[line] == "#" else 2 if text[line - 1 : line + 1] == "\n\n" else 1
            if line_rank >= rank:
                best, rank = line, line_rank
        line = text.find("\n", line) + 1 or len(text)
    return best


def _blocks(text: str, offset: int) -> Iterator[Block]:
    starts = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]
    tokens = _parser().parse(text)
    end = 0
    for block in _tree(text, tokens, starts, [0], 0):
        yield from _shifted(_uncovered(text, end, block.start), offset)
        if block.end > block.start:
            yield from _shifted([block], offset)
        end = max(end, block.end)
    yield from _shifted(_uncovered(text, end, len(text)), offset)


def _uncovered(text: str, start: int, end: int) -> list[Block]:
    """Whatever the parser left out between two blocks, as a paragraph; rules are left out."""
    start, end = stripped(text, start, end)
    return [Block("paragraph", start, end)] if any(map(str.isalnum, text[start:end])) else []


def _shifted(blocks: list[Block], offset: int) -> Iterator[Block]:
    for block in blocks:
        parts = tuple(_shifted(list(block.parts), offset)) if offset else block.parts
        yield Block(block.type, block.start + offset, block.end + offset, block.level, block.words, parts)


def _tree(text: str, tokens: list[Token], starts: list[int], at: list[int], level: int) -> Iterator[Block]:
    """The blocks of one level of nesting; `at[0]` is the index of the next token."""
    while at[0] < len(tokens) and tokens[at[0]].level >= level:
        token = tokens[at[0]]
        at[0] += 1
        type_ = _TYPES.get(token.type)
        if type_ is None or token.map is None:
            continue
        start, end = stripped(text, starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)])
        if token.type == "code_block":
            start = starts[token.map[0]]  # its indentation makes it code
        if type_ == "heading":
            words = tokens[at[0]].content
            yield Block("heading", start, end, int(token.tag[1]), words)
        elif type_ in {"list", "steps", "item"}:
            parts = list(_tree(text, tokens, starts, at, token.level + 1))
            parts += _uncovered(text, parts[-1].end, end) if parts else []  # what is nested too deeply
            yield Block(type_, start, end, parts=tuple(parts))
        else:
            yield Block(type_, start, end)
            _skip(tokens, at, token)


def _skip(tokens: list[Token], at: list[int], opening: Token) -> None:
    """Go behind the closing token."""
    if opening.nesting == 1:
        while at[0] < len(tokens) and tokens[at[0]].level > opening.level:
            at[0] += 1


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables; link definitions and HTML are text, so nothing is left out."""
    parser = MarkdownIt("commonmark", {"html": False}).disable(["reference", "html_block", "inline"])
    parser.block.ruler.before("fence", "table_lines", _table_lines, {"alt": ["paragraph", "reference"]})
    return faster(parser)


def _table_lines(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """A rule of markdown-it for tables of GitHub's Markdown: one token a table, and none a cell."""
    if first + 2 > last or state.sCount[first + 1] < state.blkIndent or state.is_code_block(first):
        return False
    head, dashes = _line(state, first), _line(state, first + 1)
    if "|" not in head or "|" not in dashes or not _DASHES.fullmatch(dashes) or _width(head) != _width(dashes):
        return False
    if silent:
        return True
    terminators = state.md.block.ruler.getRules("blockquote")
    line = first + 2
    while (
        line < last
        and state.sCount[line] >= state.blkIndent
        and "|" in _line(state, line)
        and not state.is_code_block(line)
        and not any(rule(state, line, last, True) for rule in terminators)
    ):
        line += 1
    state.push("table_lines", "table", 0).map = [first, line]
    state.line = line
    return True


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _width(row: str) -> int:
    return len(_PIPE.findall(row.strip().removeprefix("|").removesuffix("|"))) + 1
