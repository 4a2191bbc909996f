"""Markdown and MDX files, one document a file. The only file of this room that imports markdown-it.

Markdown is rendered to HTML, and its blocks are written by the HTML reader: raw HTML between the blocks, and Markdown
inside of it, need no rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.document_title import first_title
from qa_bot.documents.ingest.formats.markup.dialects.notes.joplin import JoplinItem, joplin_item
from qa_bot.documents.ingest.formats.markup.front_matter import front_matter
from qa_bot.documents.ingest.formats.markup.html import fragment, plain, without_title
from qa_bot.documents.ingest.formats.markup.markdown_dialects import commonmark, is_mdx
from qa_bot.documents.ingest.formats.markup.webpage.tags import HANDLERS
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.plain_paragraphs import faster
from qa_bot.documents.ingest.records import Item, Notice, Record, Reject

DEEPEST = 40  # blocks inside blocks
PROPERTY = re.compile(r"[^\W\d_][\w ()/.&'-]{0,30}:\s+\S")
CONTENTS = re.compile(
    r"[\W_]*(?:(?:table of )?contents|toc|index|on this page|inhalt(?:sverzeichnis)?|sommaire|índice|sumario)[\W_]*",
    re.IGNORECASE,
)
FEWEST_ENTRIES = 3
"""Of a table of contents."""
HTML_TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]*)((?:\s[^<>]*)?)>")
INLINE_TAGS = (
    "abbr acronym bdi bdo big cite data dfn font ins label mark optgroup output ruby small span sub time u var wbr"
)
SWALLOWING_TAGS = (
    "body canvas audio video frameset head html iframe math noembed noframes noscript object option plaintext script "
    "select style svg template textarea title xmp"
)
"""Elements that take what follows, if they are not closed."""
LISTS_OPEN = {"ordered_list_open", "bullet_list_open"}
LISTS_CLOSE = {"ordered_list_close", "bullet_list_close"}
SWALLOWING = frozenset(SWALLOWING_TAGS.split())
KNOWN_TAGS = SWALLOWING.union(INLINE_TAGS.split(), (tag for tag in HANDLERS if tag[0] != "-")) - {"param"}


def read(file: SourceFile) -> Iterator[Item]:
    """One record; its title is that of the front matter, else the heading of level 1, if the text has one for all."""
    source = file.text().replace("\r\n", "\n")
    if (item := joplin_item(source)) is not None:
        yield from _note(file, item)
        return
    front = front_matter(source)
    writer = markdown_blocks(source[front.end :], mdx=file.name.lower().endswith(".mdx"))
    title = plain(front.title) or first_title(writer, file.stem)
    text = file.repairs.clean(without_title(writer.text, title))
    if front.redirect and not text:
        yield Notice(f"{file.where}:1", f"The page has no text, because it redirects to {front.redirect[:200]}.")
        return
    if all(line.startswith("#") for line in text.splitlines() if line):
        yield Reject(f"{file.where}:1", "Expected text, but got none (headings alone, or an empty file); add some.")
        return
    yield Record(
        file.name,
        file.repairs.clean(title) or file.stem,
        text,
        where=f"{file.where}:1",
        markdown=True,
        date=front.date,
        language=front.language,
        archived=front.archived,
        draft=front.draft,
        tags=tuple(map(file.repairs.clean, front.tags)),
    )


def _note(file: SourceFile, item: JoplinItem) -> Iterator[Item]:
    """A note of Joplin; what else the program exports has no text."""
    if not item.is_note:
        yield Notice(f"{file.where}:1", "The file is a notebook, a tag or other data of Joplin; its notes are read.")
        return
    text = "" if item.is_encrypted else file.repairs.clean(without_title(markdown_blocks(item.text).text, item.title))
    if not text:
        reason = "an encrypted one; export it decrypted" if item.is_encrypted else "an empty one; add some"
        yield Reject(f"{file.where}:1", f"Expected a note with text, but got {reason}.")
        return
    title = file.repairs.clean(item.title) or file.stem
    yield Record(file.name, title, text, url=item.url, where=f"{file.where}:1", markdown=True, date=item.date)


def markdown_blocks(source: str, writer: MarkdownWriter | None = None, *, mdx: bool = False) -> MarkdownWriter:
    """Markdown of any dialect as `MarkdownWriter` writes it."""
    mdx = mdx or is_mdx(source)
    parser = _parser(mdx)
    tokens = _without_contents(parser.parse(commonmark(source, mdx=mdx)))
    is_numbered = False
    for token in tokens:
        if token.type == "inline":
            _keep_properties(token)
            for child in token.children or ():
                if child.type == "html_inline":
                    _check_html(child)
        elif token.type == "html_block":
            _check_html(token)
        elif token.type == "ordered_list_open":
            is_numbered = True
    if is_numbered:
        _keep_numbers(tokens)
    return fragment(str(parser.renderer.render(tokens, parser.options, {})), writer)


@cache
def _parser(mdx: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable(["table", "strikethrough"])
    # children of components are indented in MDX
    return faster(parser.disable("code") if mdx else parser)


def _without_contents(tokens: list[Token]) -> list[Token]:
    """The document without its table of contents, a list of links below a line that says so, unless it is all."""
    output: list[Token] = []
    position = 0
    while position < len(tokens):
        end = position + 1
        if tokens[position].type in LISTS_OPEN and tokens[position].level == 0:
            end = next(n for n in range(end, len(tokens)) if tokens[n].type in LISTS_CLOSE and not tokens[n].level) + 1
        is_named = end > position + 1 and len(output) > 1 and CONTENTS.fullmatch(output[-2].content)
        if is_named and _is_contents(tokens[position:end]):
            del output[-3:]  # the heading or the paragraph above it
        else:
            output += tokens[position:end]
        position = end
    texts = [token for token in output if token.type in {"paragraph_open", "fence", "html_block", "table_open"}]
    return output if texts else tokens


def _is_contents(tokens: Sequence[Token]) -> bool:
    """Whether each item of a list is a link to a place in the document."""
    texts = [token.children or [] for token in tokens if token.type == "inline"]
    return len(texts) >= FEWEST_ENTRIES and all(
        parts
        and parts[0].type == "link_open"
        and str(parts[0].attrs.get("href", "")).startswith("#")
        and parts[-1].type == "link_close"
        and [part.type for part in parts].count("link_open") == 1
        for parts in texts
    )


def _keep_numbers(tokens: Sequence[Token]) -> None:
    """Items of lists whose numbers ascend keep them: "4." stays so after "2.", and three times "1." is counted."""
    open_lists: list[list[Token]] = []
    for token in tokens:
        if token.type == "list_item_open":
            open_lists[-1].append(token)
        elif token.type in LISTS_OPEN:
            open_lists.append([])
        elif token.type in LISTS_CLOSE:
            items = open_lists.pop()
            steps = list(pairwise([int(item.info) for item in items])) if items[0].info else []
            if any(after != before + 1 for before, after in steps) and all(before < after for before, after in steps):
                for item in items:
                    item.attrSet("value", item.info)


def _keep_properties(token: Token) -> None:
    """Lines like "Owner: Ann", as below the titles of Notion's pages, stay lines."""
    lines = token.content.split("\n")
    if len(lines) > 1 and all(PROPERTY.match(line) for line in lines):
        token.children = [part for child in token.children or () for part in _with_breaks(child)]


def _with_breaks(child: Token) -> Iterator[Token]:
    """A part of a line, with line ends that are kept; `plain_paragraphs` leaves them in the text."""
    if child.type != "text" or "\n" not in child.content:
        yield child.copy(type="hardbreak", tag="br") if child.type == "softbreak" else child
        return
    for number, line in enumerate(child.content.split("\n")):
        if number:
            yield Token("hardbreak", "br", 0)
        yield child.copy(content=line)


def _check_html(token: Token) -> None:
    """Words in angle brackets that are no elements become text; elements that are not closed lose their tags."""
    if token.content.lstrip().startswith("<!--") and "-->" not in token.content:
        token.content = token.content.replace("<!--", "", 1)
    lower = token.content.lower()

    def checked(match: re.Match[str]) -> str:
        name = match[2].lower()
        if name in SWALLOWING:
            is_closed = f"</{name}" in lower and f"<{name}" in lower
            return match[0] if is_closed else _as_text(match[0])
        if name in KNOWN_TAGS:
            return match[0]
        is_component = "=" in match[3] or (match[2][0].isupper() and f"</{name}" in lower and f"<{name}" in lower)
        return " " if is_component else _as_text(match[0])

    token.content = HTML_TAG.sub(checked, token.content)


def _as_text(tag: str) -> str:
    return tag.replace("<", "&lt;").replace(">", "&gt;")
