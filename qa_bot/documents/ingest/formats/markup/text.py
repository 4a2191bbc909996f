"""Plain text, one document a file: its headings, lists, tables and wrapped lines are recognised by their shape."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from qa_bot.documents.ingest.dates import is_date
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.markup.letters import with_joiners, without_joiners
from qa_bot.documents.ingest.formats.markup.numbered_headings import lettered_headings, with_headings_apart
from qa_bot.documents.ingest.formats.markup.plain.aligned import aligned_rows
from qa_bot.documents.ingest.formats.markup.plain.chats import chat
from qa_bot.documents.ingest.formats.markup.plain.columns import write_columns
from qa_bot.documents.ingest.formats.markup.plain.leaders import write_leaders
from qa_bot.documents.ingest.formats.markup.plain.memos import letterhead, subject_of
from qa_bot.documents.ingest.formats.markup.plain.tables import COLUMNS, SIGN, write_table
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Notice, Record, Reject

TITLE_CHARACTERS = 100
LOG_DATES = 3  # lines that are only dates, which are then headings, as in a log or diary
HEADING_CHARACTERS = 60  # of a heading that is only a short line between empty ones
SENTENCE_ENDS = ".!?…。！？:;,：；，、"
DENSE = re.compile(r"[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""A Han character or kana, which says as much as three letters."""
WRAPPED_WIDTH = 50  # characters; shorter lines are not wrapped but meant so
UNDERLINE = re.compile(r"\s*([=\-~^*_#+])\1{2,}\s*")
RULE = re.compile(r"[\s=\-~^*_#+.─━═]*")
NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,3}){0,4})\.?\s+(\S.*)")
BROKEN = re.compile(
    r"(?<![^\W\d_])(?P<left>[^\W\d_]+)-\n(?P<indent>[ \t]*)(?P<right>[^\W\d_]+)(?P<end>[^\w\s-]*)[ \t]*"
)
CONJUNCTIONS = frozenset({"und", "oder", "bzw", "sowie", "bis", "and", "or", "to", "et", "ou"})
SECTION = re.compile(
    r"(?:§+\s*\d+[a-z]?|(?:Artikel|Article|Art\.|Section|Clause|Abschnitt|Kapitel|Chapter|Chapitre|Teil|Part|Anlage|"
    r"Anhang|Appendix|Annex|Schedule|Annexe)\s+(?:\d{1,3}[a-z]?|[IVX]{1,5}|[A-H]))"
    r"(?:[.:]?$|[.:]?\s+[–—-]?\s*(?!(?:Abs|Nr|Satz|Absatz|Nummer|Ziffer)\b)[^\W\d_a-z].*)"
)
"""The heading of a section of rules: "§ 3 Fees", "Article 4: Notice", "Anlage 1"."""
BELOW_NUMBER = re.compile(r"(\d{1,3})(?:\.\d{1,3}){1,3}\.?\s+[^\W\d_a-z]")
"""The number of a part of a numbered item: "2.1 The pump leaks"."""
SMALL_WORD = 3  # letters
PAGE_LINE = re.compile(r"\S.*\s\[(?:Page|Seite) \d{1,4}\]\s*")
"""The last line of a page of an RFC; the first of the next one follows it."""
MANUAL_PAGE = re.compile(r"\s*(\S{1,60}\(\d[a-zA-Z]{0,8}\)) {2,}(?:\S.* {2,})?\1\s*")
"""The first line of a page of a manual: "TAR(1)      GNU TAR Manual      TAR(1)"."""
STAMP = re.compile(r"\s*\[?(?:\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?\s+)?\d{1,2}:\d\d\b")
"""The time at which a line of a chat or log begins; it is never the end of a wrapped sentence."""
COMMENT = re.compile(r"\s*(?:#|;|//)\s")
"""A comment of a file with settings: nothing is joined to it."""
VERSION = re.compile(r"(?:version|release|v)?[ .]?\[?\d{1,4}\.\d{1,4}(?:\.\d|\b)", re.IGNORECASE)
"""Begins the heading of one version of several, as in a list of changes."""
COMMENT_FRAME = re.compile(r"\s*(?:#|;|//|/\*)[\s#;/*=-]*")
SETTING = re.compile(r"\[[\w.: -]+\]|[\w.-]+ ?= ?.*")
"""A line of settings, or the name of their section."""
AGENDA = re.compile(r"\s*(?:TOP|Tagesordnungspunkt|Traktandum|Agenda [Ii]tem)\s+\d{1,2}[a-z]?[.:]?\s+\S")
"""An item of an agenda, above its minutes."""
LABEL = re.compile(r"\s*[^\W\d_][\w /.&'-]{0,30}:\s+\S")
PAIR = re.compile(r"[^\W\d_][\w ()/.&'-]{0,30}:\s+\S")


def read(file: SourceFile) -> Iterator[Item]:
    """One record; its id is the path, its title a short first line that ends no sentence, else the file's stem.

    A file over the record limit becomes several records, `PATH`, `PATH#2` and so on, of which the title has the number.
    """
    title, date, number = "", "", 0
    for number, (line, portion) in enumerate(file.portions(), 1):
        text = _without_page_lines(portion.replace("\f", "\n\n").strip("\n\ufeff"))
        if not text.strip():
            continue
        messages = chat(text)
        blocks = [] if messages else _blocks(text)
        if number == 1:
            title, date, blocks = _head(blocks)
            title = without_joiners(title) or file.stem
        yield Record(
            file.name if number == 1 else f"{file.name}#{number}",
            title if number == 1 else f"{title} ({number})",
            messages or markdown_text(blocks),
            where=f"{file.where}:{line}",
            markdown=True,
            date=date,
        )
    if not title:
        yield Reject(f"{file.where}:1", "Expected text, but got white space; fill the file or leave it out.")
    if number > 1:
        yield Notice(file.where, f"The file is long; its text became {number} documents.")


def text_blocks(text: str) -> str:
    """A text as Markdown, its structure recognised by shape."""
    return markdown_text(_blocks(text))


def markdown_text(blocks: Sequence[Sequence[str]]) -> str:
    """Blocks of lines as Markdown."""
    writer = MarkdownWriter()
    shouts = sum(_is_capitals(line) for block in blocks for line in block) * 3 > sum(map(len, blocks))
    dates = sum(len(block) == 1 and is_date(block[0]) for block in blocks)
    lettered = lettered_headings(blocks)
    for number, block in enumerate(blocks):
        if len(block) == 1 and dates < LOG_DATES and is_date(block[0]):
            writer.paragraph(block[0].strip())
            continue
        before, after = (blocks[number - 1] if number else ()), (blocks[number + 1] if number + 1 < len(blocks) else ())
        if level := lettered.get(number):
            writer.heading(level, block[0].strip())
            continue
        lines = _write_heading(writer, list(block), before, after, capitals=not shouts)
        if lines:
            _write_block(writer, lines, before)
    return without_joiners(writer.text)


def _blocks(text: str) -> list[list[str]]:
    text = _with_whole_words(text)
    blocks: list[list[str]] = [[]]
    for line in with_joiners(text.splitlines()):
        if line.strip():
            if blocks[-1] and _begins_section(blocks[-1][-1], line.strip()):
                blocks.append([])
            blocks[-1].append(line.rstrip())
        elif blocks[-1]:
            blocks.append([])
    return with_headings_apart([block for block in blocks if not all(RULE.fullmatch(line) for line in block)])


def _with_whole_words(text: str) -> str:
    """The text with words put together again that were broken at the ends of long lines.

    A hyphen stays if the text has the word with it elsewhere, or if a conjunction follows ("Flucht- und Rettungswege").
    """
    if not BROKEN.search(text):
        return text
    known = set(re.findall(r"[\w-]+", text))

    def whole(broken: re.Match[str]) -> str:
        left, right = broken["left"], broken["right"]
        width = broken.end("left") - broken.string.rfind("\n", 0, broken.start()) - 1
        if width < WRAPPED_WIDTH or not right[0].islower() or right in CONJUNCTIONS:
            return broken[0]
        hyphen = "-" if f"{left}-{right}" in known and left + right not in known else ""
        return f"{left}{hyphen}{right}{broken['end']}\n{broken['indent']}"

    return BROKEN.sub(whole, text)


def _begins_section(previous: str, line: str) -> bool:
    """Whether a line below another is the heading of a section: what is above ends."""
    return is_section(line) and previous[-1] in SENTENCE_ENDS.replace(",", "")


def is_section(line: str) -> bool:
    """Whether a line is the heading of a section of rules, and no sentence that begins with its number."""
    return len(line) <= TITLE_CHARACTERS and line[-1] not in SENTENCE_ENDS and SECTION.fullmatch(line) is not None


def _without_page_lines(text: str) -> str:
    """The text without the last lines of pages, and the first ones if they are all the same; paragraphs go on."""
    lines = text.split("\n")
    ends = [number for number, line in enumerate(lines) if PAGE_LINE.fullmatch(line)]
    if len(ends) < 2:
        return text
    starts = [next((n for n in range(end + 1, min(end + 9, len(lines))) if lines[n].strip()), end) for end in ends]
    tops = Counter(lines[start] for start in starts)
    left_out = {*ends, *(start for start in starts if tops[lines[start]] > 1)}
    for end in ends:
        above = next((n for n in range(end - 1, -1, -1) if lines[n].strip()), end)
        below = next((n for n in range(end, len(lines)) if lines[n].strip() and n not in left_out), end)
        if _goes_on(lines[above], lines[below]):
            left_out.update(range(above + 1, below))
    return "\n".join(line for number, line in enumerate(lines) if number not in left_out)


def _goes_on(above: str, below: str) -> bool:
    """Whether a paragraph goes on at a line of the next page."""
    margins = {len(line) - len(line.lstrip()) for line in (above, below)}
    is_wrapped = len(margins) == 1 and len(above) >= WRAPPED_WIDTH and above.rstrip()[-1] not in SENTENCE_ENDS
    return is_wrapped and not SIGN.match(below)


def _head(blocks: list[list[str]]) -> tuple[str, str, list[list[str]]]:
    """The title and the date above the text, "" without one, and the blocks after the title."""
    if head := letterhead(blocks):
        return *head, [blocks[0], *blocks[2:]]
    title, others = _title(blocks)
    return title, "", others


def _title(blocks: list[list[str]]) -> tuple[str, list[list[str]]]:
    """The title, "" without one, and the blocks after it; a date above the title is the first of these blocks."""
    if len(blocks) > 1 and len(blocks[0]) == 1 and (page := MANUAL_PAGE.fullmatch(blocks[0][0])):
        is_footer = len(blocks[-1]) == 1 and blocks[-1][0].endswith(f"  {page[1]}")
        return page[1], blocks[1 : -1 if is_footer else None]
    dated = blocks[:1] if len(blocks) > 1 and len(blocks[0]) == 1 and is_date(blocks[0][0]) else []
    title, others = _title_of(blocks[len(dated) :])
    return title, [*dated, *others]


def _title_of(blocks: list[list[str]]) -> tuple[str, list[list[str]]]:
    if not blocks:
        return "", blocks
    lines = [line for line in blocks[0][:1] if not UNDERLINE.fullmatch(line)] + blocks[0][1:]
    if subject := subject_of(blocks[0]):
        return subject, blocks
    comment = COMMENT.match(lines[0])
    first, rest = lines[0][comment.end() if comment else 0 :].strip(), lines[1:]
    is_underlined = bool(rest) and UNDERLINE.fullmatch(rest[0]) is not None
    if is_underlined and VERSION.match(first):
        return "", blocks
    others = rest[1:] if is_underlined else rest
    if COMMENT_FRAME.fullmatch(lines[0]):
        return _title_of([*([rest] if rest else []), *blocks[1:]])
    if not is_underlined and (not _may_be_title(first) or (rest and _is_wrapped(first, rest[0]))):
        return "", blocks
    if not others and len(blocks) == 1:
        return "", blocks
    if not is_underlined and _may_answer(first):
        return first, blocks
    return first, [*([others] if others else []), *blocks[1:]]


def _may_be_title(line: str) -> bool:
    return (
        len(line) <= TITLE_CHARACTERS
        and any(map(str.isalnum, line))
        and line[-1] not in SENTENCE_ENDS
        and not SIGN.match(line)
        and not is_date(line)
        and not SETTING.fullmatch(line)
        and "\t" not in line
    )


def _may_answer(title: str) -> bool:
    """Whether a first line says something ("badges are at the desk, bring your card") and so stays in the text, too."""
    return title[0].islower() or len(title) > HEADING_CHARACTERS


def _is_wrapped(line: str, following: str) -> bool:
    return len(line) >= WRAPPED_WIDTH and following.lstrip()[:1].islower()


def _write_heading(
    writer: MarkdownWriter, lines: list[str], before: Sequence[str], after: Sequence[str], *, capitals: bool
) -> list[str]:
    """Write the heading that the block begins with, if it does; the lines after it."""
    if len(lines) > 2 and UNDERLINE.fullmatch(lines[0]) and UNDERLINE.fullmatch(lines[2]):
        lines = lines[1:]
    first = lines[0].strip()
    if aligned_rows(lines):
        return lines
    if len(lines) > 1 and (underline := UNDERLINE.fullmatch(lines[1])) and len(first) <= TITLE_CHARACTERS:
        writer.heading(1 if underline[1] == "=" else 2, first)
        return lines[2:]
    if (
        capitals
        and _is_capitals(first)
        and (after or len(lines) > 1)
        and not (len(lines) > 1 and _is_capitals(lines[1]))
    ):
        writer.heading(2, first)
        return lines[1:]
    if is_section(first) and (after or len(lines) > 1) and not (len(lines) > 1 and _is_wrapped(first, lines[1])):
        writer.heading(2, first)
        return lines[1:]
    if len(lines) == 1 and after and (level := _level(lines[0], before, after)):
        writer.heading(level, first)
        return []
    return lines


def _level(line: str, before: Sequence[str], after: Sequence[str]) -> int:
    """The level of a line between empty ones, 0 if it is no heading."""
    text = line.strip()
    if len(text) > TITLE_CHARACTERS or text[-1] in f"{SENTENCE_ENDS.replace('?', '')}」":
        return 0
    if number := NUMBERED.fullmatch(text):
        depth = number[1].count(".")
        neighbours = [NUMBERED.fullmatch(lines[0].strip()) for lines in (before, after) if _is_line(lines)]
        is_item = any(other and other[1].count(".") == depth for other in neighbours) and not depth
        return 0 if is_item or not number[2][0].isupper() else 2 + depth
    follows_text = _letters(" ".join(after)) > max(80, _letters(text)) or SIGN.match(after[0]) is not None
    is_short = (
        _letters(text) <= HEADING_CHARACTERS and (text[0].isupper() or not text[0].isascii()) and not SIGN.match(text)
    )
    return 3 if is_short and follows_text and not COLUMNS.search(text) and line[0] != " " else 0


def _letters(text: str) -> int:
    """The length of a text, as long as one that says the same in letters."""
    return len(text) + 2 * len(DENSE.findall(text))


def _is_line(lines: Sequence[str]) -> bool:
    """Whether a block is one line, and no date."""
    return len(lines) == 1 and not is_date(lines[0])


def _is_capitals(line: str) -> bool:
    text = line.strip()
    letters = sum(character.isalpha() for character in text)
    return text.isupper() and letters >= 3 and len(text) <= 80 and text[-1] not in ".;," and letters * 2 > len(text)


def _write_block(writer: MarkdownWriter, lines: list[str], before: Sequence[str]) -> None:
    if write_leaders(writer, lines) or write_columns(writer, lines) or write_table(writer, lines):
        return
    is_indented = all(line.startswith(("    ", "\t")) for line in lines)
    if is_indented and before and before[-1].rstrip().endswith(":") and not SIGN.match(lines[0]):
        margin = min(len(line) - len(line.lstrip()) for line in lines)
        writer.code("\n".join(line[margin:] for line in lines))
    elif len(lines) > 2 and all(PAIR.match(line) for line in lines):
        for line in lines:
            writer.item(line)
    else:
        _write_items(writer, lines)


def _write_items(writer: MarkdownWriter, lines: list[str]) -> None:
    """Items of lists and paragraphs, wrapped lines joined."""
    width = max(map(len, lines))
    indents: list[int] = []  # of the open items
    texts: list[str] = []
    number: int | None = None

    def flush() -> None:
        if texts and indents:
            writer.item("\n".join(texts), depth=len(indents) - 1, number=number)
        elif texts:
            writer.paragraph("\n".join(texts))
        texts.clear()

    previous = ""
    for line in lines:
        match = SIGN.fullmatch(line)
        indent = len(line) - len(line.lstrip())
        if match and not _continues(previous, match, width, is_list=bool(indents)):
            flush()
            indents = [*[column for column in indents if column < indent], indent]
            number = int(match[3]) if match[3] else None
            texts.append(f"{match[4]}) {match[5]}" if match[4] else match[5])
        elif texts and indents and indent > indents[-1] and _is_apart(previous, line, width, number):
            texts.append(line.strip())
        elif texts and _joins(previous, line, width, is_item=bool(indents) and indent > indents[-1]):
            texts[-1] = f"{texts[-1]} {line.strip()}"
        else:
            if indents and indent <= indents[0] and not _is_full(previous, line, width):
                flush()
                indents = []
            texts.append(line.strip())
        previous = line
    flush()


def _continues(previous: str, sign: re.Match[str], width: int, *, is_list: bool) -> bool:
    """Whether a line that begins like an item goes on a wrapped sentence: `… in the years` / `– or 12. more`."""
    is_doubtful = sign[2] in {"-", "–", "—", "+"} or sign[3] or sign[4]
    ends = not previous.strip() or previous.rstrip()[-1] in SENTENCE_ENDS
    return bool(is_doubtful) and not is_list and not ends and len(previous) > 0.8 * width and width >= WRAPPED_WIDTH


def _is_apart(previous: str, line: str, width: int, number: int | None) -> bool:
    """Whether a line inside an item goes on no wrapped one: it has a number below the item's, or a title is above it.

    In narrow text it is a sentence, and no small word ends the title.
    """
    above, text = previous.strip(), line.strip()
    if number is not None and (below := BELOW_NUMBER.match(text)) and int(below[1]) == number:
        return True
    if above[-1] in SENTENCE_ENDS or not text[0].isupper():
        return False
    if width >= WRAPPED_WIDTH:
        return not _is_full(previous, line, width)
    return text[-1] in ".!?" and len(above.split()[-1]) > SMALL_WORD


def _joins(previous: str, line: str, width: int, *, is_item: bool) -> bool:
    if any(COMMENT.match(one) or AGENDA.match(one) for one in (line, previous)):
        return False
    if LABEL.match(line) and LABEL.match(previous):
        return False
    return is_item or (not STAMP.match(line) and width >= WRAPPED_WIDTH and _is_full(previous, line, width))


def _is_full(previous: str, line: str, width: int) -> bool:
    """Whether the next word did not fit into the line before."""
    return len(previous.rstrip()) + 1 + len(line.split(maxsplit=1)[0]) > 0.8 * width
