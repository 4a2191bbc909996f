"""Typst files, one document a file. No code is run, and no other file is read."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from qa_bot.documents.ingest.dates import iso_date
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.markup.html import fragment, one_document, plain, without_title
from qa_bot.documents.ingest.formats.markup.typst.blocks import HEADING, ITEM, BlockLines
from qa_bot.documents.ingest.formats.markup.typst.code import MOST_BROKEN, PAIRS, Brackets, unquoted
from qa_bot.documents.ingest.formats.markup.typst.inline import CONTROL, inline
from qa_bot.documents.ingest.formats.markup.typst.references import reference, titles
from qa_bot.documents.ingest.records import Item

DEEPEST = 20  # contents in contents
WIDEST = 100  # columns
MARK = re.compile(
    r"(`{3,}|`)|\\u\{([0-9a-fA-F]{1,6})\}|\\(\S)|(\$)|((?<!:)//[^\n]*|/\*(?:.*?\*/|.*))|"
    r"((?:https?://|mailto:)[^\s\[\]<>\"]{1,2000})|(?<![\w@])@([A-Za-z][\w:-]{0,100}\w(?:\[[^\[\]\n]{1,100}\])?)|#(?=[A-Za-z_\"({\[])",
    re.DOTALL,
)
STATEMENT = re.compile(r"(import|include|set|show|let|context|return)\b")
BRANCH = re.compile(r"(?:if|for|while)\b[^\[\{\n]{0,500}")
NAME = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*")
TITLE = re.compile(r"\btitle\s*:\s*(?:(\"(?:[^\"\\]|\\.){0,500}\")|\[([^\[\]]{0,500})\])")
DATE = re.compile(
    r"\bdate\s*:\s*(?:\"([^\"\n]{1,60})\"|\[([^\[\]\n]{1,60})\]|"
    r"datetime\(\s*year:\s*(\d{4}),\s*month:\s*(\d{1,2}),\s*day:\s*(\d{1,2}))"
)
LET = re.compile(r"let\s+([A-Za-z_][\w-]*)\s*=\s*(?:(\"(?:[^\"\\\n]|\\.){0,500}\")|\[([^\[\]\n#]{0,500})\])\s*;?\s*$")
START = re.compile(r"\bstart\s*:\s*(\d{1,6})")
NUMBERING = re.compile(r"\bnumbering\s*:\s*\"([^\"\n\x02-\x06]{1,40})\"")
COLUMNS = re.compile(r"\bcolumns\s*:\s*(?:(\d{1,4})|\(([^()]{0,500}))")
STYLES = {"strong": ("<b>", "</b>"), "emph": ("<i>", "</i>"), "super": ("<sup>", "</sup>"), "footnote": (" (", ")"),
          "quote": ("<blockquote>", "</blockquote>"), "block": ("<div>", "</div>"), "align": ("<div>", "</div>"),
          "figure": ("<div>", "</div>"), "raw": ("<code>", "</code>")}  # fmt: skip
SIGNS = {"linebreak": "<br>", "parbreak": "<p>", "pagebreak": "<p>", "h": " ", "sym.section": "§", "sym.euro": "€"}
DROPPED = {
    "image",
    "outline",
    "bibliography",
    "cite",
    "ref",
    "label",
    "v",
    "line",
    "rect",
    "counter",
    "lorem",
    "metadata",
}
WITH_STRINGS = {"text", "strong", "emph", "underline", "upper", "lower", "smallcaps", "raw", "quote", "link", "title"}
"""Functions that print a string."""


def read(file: SourceFile) -> Iterator[Item]:
    """One record; its title is that of its template, else its only heading of the first level, else the file's stem."""
    title, date, text = typst(file.text())
    yield one_document(
        file, title, text, reject="Expected Typst with text, but got none; fill the file or leave it out.", date=date
    )


def typst(source: str) -> tuple[str, str, str]:
    """Title, date and Markdown of a document."""
    converter = Converter()
    text = fragment(converter.html(CONTROL.sub("", source.replace("\r\n", "\n")))).text
    title, tops = converter.title, re.findall(r"^# (.*)$", text, re.MULTILINE)
    if not title and len(tops) == 1 and text.startswith("# "):
        title = tops[0]
    return title, converter.date, without_title(text, title)


class Converter:
    """Puts pieces of HTML in the place of code, then reads lines."""

    def __init__(self) -> None:
        self.title = ""
        self.date = ""
        self._pieces: list[str] = []
        self._values: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self._brackets = Brackets()
        self._depth = 0

    def html(self, text: str) -> str:
        """A text as HTML."""
        self._titles = titles(text)
        return BlockLines(self._pieces).html(self._without_code(text))

    def _content(self, text: str) -> str:
        """What stands between brackets as HTML: blocks, or a part of a line."""
        if self._depth >= DEEPEST:
            return html.escape(text)
        self._depth += 1
        text = self._without_code(text)
        lines = text.strip("\n").split("\n")
        has_blocks = len(lines) > 1 and any(
            not line.strip() or HEADING.match(line) or ITEM.match(line) for line in lines
        )
        result = BlockLines(self._pieces).html(text) if has_blocks else inline(text.strip(), self._pieces)
        self._depth -= 1
        return result

    def _piece(self, markup: str) -> str:
        self._pieces.append(markup)
        return f"\x02{len(self._pieces) - 1}\x03"

    def _without_code(self, text: str) -> str:
        """The markup with signs for what is HTML already."""
        output, position = [], 0
        while (match := MARK.search(text, position)) is not None:
            output.append(text[position : match.start()])
            raw, number, sign, maths, comment, address, label = match.groups()
            position = match.end()
            if raw or maths:
                piece, position = self._verbatim(text, match.start(), raw or maths)
                output.append(piece)
            elif number:
                code = int(number, 16)
                output.append(
                    self._piece(html.escape(chr(code))) if 31 < code < 0xD800 or 0xE000 <= code < 0xFDD0 else ""
                )
            elif sign or address:
                output.append(self._piece(html.escape(sign or address, quote=False)))
            elif label:
                output.append(self._piece(html.escape(reference(label, self._titles), quote=False)))
            elif not comment:
                code_text, position = self._code(text, position)
                output.append(code_text)
        return "".join([*output, text[position:]])

    def _verbatim(self, text: str, start: int, mark: str) -> tuple[str, int]:
        """Raw text or a formula, and the offset after it."""
        begin = start + len(mark)
        end = text.find(mark, begin, begin + 100_000) if self._brackets.broken < MOST_BROKEN else -1
        if end < 0:
            self._brackets.broken += 1
            return self._piece(html.escape(mark)), begin
        content = text[begin:end]
        if len(mark) < 3:
            return self._piece(f"<code>{html.escape(content.strip())}</code>"), end + len(mark)
        language = re.match(r"[\w+#-]{1,30}(?=\s)", content)
        body = content[language.end() :] if language else content
        if "\n" not in body:
            return self._piece(f"<code>{html.escape(body.strip())}</code>"), end + len(mark)
        attribute = f' class="language-{html.escape(language[0])}"' if language else ""
        return self._piece(f"<pre><code{attribute}>{html.escape(body)}</code></pre>"), end + len(mark)

    def _code(self, text: str, position: int) -> tuple[str, int]:
        """What a piece of code after `#` prints, and the offset after it."""
        if self._brackets.broken >= MOST_BROKEN:
            return "", position
        if STATEMENT.match(text, position):
            end = self._brackets.statement_end(text, position)
            return self._statement(text[position:end]), end
        if branch := BRANCH.match(text, position):
            return "", branch.end()
        if text[position] == '"':
            match = re.compile(r'"((?:[^"\\\n]|\\.){0,1000})"').match(text, position)
            return (self._piece(html.escape(unquoted(match[0]))), match.end()) if match else ("", position)
        if text[position] in PAIRS:
            end = self._brackets.closing(text, position)
            inner = text[position + 1 : end]
            return ("", position + 1) if end < 0 else (self._printed(inner, text[position]), end + 1)
        name = NAME.match(text, position)
        return self._call(text, name) if name else ("", position)

    def _printed(self, inner: str, bracket: str) -> str:
        return self._piece(self._content(inner) if bracket == "[" else "".join(self._texts(inner)))

    def _statement(self, statement: str) -> str:
        """Nothing is printed; titles, dates, simple values and numbers of lists are kept."""
        if value := LET.match(statement):
            if len(self._values) < 1000:
                self._values[value[1]] = unquoted(value[2]) if value[2] else value[3]
        elif re.match(r"set\s+enum\b", statement):
            start, form = START.search(statement), NUMBERING.search(statement)
            return f"\x05{start[1] if start else ''},{form[1] if form else ''}\x06"
        elif re.match(r"show\s*:|set\s+document\b", statement):
            self._declare(statement)
        return ""

    def _declare(self, arguments: str) -> None:
        title, date = TITLE.search(arguments), DATE.search(arguments)
        if title and not self.title:
            text = unquoted(title[1]) if title[1] else plain(self._content(title[2]))
            self.title = " ".join(text.split())
        if date and not self.date:
            numbers = "-".join(number.zfill(2) for number in date.group(3, 4, 5)) if date[3] else ""
            self.date = iso_date(date[1] or date[2] or numbers)

    def _call(self, text: str, name: re.Match[str]) -> tuple[str, int]:
        """What a function or a value prints, and the offset after it."""
        position, arguments = name.end(), ""
        if text[position : position + 1] == "(":
            end = self._brackets.closing(text, position)
            if end < 0:
                return "", position
            arguments, position = text[position + 1 : end], end + 1
        elif text[position : position + 1] != "[":
            return self._piece(SIGNS.get(name[0]) or html.escape(self._values.get(name[0], ""))), position
        contents, position = self._brackets.following(text, position)
        if name[0] not in STYLES and name[0] not in WITH_STRINGS and not self.title and self._depth == 0:
            self._declare(arguments[:5000])
        return self._piece(self._result(name[0], arguments, contents)), position

    def _result(self, name: str, arguments: str, contents: Sequence[str]) -> str:
        """The HTML that a call of a function makes."""
        if self._depth >= DEEPEST:
            return html.escape(" ".join(contents))
        self._depth += 1
        result = self._made(name, arguments, contents)
        self._depth -= 1
        return result

    def _made(self, name: str, arguments: str, contents: Sequence[str]) -> str:
        if name in SIGNS or name in DROPPED:
            return SIGNS.get(name, "")
        if name == "table":
            return self._table(arguments, contents)
        if name == "heading":
            level = re.search(r"\b(?:level|depth)\s*:\s*([1-6])", arguments)
            number = level[1] if level else "1"
            return f"<h{number}>{self._joined(arguments, contents)}</h{number}>"
        if name == "link":
            address = next((part.text for part in self._brackets.parts(arguments) if part.kind == "string"), "")
            label = " ".join(map(self._content, contents)) or " ".join(self._texts(arguments)) or html.escape(address)
            return f'<a href="{html.escape(address)}">{label}</a>' if address else label
        if name in {"enum", "list"}:
            tag, items = ("ol" if name == "enum" else "ul"), [*self._texts(arguments), *map(self._content, contents)]
            return f"<{tag}>{''.join(f'<li>{item}' for item in items)}</{tag}>"
        before, after = STYLES.get(name, ("", ""))
        return f"{before}{self._joined(arguments, contents, with_strings=name in WITH_STRINGS)}{after}"

    def _joined(self, arguments: str, contents: Sequence[str], *, with_strings: bool = True) -> str:
        texts = [*self._texts(arguments, with_strings=with_strings), *map(self._content, contents)]
        return " ".join(filter(None, texts))

    def _texts(self, code: str, *, with_strings: bool = False) -> Iterator[str]:
        """The contents in code as HTML, and those of the calls in it."""
        if self._depth >= DEEPEST:
            return
        self._depth += 1
        for part in self._brackets.parts(code):
            if part.kind == "content":
                yield self._content(part.text)
            elif part.kind == "call":
                yield self._result(part.call, part.text, part.contents)
            elif part.kind == "code":
                yield from self._texts(part.text)
            elif with_strings and not part.name:
                yield html.escape(part.text)
        self._depth -= 1

    def _table(self, arguments: str, contents: Sequence[str]) -> str:
        """A table of as many columns as it says."""
        columns = COLUMNS.search(arguments)
        width = 1
        if columns:
            width = int(columns[1]) if columns[1] else len(list(filter(str.strip, columns[2].split(","))))
        width = min(WIDEST, max(1, width))
        output, column, row = ["<table>"], width, 0
        for text, span in [*self._cells(arguments, 0), *((self._content(text), 1) for text in contents)]:
            if column >= width:
                output.append("<tr>")
                column, row = 0, row + 1
            tag = "th" if row == 1 else "td"
            output.append(f'<{tag} colspan="{span}">{text}</{tag}>')
            column += span
        return "".join([*output, "</table>"])

    def _cells(self, arguments: str, depth: int) -> Iterator[tuple[str, int]]:
        for part in self._brackets.parts(arguments):
            if part.kind == "call" and part.call in {"table.header", "table.footer"} and depth == 0:
                yield from self._cells(part.text, 1)
                yield from ((self._content(text), 1) for text in part.contents)
            elif part.kind == "call" and part.call == "table.cell":
                span = re.search(r"\bcolspan\s*:\s*(\d{1,2})", part.text)
                yield (
                    " ".join([*self._texts(part.text), *map(self._content, part.contents)]),
                    int(span[1]) if span else 1,
                )
            elif part.kind == "call" and not part.name and part.call[:6] != "table.":
                yield self._result(part.call, part.text, part.contents), 1
            elif part.kind == "content" and not part.name:
                yield self._content(part.text), 1
            elif part.kind == "string" and not part.name:
                yield html.escape(part.text), 1
