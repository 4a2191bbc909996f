"""Counters of a document, and the numbers and signs of its lists."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from qa_bot.documents.ingest.formats.list_labels import numeral

MOST_COUNTERS = 500
HIGHEST = 1_000_000
FORMS = ("arabic", "alph", "Alph", "roman", "Roman")
FORM = re.compile(r"\\(arabic|alph|Alph|roman|Roman)(?![A-Za-z])\s*(?:\*|\{[^{}]{0,50}\})?")
NUMBER_OF = re.compile(r"\\(arabic|alph|Alph|roman|Roman)\s*\{([A-Za-z]{1,50})\}|\\the([A-Za-z]{1,50})")
LABEL = re.compile(
    r"(?:^|,)\s*label\s*=\s*(?:\{((?:[^{}]|\{[^{}]{0,50}\}){0,200})\}|((?:[^{},\\]|\\.|\{[^{}]{0,50}\}){0,200}))"
)
START = re.compile(r"(?:^|,)\s*start\s*=\s*(\d{1,6})")
SHORT = re.compile(r"(?<![A-Za-z\\])([AaIi1])(?![A-Za-z])")
SHORT_FORMS = {"Alph": "A", "alph": "a", "Roman": "I", "roman": "i", "arabic": "1"}
LONG_FORMS = {short: form for form, short in SHORT_FORMS.items()}
LEVELS = ("i", "ii", "iii", "iv")
NUMBERS = (r"\arabic*", r"\alph*", r"\roman*", r"\Alph*")
"""The numbers of numbered lists inside each other."""
DEFAULTS = (r"\arabic*.", r"(\alph*)", r"\roman*.", r"\Alph*.")


class Counters:
    """Counters by name, set back by the counter that they are within."""

    def __init__(self) -> None:
        self._values: dict[str, int] = {}
        self._within: dict[str, list[str]] = {}
        self.define("Clause")
        self.define("SubClause", "Clause")

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def define(self, name: str, within: str = "") -> None:
        """A counter that begins with 0."""
        if name not in self._values and len(self._values) < MOST_COUNTERS:
            self._values[name] = 0
            self._within.setdefault(within, []).append(name)

    def set(self, name: str, value: int, *, add: bool = False) -> None:
        """Set a counter, or add to it."""
        if name in self._values:
            self._values[name] = min(HIGHEST, max(0, value + (self._values[name] if add else 0)))

    def step(self, name: str) -> None:
        """The next number; what is within begins again."""
        self.set(name, 1, add=True)
        for inner in self._within.get(name, ()) if name else ():
            self._values[inner] = 0

    def next(self, name: str) -> str:
        """Step to the next number, and show it."""
        self.step(name)
        return self.shown(name)

    def next_clause(self, *, is_sub: bool) -> str:
        """The number of the next clause, or of the next one below the last clause: "3a"."""
        if not is_sub:
            return self.next("Clause")
        self.step("SubClause")
        return f"{self.shown('Clause')}{self.shown('SubClause', 'alph')}"

    def next_section(self, name: str, form: str) -> str:
        """The number of the next section and a blank, if the form has words, such as "§ 3"; else ""."""
        self.step(name)
        number = self.text(form)
        return f"{number} " if any(sign.isalpha() or sign == "§" for sign in number) else ""

    def shown(self, name: str, form: str = "arabic") -> str:
        """The number of a counter in one of `FORMS`; "" if it is not known."""
        return numeral(self._values[name], SHORT_FORMS[form]) if name in self._values else ""

    def text(self, template: str) -> str:
        """A text with the numbers of the counters that it names."""
        template = NUMBER_OF.sub(lambda match: self.shown(match[2] or match[3], match[1] or "arabic"), template)
        return " ".join(_words(template).split())


class Label(NamedTuple):
    """What stands before and after the number of an item, and the form of the number: "" is a bullet."""

    before: str
    form: str
    after: str


@dataclass(slots=True)
class OpenList:
    """A list, its label if it is a numbered one, and the number of its last item."""

    tag: str
    label: Label | None = None
    number: int = 0

    def next_item(self) -> str:
        """The tag of the next item, with its sign unless the list itself gives it."""
        if self.label is None or not self.label.form:
            return "<li>"
        self.number += 1
        before, form, after = self.label
        if self.tag == "<ol>":
            return f'<li value="{self.number}">'
        return f"<li>{html.escape(f'{before}{numeral(self.number, SHORT_FORMS[form])}{after}')} "


class ListLabels:
    """The labels of numbered lists: of the document, of its macros, of the list."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._levels = [_of_macros(names, level) for level in range(len(LEVELS))]
        self._last = [0] * len(LEVELS)

    def set_default(self, levels: str, options: str) -> None:
        """What `\\setlist[enumerate,1]{…}` says."""
        if (label := _of_options(options)) is None:
            return
        numbers = [int(digit) - 1 for digit in re.findall(r"(?<!\d)[1-4](?!\d)", levels)]
        for level in numbers or range(len(LEVELS)):
            self._levels[level] = label

    def opened(self, depth: int, options: str) -> OpenList:
        """A numbered list with so many numbered ones around it."""
        level = min(depth, len(LEVELS) - 1)
        start = START.search(options)
        before = int(start[1]) - 1 if start else self._last[level] if "resume" in options else 0
        label = _of_options(options) or self._levels[level]
        is_plain = label.form == "arabic" and not label.before and label.after in {"", ")", "."}
        return OpenList("<ol>" if is_plain else "<ul>", label, max(0, before))

    def closed(self, depth: int, number: int) -> None:
        """A list has ended with an item of this number."""
        self._last[min(depth, len(LEVELS) - 1)] = number


def _of_macros(names: Mapping[str, str], level: int) -> Label:
    """The label that macros such as `\\labelenumi` and `\\theenumi` give."""
    suffix = LEVELS[level]
    number = names.get(f"theenum{suffix}", "")
    text = names.get(f"labelenum{suffix}") or (number and f"{number}.") or DEFAULTS[level]
    return _label(text.replace(f"\\theenum{suffix}", number or NUMBERS[level]))


def _of_options(options: str) -> Label | None:
    if match := LABEL.search(options):
        return _label(match[1] if match[1] is not None else match[2])
    if "=" in options or not (match := SHORT.search(options)):
        return None
    return Label(options[: match.start()].strip("{} "), LONG_FORMS[match[1]], options[match.end() :].strip("{} "))


def _label(text: str) -> Label:
    match = FORM.search(text)
    return (
        Label(_words(text[: match.start()]).lstrip(), match[1], _words(text[match.end() :]).rstrip())
        if match
        else Label("", "", "")
    )


def _words(text: str) -> str:
    """A part of a label without its commands; `\\S` is §."""
    text = re.sub(r"\\S(?![A-Za-z])\s*(?:\{\})?", "§", text)
    return re.sub(r"(?:\\(?:[A-Za-z]+\*?|.)|[~\s])+", " ", re.sub(r"[{}*]", "", text))
