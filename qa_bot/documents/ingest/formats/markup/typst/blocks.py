"""The lines of Typst as HTML: headings, lists, paragraphs."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from qa_bot.documents.ingest.formats.list_labels import numeral
from qa_bot.documents.ingest.formats.markup.text import SECTION, SENTENCE_ENDS, TITLE_CHARACTERS
from qa_bot.documents.ingest.formats.markup.typst.inline import inline

HEADING = re.compile(r"(={1,6})[ \t]+(\S.*)")
ITEM = re.compile(r"([ \t]*)(?:([-+])|(\d{1,6})\.|(/))(?:[ \t]+(.*)|$)")
TERM = re.compile(r"([^:]{1,200}):[ \t]*(.*)")
SETTING = re.compile(r"\x05(\d*),([^\x05\x06]*)\x06")
"""The first number and the form of the lists that follow, between control characters."""
NUMBERING = re.compile(r"[^1aAiI]{0,9}[1aAiI][^1aAiI]{0,9}")
DEEPEST = 30  # lists in lists


@dataclass(slots=True)
class _List:
    indent: int
    sign: str
    tag: str
    form: str
    number: int = 0


class BlockLines:
    """Goes through the lines once. `level` is that of the heading above."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces
        self._output: list[str] = []
        self._paragraph: list[str] = []
        self._lists: list[_List] = []
        self._begins_item = False
        self._level = 1
        self._start = 1
        self._outer_start: int | None = None  # above a setting inside a list
        self._forms: list[str] = []

    def html(self, text: str) -> str:
        """The text as HTML."""
        for line in text.split("\n"):
            self._line(line.rstrip())
        self._end_paragraph()
        self._end_lists(0)
        return "".join(self._output)

    def _line(self, line: str) -> None:
        setting = SETTING.fullmatch(line.strip())
        if line and not setting and line[0] not in " \t" and self._outer_start is not None:
            self._start, self._outer_start = self._outer_start, None
        if setting:
            self._set(setting, is_inside=line[0] in " \t" and bool(self._lists))
        elif not line:
            self._end_paragraph()
        elif match := HEADING.fullmatch(line):
            self._end_paragraph()
            self._end_lists(0)
            self._level = len(match[1])
            self._output.append(f"<h{self._level}>{inline(match[2], self._pieces)}</h{self._level}>")
        elif match := ITEM.fullmatch(line):
            self._item(match)
        else:
            if not self._paragraph:
                indent = len(line) - len(line.lstrip())
                self._end_lists(sum(opened.indent < indent for opened in self._lists))
            self._paragraph.append(line.strip())

    def _set(self, setting: re.Match[str], *, is_inside: bool) -> None:
        if setting[1]:
            self._outer_start = (self._start if self._outer_start is None else self._outer_start) if is_inside else None
            self._start = int(setting[1][:6])
        self._forms = NUMBERING.findall(setting[2]) or self._forms

    def _item(self, match: re.Match[str]) -> None:
        self._end_paragraph()
        indent, sign = len(match[1].expandtabs(4)), match[2] or ("+" if match[3] else "/")
        outer = sum(opened.indent < indent for opened in self._lists)
        is_same = outer < len(self._lists) and self._lists[outer].sign == sign
        self._end_lists(min(outer + is_same, DEEPEST))
        if not is_same and len(self._lists) < DEEPEST:
            self._begin_list(indent, sign)
        opened, text = self._lists[-1], match[5] or ""
        if sign == "/" and (term := TERM.fullmatch(text)):
            self._output.append(f"<li><b>{inline(term[1], self._pieces)}</b>: ")
            text = term[2]
        else:
            opened.number = int(match[3]) if match[3] else opened.number + 1
            self._output.append(self._sign(opened))
        self._paragraph, self._begins_item = [text], True

    def _begin_list(self, indent: int, sign: str) -> None:
        form = self._form()
        tag = "ol" if sign == "+" and (not form or form.strip() in {"1", "1.", "1)"}) else "ul"
        self._lists.append(_List(indent, sign, tag, form, self._start - 1))
        self._output.append(f"<{tag}>")

    def _form(self) -> str:
        """The form of the numbers of the next list inside the open ones, such as "a)"; "" without one."""
        depth = sum(opened.sign == "+" for opened in self._lists)
        return self._forms[min(depth, len(self._forms) - 1)] if self._forms else ""

    def _sign(self, opened: _List) -> str:
        if opened.sign != "+":
            return "<li>"
        if opened.tag == "ol":
            return f'<li value="{opened.number}">'
        sign = re.sub("[1aAiI]", lambda match: numeral(opened.number, match[0]), opened.form, count=1)
        return f"<li>{html.escape(sign.strip())} "

    def _end_lists(self, outer: int) -> None:
        while len(self._lists) > outer:
            self._output.append(f"</{self._lists.pop().tag}>")

    def _end_paragraph(self) -> None:
        text, is_section = "\n".join(self._paragraph).strip(), self._is_section()
        begins_item, self._paragraph, self._begins_item = self._begins_item, [], False
        if is_section:
            level = min(6, self._level + 1)
            self._output.append(f"<h{level}>{inline(text, self._pieces)}</h{level}>")
        elif text:
            line = inline(text, self._pieces)
            self._output.append(line if begins_item else f"<div>{line}</div>")

    def _is_section(self) -> bool:
        """Whether the paragraph is one line like "§ 3 Fees", outside of lists."""
        if self._lists or len(self._paragraph) != 1:
            return False
        line = self._paragraph[0].strip("*_ ")
        return (
            0 < len(line) <= TITLE_CHARACTERS and line[-1] not in SENTENCE_ENDS and SECTION.fullmatch(line) is not None
        )
