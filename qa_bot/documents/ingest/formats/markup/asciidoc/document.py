"""AsciiDoc files, one document a file. No other file is included."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterator, Sequence

from qa_bot.documents.ingest.dates import iso_date
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.markup.asciidoc.conditions import all_lines, shown_lines
from qa_bot.documents.ingest.formats.markup.asciidoc.header import ATTRIBUTE, HeaderLines, assign, revision_date
from qa_bot.documents.ingest.formats.markup.asciidoc.inline import alternative, inline, substituted
from qa_bot.documents.ingest.formats.markup.asciidoc.quotations import attribution, kind
from qa_bot.documents.ingest.formats.markup.asciidoc.tables import table
from qa_bot.documents.ingest.formats.markup.html import fragment, one_document, without_title
from qa_bot.documents.ingest.formats.markup.webpage.metadata import declared_language
from qa_bot.documents.ingest.records import Item

DEEPEST = 12  # blocks inside blocks
HEADING = re.compile(r"(={1,6}|#{1,6})\s+(\S.*)")
UNDERLINE = re.compile(r"=+|-+|~+|\^+|\++")
UNDERLINES = "=-~^+"  # signs under titles, the highest level first
UNNAMED = re.compile(r"=+\s+\{doctitle\}")
"""A title that the command names which converts the file."""
DIRECTIVE = re.compile(r"(?:include|toc|video|audio)::\S*\[.*\]")
BLOCK_IMAGE = re.compile(r"image::[^\[\]]+\[([^\[\]]*)\]")
OPTIONS = re.compile(r"\[([^\[\]]*|\[[^\[\]]*\])\]")
DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```[\w+#-]*|[|!,:]={3,})")
ITEM = re.compile(r"\s*(\*{1,6}|-|\.{1,6}|\d{1,4}\.|<(?:\d+|\.)>)\s+(?:(\[[ xX*]\])\s+)?(\S.*)")
LETTERED = re.compile(r"\s*([a-zA-Z]\.|(?:[ivx]{1,9}|[IVX]{1,9})\))\s+(?:(\[[ xX*]\])\s+)?(\S.*)")
"""An item with a letter or a Roman number."""
TERM = re.compile(r"\s*(\S.*?)(:{2,4}|;;)(?:\s+(.*))?")
ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):\s+(.*)", re.DOTALL)
BREAK = re.compile(r"(?:<{3,}|'{3,}|---|\*\*\*)\s*")
CHARACTERS = {
    "nbsp": " ", "sp": " ", "empty": "", "blank": "", "zwsp": "", "plus": "+", "asterisk": "*", "caret": "^",
    "startsb": "[", "endsb": "]", "vbar": "|", "tilde": "~", "backslash": "\\", "backtick": "`", "lt": "<",
    "gt": ">", "amp": "&", "apos": "'", "quot": '"', "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”",
    "deg": "°", "two-colons": "::", "two-semicolons": ";;", "cpp": "C++", "pp": "++",
}  # fmt: skip
"""Attributes that every document has."""
NUMERALS = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
START = re.compile(r"\bstart=\"?(\d{1,6})\b")
ADMONITIONS = {"NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"}


def read(file: SourceFile) -> Iterator[Item]:
    """One record; its title is that of the document, else the file's stem."""
    lines = file.text().replace("\r\n", "\n").split("\n")
    converter, text = _converted(list(shown_lines(lines, CHARACTERS)))
    if _has_only_headings(text):
        converter, text = _converted(all_lines(lines))
    dates = (iso_date(converter.attributes.get(name)) for name in ("revdate", "docdate", "date"))
    yield one_document(
        file,
        converter.title,
        without_title(text, converter.title),
        reject="Expected AsciiDoc with text, but got none; fill the file or leave it out.",
        date=next(filter(None, dates), ""),
        language=declared_language(converter.attributes.get("lang")),
    )


def _converted(lines: Sequence[str]) -> tuple[_Converter, str]:
    """The converter, which has read the lines, and their text in Markdown."""
    converter = _Converter()
    return converter, fragment(converter.html(lines)).text


def _has_only_headings(text: str) -> bool:
    return all(line.startswith("#") for line in text.splitlines() if line)


class _Converter:
    """Goes through the lines once and collects HTML."""

    def __init__(self) -> None:
        self.title = ""
        self.attributes = dict(CHARACTERS)
        self._output: list[str] = []
        self._lists: list[str] = []  # signs of the open lists
        self._paragraph: list[str] = []
        self._options = ""
        self._title = ""  # of the next block
        self._is_titled = False  # the title of a block is written, and its block did not end
        self._is_attached = False  # a line with `+` came, and the block that it attaches did not
        self._is_below_gap = False  # an empty line came, and no block since
        self._header = HeaderLines()

    def html(self, lines: Sequence[str]) -> str:
        """The document in HTML."""
        self._read_header(lines)
        self._blocks(lines, 0)
        return "\n".join(self._output)

    def _read_header(self, lines: Sequence[str]) -> None:
        """The attributes of the header: the title above them may name them."""
        is_below_title = False
        for line in map(str.rstrip, lines):
            if match := ATTRIBUTE.fullmatch(line):
                assign(self.attributes, match)
            elif line and not line.startswith("//"):
                is_below_title = True
            elif not line and is_below_title:
                return

    def _inline(self, text: str) -> str:
        return inline(text, self.attributes)

    def _blocks(self, lines: Sequence[str], depth: int) -> None:
        position = 0
        while position < len(lines):
            line = lines[position].rstrip()
            if depth == 0 and (level := self._underlined(line, lines[position + 1 : position + 2])):
                self._heading(level, line)
                position += 2
                continue
            delimiter = DELIMITER.fullmatch(line)
            if delimiter and depth < DEEPEST:
                end = _end(lines, position, line)
                self._delimited(delimiter[1], lines[position + 1 : end], depth)
                self._is_below_gap = False
                position = end + 1
                continue
            position += 1
            if not self._header.holds(line, lines[position : position + 1]):
                self._line(line)
            elif date := revision_date(line):
                self.attributes.setdefault("revdate", date)
        self._end_paragraph()
        self._end_lists()
        self._write_title()
        self._end_titled()

    def _underlined(self, line: str, below: Sequence[str]) -> int:
        """The level of a title with a line of signs below it, about as long as the title; 0 for other lines."""
        underline = UNDERLINE.fullmatch(below[0].rstrip()) if below else None
        if underline is None or self._paragraph or abs(len(line) - len(underline[0])) > min(2, len(line) // 4):
            return 0
        is_title = re.match(r"(?![.:\s]|//).*\w", line) and not any(
            pattern.fullmatch(line) for pattern in (OPTIONS, ITEM, TERM, DIRECTIVE, BLOCK_IMAGE)
        )
        return UNDERLINES.index(underline[0][0]) + 1 if is_title else 0

    def _line(self, line: str) -> None:
        if not line.strip():
            self._end_paragraph()
            self._is_below_gap = True
        elif line.startswith("//") or DIRECTIVE.fullmatch(line) or UNNAMED.fullmatch(line):
            return
        elif match := ATTRIBUTE.fullmatch(line):
            assign(self.attributes, match)
        elif match := HEADING.fullmatch(line):
            self._heading(len(match[1]), match[2])
        elif line == "+":  # the next block belongs to the item
            self._end_paragraph()
            self._is_attached = True
        else:
            self._text_line(line)

    def _text_line(self, line: str) -> None:
        if (match := OPTIONS.fullmatch(line)) and (not self._paragraph or numbering(match[1])):
            self._end_paragraph()
            self._options = match[1]
        elif re.match(r"\.[^\s.]", line) and not self._paragraph:
            self._write_title()
            self._end_lists_above()
            self._title = line[1:]
        else:
            self._block_line(line)
            self._is_below_gap = False

    def _block_line(self, line: str) -> None:
        if (match := BLOCK_IMAGE.fullmatch(line)) is not None:
            self._image(alternative(match[1]))
        elif BREAK.fullmatch(line) and not self._paragraph:
            self._end_lists()
        elif item := self._item_of(line):
            self._end_paragraph()
            self._write_title()
            self._item(item)
        elif term := TERM.fullmatch(line):
            self._end_paragraph()
            self._write_title()
            self._term(term)
        else:
            if not self._paragraph:
                self._end_lists_above(is_indented=line[0].isspace())
                self._is_attached = False
                self._write_title()
            self._paragraph.append(line)

    def _item_of(self, line: str) -> re.Match[str] | None:
        """The parts of an item; a line of prose that begins with an initial is none."""
        may_be_lettered = not self._paragraph or (self._lists and not self._paragraph[0][0].isspace())
        return ITEM.fullmatch(line) or (LETTERED.fullmatch(line) if may_be_lettered else None)

    def _image(self, words: str) -> None:
        """The title and the alternative text of an image, both as ordinary paragraphs."""
        self._end_paragraph()
        self._end_unattached_lists()
        title, self._title = self._inline(self._title), ""
        texts = dict.fromkeys(filter(None, [title, html.escape(words)]))
        self._output += [f"<p>{text}</p>" for text in texts]
        self._options = ""

    def _write_title(self) -> None:
        """Write the title of a block above it; outside of lists an element holds both, and ends with the block."""
        if self._title:
            is_apart = not self._lists
            if is_apart:
                self._end_titled()
            self._is_titled |= is_apart
            self._output.append(f"{'<details>' if is_apart else ''}<p><b>{self._inline(self._title)}</b></p>")
        self._title = ""

    def _end_titled(self) -> None:
        if self._is_titled and not self._lists:
            self._output.append("</details>")
            self._is_titled = False

    def _end_lists_above(self, *, is_indented: bool = False) -> None:
        """What follows a list and an empty line ends it, unless it is attached, indented, or describes a term."""
        if self._is_below_gap and not (self._is_attached or is_indented or self._output[-1:] == ["<dd>"]):
            self._end_lists()

    def _end_unattached_lists(self) -> None:
        """A block after a list ends it, unless a line with `+` comes between."""
        if not self._is_attached:
            self._end_lists()
        self._is_attached = False

    def _heading(self, level: int, text: str) -> None:
        self._end_paragraph()
        self._end_lists()
        self._write_title()
        self._end_titled()
        if level == 1 and not self.title:
            self.title = " ".join(fragment(f"<h1>{self._inline(text)}</h1>").text.removeprefix("# ").split())
            self._header.begin()
        self._output.append(f"<h{level}>{self._inline(text)}</h{level}>")
        self._options = ""

    def _item(self, match: re.Match[str]) -> None:
        """An item; a letter or a Roman number is part of its text, since lists have numbers or no signs."""
        sign, shown = match[1], ""
        if sign[-1] == ")" or sign[0].isalpha():
            first = "i" if sign[-1] == ")" else "a"
            sign, shown = f"{first.upper() if sign[0].isupper() else first}{sign[-1]}", f"{sign} "
        else:
            sign = "<>" if sign.startswith("<") else re.sub(r"\d+\.", "1.", sign)
        box = {"": "", None: "", "[ ]": "[ ] "}.get(match[2], "[x] ")
        options, self._options = self._options, ""
        self._is_attached = False
        self._open_list(sign, "ul" if sign[0] in "*-" or shown else "ol", options)
        self._output.append("<li>")
        self._paragraph.append(f"{shown}{box}{match[3]}")

    def _term(self, match: re.Match[str]) -> None:
        self._is_attached = False
        self._open_list(match[2], "dl")
        if self._output[-1] == "<dd>":  # one description of several terms
            self._output.pop()
        self._output += [f"<dt>{self._inline(match[1])}</dt>", "<dd>"]
        if match[3]:
            self._paragraph.append(match[3])

    def _open_list(self, sign: str, tag: str, options: str = "") -> None:
        """Continue the open list with this sign, or begin one inside the last item; one with options is always new."""
        key, attributes = f"{tag} {sign}", numbering(options) if tag == "ol" else ""
        if key in self._lists:
            while self._lists[-1] != key:
                self._output.append(f"</{self._lists.pop()[:2]}>")
            if attributes:
                self._output.append(f"</{self._lists.pop()[:2]}>")
        if key not in self._lists and len(self._lists) < DEEPEST:
            self._lists.append(key)
            self._output.append(f"<{tag}{attributes}>")

    def _end_lists(self) -> None:
        if self._lists:
            self._output += [f"</{name[:2]}>" for name in reversed(self._lists)]
            self._lists.clear()
            self._end_titled()

    def _end_paragraph(self) -> None:
        if not self._paragraph:
            return
        text, options = "\n".join(self._paragraph), self._options
        self._paragraph, self._options = [], ""
        first = kind(options)
        is_indented = text[0].isspace() and self._output[-1:] not in (["<li>"], ["<dd>"])
        if first in {"source", "listing", "literal"} or is_indented:
            self._output.append(f"<pre>{html.escape(textwrap.dedent(text))}</pre>")
        elif match := ADMONITION.match(text):
            self._output.append(f"<p><b>{match[1].capitalize()}:</b> {self._inline(match[2])}</p>")
        elif first in ADMONITIONS:
            self._output.append(f"<p><b>{first.capitalize()}:</b> {self._inline(text)}</p>")
        elif first in {"verse", "synopsis"}:
            credit = self._credit(options) if first == "verse" else ""
            self._output.append(f"<p>{self._inline(text).replace(chr(10), '<br>')}</p>{credit}")
        elif first == "quote":
            self._output.append(f"<blockquote>{self._inline(text)}{self._credit(options)}</blockquote>")
        else:
            self._output.append(f"<p>{self._inline(text)}</p>")
        self._output.append("")
        self._end_titled()

    def _credit(self, options: str) -> str:
        """A paragraph that names whom a quotation is from; "" if the options name no one."""
        source = attribution(options)
        return f"<p>— {self._inline(source)}</p>" if source else ""

    def _delimited(self, sign: str, lines: Sequence[str], depth: int) -> None:
        """A block between two lines of signs."""
        self._end_paragraph()
        self._end_unattached_lists()
        self._write_title()
        options, self._options = self._options, ""
        names = [part.strip() for part in options.split(",")]
        if sign.startswith("```") or sign[:4] in {"----", "...."}:
            language = sign[3:] if sign[0] == "`" else names[1] if len(names) > 1 and names[0] == "source" else ""
            language = "" if "=" in language else language
            code = html.escape(substituted("\n".join(lines), options, self.attributes))
            self._output.append(
                f'<pre class="language-{html.escape(language) or "none"}">{code}</pre>'
                if language
                else f"<pre>{code}</pre>"
            )
        elif sign[0] in "|!,:":
            self._output.append(table(lines, options, self._cell, sign[0]))
        elif sign[0] not in "/+":
            self._compound(sign, options, lines, depth)
        self._end_titled()

    def _cell(self, text: str, style: str) -> str:
        if style != "a":
            return self._inline(text)
        inner = _Converter()
        inner.attributes = self.attributes
        inner._blocks(text.split("\n"), 1)
        return "\n".join(inner._output)

    def _compound(self, sign: str, options: str, lines: Sequence[str], depth: int) -> None:
        lists, self._lists = self._lists, []
        is_titled, self._is_titled = self._is_titled, False
        tag = "blockquote" if sign[0] == "_" else "div"
        self._output.append(f"<{tag}>")
        if (name := kind(options)) in ADMONITIONS:
            self._output.append(f"<p>{name.capitalize()}:</p>")
        if is_verse := name == "verse" and any(map(str.strip, lines)):
            self._paragraph, self._options = ["\n".join(lines).strip()], name
        self._blocks([] if is_verse else lines, depth + 1)
        self._output.append(f"{self._credit(options) if name in {'quote', 'verse'} else ''}</{tag}>")
        self._lists, self._is_titled = lists, is_titled


def numbering(options: str) -> str:
    """The attributes of a list in HTML for the options above it: its first number and its numerals."""
    start = START.search(options)
    form = next((NUMERALS[name] for name in map(str.strip, options.split(",")) if name in NUMERALS), "")
    return f"{f' start={start[1]}' if start else ''}{f' type={form}' if form else ''}"


def _end(lines: Sequence[str], start: int, line: str) -> int:
    """The number of the line that ends a block, or of the line after the last."""
    sign = "```" if line.startswith("```") else line
    return next((number for number in range(start + 1, len(lines)) if lines[number].rstrip() == sign), len(lines))
