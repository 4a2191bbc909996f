"""The macros and environments that a document defines, put in place where it uses them.

The text of each definition is expanded once, into a template; a use fills the template. So time is linear, and a
definition that leads back to itself, or grows beyond bounds, is not put in place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from qa_bot.documents.ingest.formats.markup.latex.commands import KNOWN_ENVIRONMENTS, KNOWN_MACROS, SIGNS

MOST_DEFINITIONS = 2000
DEEPEST = 40  # definitions and arguments inside each other
LONGEST_TEMPLATE = 20_000  # characters
GROWTH = 4  # times the length of the text that all uses may add
SPARE_GROWTH = 100_000  # characters
COMMANDS = "newcommand|renewcommand|providecommand|DeclareRobustCommand"
DEFINITION = re.compile(rf"\\(?:({COMMANDS}|NewDocumentCommand|def|let)|((?:re)?newenvironment))(?![A-Za-z@])\*?\s*")
NAME = re.compile(r"\{\s*\\([A-Za-z@]+)\s*\}|\\([A-Za-z@]+)")
ENVIRONMENT_NAME = re.compile(r"\{([^{}\n]{1,100})\}")
COUNT = re.compile(r"\s*\[\s*([0-9])\s*\]")
OPTION = re.compile(r"\s*\[((?:[^\[\]{}]|\{[^{}]{0,50}\}){0,300})\]")
PARAMETERS = re.compile(r"((?:#[1-9]){0,9})")
DOCUMENT_COMMAND = re.compile(r"\s*+\{\s*+(?:(o)|O\s*+\{([^{}]{0,500})\})?((?:\s*+[+!]?m){0,9})\s*+\}")
TARGET = re.compile(r"\s*+=?\s*+\\([A-Za-z@]+)")
USE = re.compile(r"\\(begin|end)\s*\{([^{}\n]{1,100})\}|\\([A-Za-z@]+)\*?|\\.", re.DOTALL)
GAP = re.compile(r"[ \t]*\n?[ \t]*")
BLANK = re.compile(r"[ \t]*(?:\n(?![ \t]*\n))?[ \t]*")
TOKEN = re.compile(r"\\[A-Za-z@]+|#[1-9]|[^\W_]")
ALIAS = re.compile(r"\s*\\([A-Za-z@]+)\s*")
PLACE = re.compile(r"(?<!\\)#([1-9])")
MACRO_NAME = 100  # characters
LAST_MACRO = re.compile(r"\\[A-Za-z@]+\Z")
SPACE = re.compile(r"\\xspace(?![A-Za-z])\s*\Z")


@dataclass(frozen=True, slots=True)
class Definition:
    """`default` is that of an optional first parameter; None without one. `body` begins an environment."""

    parameters: int
    default: str | None
    body: str


@dataclass(frozen=True, slots=True)
class Expanded:
    """`names` are the texts of the macros without parameters, such as `\\thesection`."""

    parts: list[str]
    names: Mapping[str, str]


class _Source:
    """A text, and where its braces end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends: dict[int, int] = {}
        opened: list[int] = []
        for match in re.finditer(r"\\.|[{}]", text, re.DOTALL):
            if match[0] == "{":
                opened.append(match.start())
            elif match[0] == "}" and opened:
                self._ends[opened.pop()] = match.start()

    def argument(self, position: int, *, only_braces: bool = False) -> tuple[int, int, int] | None:
        """Start and end of the argument that follows, and the offset after it; None without one."""
        gap = GAP.match(self.text, position)
        position = gap.end() if gap else position
        if (end := self._ends.get(position)) is not None:
            return position + 1, end, end + 1
        token = None if only_braces else TOKEN.match(self.text, position)
        return (token.start(), token.end(), token.end()) if token else None

    def braces(self, position: int) -> tuple[str, int] | None:
        """The content of the braces that follow, and the offset after them."""
        span = self.argument(position, only_braces=True)
        return (self.text[span[0] : span[1]], span[2]) if span else None


def expanded(parts: list[str]) -> Expanded:
    """The parts of a document with its definitions put in place; every second part is verbatim and stays."""
    collector = _Collector()
    others = [part if number % 2 else collector.without_definitions(part) for number, part in enumerate(parts)]
    if not collector.definitions:
        return Expanded(others, {})
    expander = _Expander(collector.definitions, GROWTH * sum(map(len, others)) + SPARE_GROWTH)
    return Expanded(
        [part if number % 2 else expander.whole(part) for number, part in enumerate(others)], expander.names()
    )


class _Collector:
    """Takes definitions out of texts. The keys of macros are `\\name`, those of environments their names."""

    def __init__(self) -> None:
        self.definitions: dict[str, Definition] = {}
        self._ends: dict[str, Definition] = {}

    def without_definitions(self, text: str) -> str:
        """The text without its definitions, which are collected."""
        source, output, position = _Source(text), [], 0
        while (match := DEFINITION.search(text, position)) is not None:
            output.append(text[position : match.start()])
            end = self._macro(source, match) if match[1] else self._environment(source, match.end())
            if end is None:
                output.append(match[0])
            position = match.end() if end is None else end
        return "".join([*output, text[position:]])

    def _macro(self, source: _Source, match: re.Match[str]) -> int | None:
        name = NAME.match(source.text, match.end())
        if name is None:
            return None
        key, position = name[1] or name[2], name.end()
        if match[1] == "let":
            target = TARGET.match(source.text, position)
            self._add(key, Definition(0, None, f"\\{target[1]}" if target else ""))
            return target.end() if target else None
        count, default, position = _signature(source.text, position, match[1])
        body = source.braces(position)
        if body is None:
            return None
        if match[1] != "providecommand" or f"\\{key}" not in self.definitions:
            self._add(key, Definition(count, default, body[0]))
        return body[1]

    def _add(self, name: str, definition: Definition) -> None:
        if name not in KNOWN_MACROS and len(self.definitions) < MOST_DEFINITIONS:
            self.definitions[f"\\{name}"] = definition

    def _environment(self, source: _Source, position: int) -> int | None:
        name = ENVIRONMENT_NAME.match(source.text, position)
        if name is None:
            return None
        count, default, position = _signature(source.text, name.end(), "newcommand")
        begin = source.braces(position)
        end = source.braces(begin[1]) if begin else None
        if begin is None or end is None:
            return None
        if name[1].rstrip("*") not in KNOWN_ENVIRONMENTS and len(self.definitions) < MOST_DEFINITIONS:
            self.definitions[f"begin {name[1]}"] = Definition(count, default, begin[0])
            self.definitions[f"end {name[1]}"] = Definition(0, None, end[0])
        return end[1]


def _signature(text: str, position: int, command: str) -> tuple[int, str | None, int]:
    """Number of parameters, default of the first one, and the offset after both."""
    if command == "def":
        match = PARAMETERS.match(text, position)
        return (len(match[1]) // 2, None, match.end()) if match else (0, None, position)
    if command == "NewDocumentCommand":
        match = DOCUMENT_COMMAND.match(text, position)
        if match is None:
            return 0, None, position
        default = "" if match[1] else match[2]
        return match[3].count("m") + (default is not None), default, match.end()
    count = COUNT.match(text, position)
    if count is None:
        return 0, None, position
    default_match = OPTION.match(text, count.end())
    if default_match is None:
        return int(count[1]), None, count.end()
    return int(count[1]), default_match[1], default_match.end()


class _Expander:
    """Fills templates; `_left` are the characters that uses may still add."""

    def __init__(self, definitions: Mapping[str, Definition], most: int) -> None:
        self._definitions = definitions
        self._templates: dict[str, str | None] = {}
        self._opened: set[str] = set()
        self._depth = 0
        self._left = most

    def whole(self, text: str) -> str:
        """A text with its definitions put in place."""
        return self._expanded(_Source(text), 0, len(text))

    def names(self) -> dict[str, str]:
        """The texts of the macros without parameters."""
        keys = [key for key, definition in self._definitions.items() if key[0] == "\\" and not definition.parameters]
        return {key[1:]: template for key in keys if (template := self._template(key)) is not None}

    def _expanded(self, source: _Source, start: int, end: int) -> str:
        if self._depth >= DEEPEST or self._left < 0:
            return source.text[start:end]
        self._depth += 1
        output, position = [], start
        while (match := USE.search(source.text, position, end)) is not None:
            output.append(source.text[position : match.start()])
            key = f"\\{match[3]}" if match[3] else f"{match[1]} {match[2]}" if match[1] else ""
            filled = self._filled(source, key, match.end(), end) if self._alias(key) in self._definitions else None
            output.append(match[0] if filled is None else filled[0])
            position = match.end() if filled is None else filled[1]
        self._depth -= 1
        return "".join([*output, source.text[position:end]])

    def _alias(self, key: str) -> str:
        """The macro that a key is only another name for, else the key."""
        for _ in range(DEEPEST):
            definition = self._definitions.get(key)
            other = (
                ALIAS.fullmatch(definition.body)
                if definition and not definition.parameters and key[0] == "\\"
                else None
            )
            if other is None or f"\\{other[1]}" not in self._definitions:
                break
            key = f"\\{other[1]}"
        return key

    def _filled(self, source: _Source, key: str, position: int, end: int) -> tuple[str, int] | None:
        """The text for a use, and the offset after it; None if nothing can be put in its place."""
        if self._left < 0:
            return None
        key = self._alias(key)
        definition, template = self._definitions[key], self._template(key)
        if template is None:
            return None
        values: list[str] = []
        if definition.default is not None:
            option = OPTION.match(source.text, position, end)
            values.append(option[1] if option else definition.default)
            position = option.end() if option else position
        spans: list[tuple[int, int]] = []
        while len(values) + len(spans) < definition.parameters:
            argument = source.argument(position)
            if argument is None or argument[2] > end:
                return None
            spans.append(argument[:2])
            position = argument[2]
        values += [self._expanded(source, *span) for span in spans]
        places = [int(place) - 1 for place in PLACE.findall(template)]
        length = len(template) + sum(len(values[place]) for place in places if place < len(values))
        if length > self._left:
            self._left = -1
            return None
        self._left -= length
        space = SPACE.search(template)
        if (
            key[0] == "\\"
            and not definition.parameters
            and not space
            and (blank := BLANK.match(source.text, position, end))
        ):
            position = blank.end()
        text = PLACE.sub(lambda place: "".join(values[int(place[1]) - 1 :][:1]), SPACE.sub("", template))
        if last := LAST_MACRO.search(text[-MACRO_NAME:]):  # a blank after an argument is printed, one after a macro not
            text = f"{text}{{}}" if definition.parameters and last[0][1:] in SIGNS else f"{text} "
        return (f"\n\n{text}" if key.startswith("begin") else text), position

    def _template(self, key: str) -> str | None:
        """The expanded text of a definition; None if it leads back to itself or is too long."""
        if key in self._opened:
            return None
        if key not in self._templates:
            self._opened.add(key)
            body = self._definitions[key].body
            text = self._expanded(_Source(body), 0, len(body)) if len(body) <= LONGEST_TEMPLATE else body
            self._opened.discard(key)
            self._templates[key] = text if len(text) <= LONGEST_TEMPLATE else None
        return self._templates[key]
