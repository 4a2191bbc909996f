"""Goes through a document whose definitions are in place, and makes HTML of it."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from itertools import pairwise

from qa_bot.documents.ingest.formats.markup.html import plain
from qa_bot.documents.ingest.formats.markup.latex.arguments import (
    MAX_ARGUMENT,
    MAX_BROKEN,
    argument,
    block_title,
    value,
)
from qa_bot.documents.ingest.formats.markup.latex.commands import (
    ACCENTS,
    CLAUSES,
    COUNTING,
    DRAWINGS,
    DROPPED,
    DROPPED_OF_ENVIRONMENTS,
    INLINE_CODE,
    LENGTH,
    LENGTHS,
    LETTER_ACCENTS,
    LISTS,
    MATHS,
    NODE,
    OPENED,
    OTHER_NAMES,
    PLAIN,
    REFERENCES,
    SECTIONS,
    SIGNS,
    STYLES,
    SWITCHES,
    TABULARS,
    VERBATIM,
)
from qa_bot.documents.ingest.formats.markup.latex.counting import FORMS, LEVELS, Counters, ListLabels, OpenList
from qa_bot.documents.ingest.formats.markup.latex.quantities import ARGUMENTS, formula, quantity
from qa_bot.documents.ingest.formats.markup.latex.tabulars import TRIMMED, Tabulars

TOKEN = re.compile(
    r"\\begin\s*\{([^{}]*)\}|\\end\s*\{([^{}]*)\}|\\([A-Za-z@]+)\*?[ \t]*\n?|\\(.)|"
    r"(\$\$?)|([{}&~])|(\n\s*\n)|(``|''|---?)",
    re.DOTALL,
)
MOST_THEOREMS = 100
MOST_SWITCHES = 60  # characters of what closes them
LONGEST_COUNT = 4  # characters
ARGUMENT = "<!-- -->"
"""Closes an argument of a macro of unknown meaning: a blank divides it from the next one."""


class Converter:
    """Goes through a document once and collects HTML; braces and environments are stacks of what closes them.

    Args:
        names: the texts of the document's macros without parameters, for the numbers of lists and sections.
        titles: of sections, tables and figures, by their labels, which references name.
    """

    def __init__(
        self, text: str, names: Mapping[str, str] | None = None, titles: Mapping[str, str] | None = None
    ) -> None:
        self.text = text
        self.position = 0
        self.output: list[str] = []
        self._braces: list[str] = []
        self._environments: list[str] = []
        self._tables = Tabulars()
        self._broken = 0
        self._counters = Counters()
        for outer, name in pairwise(("", *SECTIONS)):
            self._counters.define(name, outer)
        self._names = names or {}
        self._titles = titles or {}
        self._labels = ListLabels(self._names)
        self._lists: list[OpenList] = []
        self._numbered: list[OpenList] = []  # those of the lists that have numbers
        self._theorems: dict[str, tuple[str, str]] = {}

    def html(self) -> str:
        """The document in HTML."""
        while (match := TOKEN.search(self.text, self.position)) is not None:
            self.output.append(html.escape(self.text[self.position : match.start()], quote=False))
            self.position = match.end()
            self._token(match)
        return "".join([*self.output, html.escape(self.text[self.position :], quote=False)])

    def _token(self, match: re.Match[str]) -> None:
        begun, ended, macro, sign, dollar, single, gap, typography = match.groups()
        if begun is not None:
            self._begin(begun.rstrip("*"), is_starred=begun.endswith("*"))
        elif ended is not None:
            self._end(ended.rstrip("*"))
        elif macro:
            self._macro(macro, is_starred="*" in match[0])
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
            self._close(self._braces.pop() if self._braces else "")
        elif sign == "&" and self._tables:
            self._tables.begin_cell(self.output)
        else:
            self.output.append(" " if sign == "~" else "&amp;")

    def _close(self, closing: str) -> None:
        if closing.startswith(ARGUMENT) and self.text[self.position : self.position + 1] == "{":
            self._open(" ", closing)
        else:
            self.output.append(closing.removeprefix(ARGUMENT))

    def _sign(self, sign: str) -> None:
        if sign == "\\":
            self._option()
            if self._tables:
                self._tables.begin_row(self.output, self.text, self.position)
            else:
                self.output.append("<br>")
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
            text, is_plain = formula(self.text[self.position : stop])
            self.output.append(html.escape(text) if is_plain else f"<code>{html.escape(text)}</code>")
            self.position = stop + len(end)

    def _option(self) -> str:
        """The content of `[…]` after a macro."""
        match = re.compile(r"\s*\[([^\[\]]{0,500})\]").match(self.text, self.position)
        self.position = match.end() if match else self.position
        return match[1] if match else ""

    def _begin(self, name: str, *, is_starred: bool) -> None:
        name = OTHER_NAMES.get(name, name)
        if name in VERBATIM | MATHS | DRAWINGS:
            self._verbatim(name)
            return
        self._environments.append(name)
        option = self._option()
        if name in TABULARS:
            for _ in range(1 + (is_starred or name in {"tabularx", "tabulary", "xltabular"})):
                self._argument()
            self._tables.begin(self.output)
        elif name in LISTS:
            self._begin_list(name, option)
        else:
            self.output.append(OPENED.get(name, "<p>"))
            for _ in range(DROPPED_OF_ENVIRONMENTS.get(name, 0)):
                self._argument()
            if name in self._theorems:
                self._begin_theorem(name, option)
            elif name not in PLAIN:
                if title := block_title(option):
                    self.output.append(f"<b>{html.escape(plain(Converter(title).html()))}:</b> ")
                self._open("", f"{ARGUMENT}<p>")

    def _verbatim(self, name: str) -> None:
        stop = re.compile(rf"\\end\s*\{{{name}\*?\}}").search(self.text, self.position)
        content = self.text[self.position : stop.start() if stop else len(self.text)]
        self.position = stop.end() if stop else len(self.text)
        if name in DRAWINGS:
            texts = (plain(Converter(text).html()) for text in NODE.findall(content))
            self.output.append(f"<p>{html.escape('; '.join(filter(None, texts)))}<p>")
            return
        content = (
            formula(content)[0]
            if name in MATHS
            else re.sub(r"\A[ \t]*(?:\[[^\]\n]*\])?(?:\{[^}\n]*\})?[ \t]*\n", "", content)
        )
        self.output.append(f"<pre>{html.escape(content)}</pre>")

    def _begin_list(self, name: str, option: str) -> None:
        opened = OpenList(OPENED[name])
        if name == "enumerate":
            opened = self._labels.opened(len(self._numbered), option)
            self._numbered.append(opened)
        self._lists.append(opened)
        self.output.append(opened.tag)

    def _begin_theorem(self, name: str, option: str) -> None:
        title, counter = self._theorems[name]
        title = " ".join(filter(None, (title, self._counters.next(counter), option and f"({option})")))
        self.output.append(f"<b>{html.escape(title)}</b> ")

    def _end(self, name: str) -> None:
        name = OTHER_NAMES.get(name, name)
        if name not in self._environments:
            return
        closing = "<p>"
        while True:
            last = self._environments.pop()
            if last in LISTS:
                opened = self._lists.pop()
                closing = opened.tag.replace("<", "</")
                if opened.label is not None:
                    self._numbered.pop()
                    self._labels.closed(len(self._numbered), opened.number)
            if last == name:
                break
        if last in TABULARS:
            self._tables.end(self.output)
        if name not in LISTS:
            closing = "</table>" if name in TABULARS else OPENED.get(name, "<p>").replace("<", "</")
        self.output.append("<p>" if closing == "</p>" else closing)

    def _macro(self, name: str, *, is_starred: bool) -> None:
        if name in SIGNS:
            self.output.append(SIGNS[name])
            self.position += 2 * self.text.startswith("{}", self.position)
        elif name in LETTER_ACCENTS:
            self._accent(LETTER_ACCENTS[name])
        elif name == "item":
            self._item()
        elif name in INLINE_CODE:
            self._inline_code(name)
        elif name in {"href", "url"}:
            address = self._argument()
            address = html.escape(re.sub(r"\\([%#&_])", r"\1", address))
            if name == "url":
                self.output.append(address)
            else:
                self._open(f'<a href="{address}">', "</a>")
        elif name in {"multicolumn", "multirow"}:
            self._merged_cell(name)
        elif name in COUNTING or name in FORMS or name[:3] == "the":
            self._count(name)
        elif name in {"setlist", "newtheorem"}:
            self._declare(name, is_numbered=not is_starred)
        else:
            self._text_macro(name, is_starred=is_starred)

    def _merged_cell(self, name: str) -> None:
        """A cell of several columns or rows; its text follows in braces."""
        self._option()
        count = self._argument().strip()
        self._option()
        self._argument()
        self._option()
        if self._tables and count.isascii() and count.isdigit() and len(count) < LONGEST_COUNT and int(count) > 1:
            merge = self._tables.widen if name == "multicolumn" else self._tables.deepen
            merge(self.output, int(count))
        self._open("", "")

    def _inline_code(self, name: str) -> None:
        """Code in braces, or between two equal signs in one line."""
        self._option()
        if name == "mintinline":
            self._argument()
        sign = self.text[self.position : self.position + 1]
        code = self._argument() if sign == "{" else ""
        if not code and (match := re.compile(r"([^\s\w{])([^\n]*?)\1").match(self.text, self.position)):
            code = match[2]
            self.position = match.end()
        self.output.append(f"<code>{html.escape(code)}</code>")

    def _quantity(self, name: str) -> None:
        arguments: list[str] = []
        for _ in range(ARGUMENTS[name]):
            self._option()
            arguments.append(self._argument())
        self.output.append(html.escape(quantity(name, arguments)))

    def _item(self) -> None:
        label = self._option()
        term = html.escape(plain(Converter(label).html())) if label else ""
        if "description" in self._environments[-1:]:
            self.output.append(f"<dt>{term}</dt><dd>")
        elif term or not self._lists:
            is_in_argument = bool(self._braces) and not self._lists
            self.output.append(f"{'<p>' if is_in_argument else '<li>'}{term} ")
        else:
            self.output.append(self._lists[-1].next_item())

    def _count(self, name: str) -> None:
        """A macro that changes or shows a counter."""
        if name not in COUNTING:
            counter = name[3:] if name not in FORMS else self._argument()
            self.output.append(self._counters.shown(counter, name if name in FORMS else "arabic"))
            return
        counter = self._argument()
        if name == "newcounter":
            self._counters.define(counter, self._option())
        elif name in {"setcounter", "addtocounter"}:
            value = self._argument().strip()
            number = int(value) if re.fullmatch(r"-?[0-9]{1,6}", value) else 0
            level = LEVELS.index(counter[4:]) if counter[:4] == "enum" and counter[4:] in LEVELS else len(LEVELS)
            for opened in self._numbered[level : level + 1]:
                opened.number = max(0, number + (opened.number if name[0] == "a" else 0))
            self._counters.set(counter, number, add=name[0] == "a")
        else:
            self._counters.step(counter)

    def _declare(self, name: str, *, is_numbered: bool) -> None:
        """Labels for all lists, or an environment with a title and a number."""
        if name == "setlist":
            levels = self._option()
            if not levels or "enumerate" in levels:
                self._labels.set_default(levels, self._argument())
            else:
                self._argument()
            return
        environment = self._argument()
        shared = self._option()
        title = plain(Converter(self._argument()).html())
        counter = (shared or environment) if is_numbered else ""
        if len(self._theorems) < MOST_THEOREMS:
            self._theorems[environment] = (title, counter)
            self._counters.define(counter, self._option())

    def _text_macro(self, name: str, *, is_starred: bool) -> None:
        """A section, a style and the like, or a macro of unknown meaning, whose arguments stay."""
        self._option()
        if name in SECTIONS or name in CLAUSES:
            self._heading(name, is_starred=is_starred)
        elif name in ARGUMENTS:
            self._quantity(name)
        elif name in REFERENCES:
            titles = [self._titles.get(label.strip(), "") for label in self._argument().split(",")]
            self.output.append(html.escape(", ".join(filter(None, titles))))
        elif name in STYLES:
            self._open(*STYLES[name])
        elif name in SWITCHES:
            self._switch(*SWITCHES[name])
        elif name in LENGTHS:
            length = LENGTH.match(self.text, self.position)
            self.position = length.end() if length else self.position
        elif name in DROPPED:
            if name == "cmidrule" and (trimmed := TRIMMED.match(self.text, self.position)):
                self.position = trimmed.end()
            for _ in range(DROPPED[name]):
                self._option()
                self._argument()
        else:
            self._open("", ARGUMENT)

    def _heading(self, name: str, *, is_starred: bool) -> None:
        """A section, or a clause with its number and the title among its options."""
        if level := SECTIONS.get(name):
            number = "" if is_starred else self._counters.next_section(name, self._names.get(f"the{name}", ""))
            self._open(f"<h{level}>{html.escape(number)}", f"</h{level}>")
            return
        options = self._argument()
        number = value("number", options) or self._counters.next_clause(is_sub=name.startswith("Sub"))
        title = plain(Converter(value("title", options)).html())
        self.output.append(f"<h4>{html.escape(f'§ {number} {title}'.strip())}</h4>")

    def _switch(self, before: str, after: str) -> None:
        """What follows until the end of the braces is between these tags."""
        if self._braces and len(self._braces[-1]) < MOST_SWITCHES and not self._braces[-1].startswith(ARGUMENT):
            self.output.append(before)
            self._braces[-1] = f"{after}{self._braces[-1]}"

    def _argument(self) -> str:
        """The content of the braces that follow; "" without braces, or if too many others did not end."""
        content, end = argument(self.text, self.position) if self._broken < MAX_BROKEN else ("", self.position)
        self._broken += end == self.position and self.text[end : end + 1] == "{"
        self.position = end
        return content

    def _open(self, before: str, after: str) -> None:
        """The argument in braces that follows is between these tags."""
        if self.text[self.position : self.position + 1] == "{":
            self.position += 1
            self.output.append(before)
            self._braces.append(after)
