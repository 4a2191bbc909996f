"""LaTeX, one document a file: sections, lists, tables, code, links. Nothing is run, and no other file is read."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator

from qa_bot.documents.ingest.dates import iso_date
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.markup.html import fragment, plain, without_title
from qa_bot.documents.ingest.records import Item, Record, Reject

COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*\n?[ \t]*")
BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
TOKEN = re.compile(
    r"\\begin\s*\{([^{}]*)\}|\\end\s*\{([^{}]*)\}|\\([A-Za-z@]+)\*?[ \t]*\n?|\\(.)|"
    r"(\$\$?)|([{}&~])|(\n\s*\n)|(``|''|---?)",
    re.DOTALL,
)
VERBATIM = {"verbatim", "Verbatim", "lstlisting", "minted", "alltt"}
MATHS_SIGN = re.compile(r"&[lg]t;|[≤≥=±+×]")
"""A formula that is no more than a sign between words, which is no code."""
MATHS = {"equation", "align", "gather", "multline", "displaymath", "math", "eqnarray"}
TABULARS = {"tabular", "tabularx", "tabulary", "longtable", "array", "tabu"}
SECTIONS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
}
STYLES = {
    **dict.fromkeys(("textbf", "textsc", "strong"), ("<b>", "</b>")),
    **dict.fromkeys(("emph", "textit", "textsl"), ("<i>", "</i>")),
    **dict.fromkeys(("texttt", "code", "lstinline", "path"), ("<code>", "</code>")),
    "caption": ("<p>", "</p>"),
    "footnote": (" (", ")"),
    "textsuperscript": ("<sup>", "</sup>"),
}
DROPPED = {
    **dict.fromkeys(
        ("label", "ref", "pageref", "eqref", "cite", "citep", "citet", "includegraphics", "input", "include"), 1
    ),
    **dict.fromkeys(
        ("bibliography", "bibliographystyle", "usepackage", "documentclass", "vspace", "hspace", "index"), 1
    ),
    **dict.fromkeys(
        ("pagestyle", "thispagestyle", "cline", "cmidrule", "bibitem", "phantom", "author", "date", "title"), 1
    ),
    **dict.fromkeys(
        ("setlength", "setcounter", "addtolength", "newcommand", "renewcommand", "providecommand", "def"), 2
    ),
    **dict.fromkeys(("color", "textcolor", "fontsize", "newtheorem", "rule", "multirow"), 1),
}
"""Macro → number of arguments that are left out."""
SIGNS = {
    "ldots": "…", "dots": "…", "textendash": "–", "textemdash": "—", "LaTeX": "LaTeX", "TeX": "TeX", "ss": "ß",
    "o": "ø", "O": "Ø", "ae": "æ", "AE": "Æ", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "euro": "€",
    "S": "§", "copyright": "©",
    "textbackslash": "\\", "textasciitilde": "~", "quad": " ", "qquad": " ", "newline": "<br>", "par": "<p>", "i": "ı",
}  # fmt: skip
ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307"}
LETTER_ACCENTS = {"c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328", "r": "\u030a"}
MAX_ARGUMENT = 20_000  # characters
MAX_BROKEN = 20  # arguments and formulas without an end
VERBATIM_NAMES = "|".join(sorted(VERBATIM))
VERBATIM_BLOCK = re.compile(
    rf"(\\begin\s*\{{(?:{VERBATIM_NAMES})\*?\}}(?:(?!\\begin\s*\{{(?:{VERBATIM_NAMES})).)*?"
    rf"\\end\s*\{{(?:{VERBATIM_NAMES})\*?\}})",
    re.DOTALL,
)
OPENED = {
    "itemize": "<ul>",
    "enumerate": "<ol>",
    "description": "<dl>",
    "quote": "<blockquote>",
    "quotation": "<blockquote>",
}


def read(file: SourceFile) -> Iterator[Item]:
    """One record; its title is that of `\\title`, else the file's stem."""
    source = file.text()
    title, date, text = latex(source)
    if not text:
        yield Reject(f"{file.where}:1", "Expected LaTeX with text, but got none; name another format with --format.")
        return
    yield Record(
        file.name,
        file.repairs.clean(title) or file.stem,
        file.repairs.clean(text),
        where=f"{file.where}:1",
        markdown=True,
        date=date,
    )


def latex(source: str) -> tuple[str, str, str]:
    """Title, date and Markdown of a document."""
    body = BODY.search(source)
    head = _without_comments(source[: body.start()] if body else source)
    title, date = (_declared(name, head) for name in ("title", "date"))
    writer = fragment(_Converter(body[1] if body else source).html())
    return title, iso_date(date), without_title(writer.text, title)


def _without_comments(text: str) -> str:
    return COMMENT.sub(r"\1", text)


def _declared(name: str, head: str) -> str:
    """The text of an argument as in `\\title{…}`."""
    match = re.search(rf"\\{name}\s*(?:\[[^\]]*\]\s*)?(?=\{{)", head)
    argument = _argument(head, match.end())[0] if match else ""
    return " ".join(plain(_Converter(argument).html()).split()) if argument else ""


def _argument(text: str, start: int) -> tuple[str, int]:
    """The content of the braces at `start`, and the offset after them; "" and `start` without braces."""
    if text[start : start + 1] != "{":
        return "", start
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start, start + MAX_ARGUMENT):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return text[start + 1 : match.start()], match.end()
    return "", start


class _Converter:
    """Goes through a document once and collects HTML; braces and environments are stacks of what closes them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.output: list[str] = []
        self._braces: list[str] = []
        self._environments: list[str] = []
        self._rows: list[int] = []
        self._broken = 0

    def html(self) -> str:
        """The document in HTML."""
        parts = VERBATIM_BLOCK.split(self.text)
        self.text = "".join(part if number % 2 else _without_comments(part) for number, part in enumerate(parts))
        while (match := TOKEN.search(self.text, self.position)) is not None:
            self.output.append(html.escape(self.text[self.position : match.start()], quote=False))
            self.position = match.end()
            self._token(match)
        return "".join([*self.output, html.escape(self.text[self.position :], quote=False)])

    def _token(self, match: re.Match[str]) -> None:
        begun, ended, macro, sign, dollar, single, gap, typography = match.groups()
        if begun is not None:
            self._begin(begun.rstrip("*"))
        elif ended is not None:
            self._end(ended.rstrip("*"))
        elif macro:
            self._macro(macro)
        elif sign:
            self._sign(sign)
        elif dollar:
            self._maths(dollar)
        elif single:
            self._single(single)
        else:
            signs = {"``": "“", "''": "”", "--": "–", "---": "—"}
            self.output.append("<p>" if gap else signs[typography])

    def _single(self, sign: str) -> None:
        if sign == "{":
            self._braces.append("")
        elif sign == "}":
            self.output.append(self._braces.pop() if self._braces else "")
        elif sign == "&" and self._rows:
            self.output.append(self._cell())
        else:
            self.output.append(" " if sign == "~" else "&amp;")

    def _cell(self) -> str:
        return "<th>" if self._rows[-1] == 0 else "<td>"

    def _sign(self, sign: str) -> None:
        if sign == "\\":
            self._option()
            if self._rows:
                self._rows[-1] += 1
            self.output.append(f"<tr>{self._cell()}" if self._rows else "<br>")
        elif sign in ACCENTS:
            self._accent(ACCENTS[sign])
        elif sign in "([":
            self._maths("\\" + {"(": ")", "[": "]"}[sign])
        else:
            self.output.append(
                html.escape(sign) if not sign.isspace() and sign not in ",;:!/-)]" else " " if sign in ",;: " else ""
            )

    def _accent(self, mark: str) -> None:
        match = re.compile(r"\s*(?:\{\s*\\?([A-Za-z])[ ]?\}|\\?([A-Za-z]))").match(self.text, self.position)
        if match:
            self.position = match.end()
            self.output.append(unicodedata.normalize("NFC", f"{match[1] or match[2]}{mark}"))

    def _maths(self, end: str) -> None:
        stop = self.text.find(end, self.position, self.position + MAX_ARGUMENT) if self._broken < MAX_BROKEN else -1
        self._broken += stop < 0
        if stop >= 0:
            formula = html.escape(self.text[self.position : stop].strip())
            self.output.append(formula if MATHS_SIGN.fullmatch(formula) else f"<code>{formula}</code>")
            self.position = stop + len(end)

    def _option(self) -> str:
        """The content of `[…]` after a macro."""
        match = re.compile(r"\s*\[([^\[\]]{0,500})\]").match(self.text, self.position)
        self.position = match.end() if match else self.position
        return match[1] if match else ""

    def _begin(self, name: str) -> None:
        if name in VERBATIM | MATHS:
            stop = re.compile(rf"\\end\s*\{{{name}\*?\}}").search(self.text, self.position)
            content = self.text[self.position : stop.start() if stop else len(self.text)]
            self.position = stop.end() if stop else len(self.text)
            content = (
                content if name in MATHS else re.sub(r"\A[ \t]*(?:\[[^\]\n]*\])?(?:\{[^}\n]*\})?[ \t]*\n", "", content)
            )
            self.output.append(f"<pre>{html.escape(content)}</pre>")
            return
        self._environments.append(name)
        self._option()
        if name in TABULARS:
            for _ in range(1 + (name in {"tabularx", "tabulary"})):
                self._argument()
            self._rows.append(0)
        self.output.append("<table><tr><th>" if name in TABULARS else OPENED.get(name, "<p>"))

    def _end(self, name: str) -> None:
        if name not in self._environments:
            return
        while (last := self._environments.pop()) != name:
            pass
        if last in TABULARS and self._rows:
            self._rows.pop()
        self.output.append(
            "</table>" if name in TABULARS else OPENED.get(name, "<p>").replace("<", "</") if name in OPENED else "<p>"
        )

    def _macro(self, name: str) -> None:
        if name in SIGNS:
            self.output.append(SIGNS[name])
            self._skip_braces()
        elif name in LETTER_ACCENTS:
            self._accent(LETTER_ACCENTS[name])
        elif name == "item":
            label = self._option()
            in_description = "description" in self._environments[-1:]
            term = html.escape(plain(_Converter(label).html())) if label else ""
            self.output.append(f"<dt>{term}</dt><dd>" if in_description else f"<li>{term} ")
        elif name in {"href", "url"}:
            address = self._argument()
            address = html.escape(re.sub(r"\\([%#&_])", r"\1", address))
            if name == "url":
                self.output.append(address)
            else:
                self._open(f'<a href="{address}">', "</a>")
        elif name == "multicolumn":
            count = self._argument()
            self._argument()
            columns = int(count) if count.strip().isascii() and count.strip().isdigit() and len(count) < 4 else 1
            self._open("", self._cell() * (columns - 1) if self._rows else "")
        else:
            self._text_macro(name)

    def _text_macro(self, name: str) -> None:
        """A section, a style, or a macro of unknown meaning, whose arguments stay."""
        self._option()
        if level := SECTIONS.get(name):
            self._open(f"<h{level}>", f"</h{level}>")
        elif name in STYLES:
            self._open(*STYLES[name])
        else:
            for _ in range(DROPPED.get(name, 0)):
                self._option()
                self._argument()

    def _argument(self) -> str:
        """The content of the braces that follow; "" without braces, or if too many others did not end."""
        content, end = _argument(self.text, self.position) if self._broken < MAX_BROKEN else ("", self.position)
        self._broken += end == self.position and self.text[end : end + 1] == "{"
        self.position = end
        return content

    def _open(self, before: str, after: str) -> None:
        """The argument in braces that follows is between these tags."""
        if self.text[self.position : self.position + 1] == "{":
            self.position += 1
            self.output.append(before)
            self._braces.append(after)

    def _skip_braces(self) -> None:
        if self.text.startswith("{}", self.position):
            self.position += 2
