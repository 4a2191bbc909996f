"""Lines of calendars and contacts: `NAME;PARAMETER=VALUE:value`, folded, with escapes (RFC 5545 and 6350)."""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

LINE = re.compile(
    r"(?:(?P<group>[\w-]+)\.)?(?P<name>[\w-]+)(?P<parameters>(?:;(?:\"[^\"]*\"|[^\":;])*)*):(?P<value>.*)", re.DOTALL
)
PARAMETER = re.compile(r";([\w-]+)(?:=(\"[^\"]*\"|[^\";]*))?")
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
SOFT_BREAKS = re.compile(r"^[^\n]*QUOTED-PRINTABLE[^\n]*(?:(?<==)\n[^\n]*)*", re.IGNORECASE | re.MULTILINE)
SEPARATOR = re.compile(r"(?<!\\);")
ANY_SEPARATOR = re.compile(r"(?<!\\)[;,]")


class ContentLine(NamedTuple):
    """A property in capitals, its parameters, its value with escapes, and the group of lines to which it belongs."""

    name: str
    parameters: Mapping[str, str]
    value: str
    group: str = ""

    @property
    def text(self) -> str:
        """The value without escapes; its parts, as of an address, are divided by commas."""
        parts = (unescaped(part) for part in SEPARATOR.split(self.value))
        return ", ".join(part for part in parts if part)

    @property
    def texts(self) -> list[str]:
        """The texts of a value that is a list."""
        return [text for part in ANY_SEPARATOR.split(self.value) if (text := unescaped(part))]

    @property
    def types(self) -> str:
        """What kind of number or address it is: "work", "home, cell"."""
        kinds = re.split(r"[,\s]+", self.parameters.get("TYPE", "").lower())
        return ", ".join(kind for kind in kinds if kind not in {"", "internet", "pref", "voice", "x400"})


def content_lines(source: str) -> Iterator[ContentLine]:
    """The properties of a text; lines of another shape are left out."""
    text = SOFT_BREAKS.sub(lambda match: match[0].replace("=\n", ""), source.replace("\r\n", "\n"))
    for line in re.sub(r"\n[ \t]", "", text).split("\n"):
        if match := LINE.fullmatch(line.strip()):
            parameters = {name.upper(): value.strip('"') for name, value in PARAMETER.findall(match["parameters"])}
            value = _decoded(match["value"], parameters)
            yield ContentLine(match["name"].upper(), _typed(parameters), value, match["group"] or "")


def unescaped(value: str) -> str:
    """The text of a value: `\\,` is a comma, `\\n` a new line."""
    return ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value).strip()


def _typed(parameters: Mapping[str, str]) -> dict[str, str]:
    """Version 2.1 of contacts names types without `TYPE=`."""
    bare = ",".join(name for name, value in parameters.items() if not value)
    return {"TYPE": bare, **parameters} if bare else dict(parameters)


def _decoded(value: str, parameters: Mapping[str, str]) -> str:
    if parameters.get("ENCODING", "").upper() != "QUOTED-PRINTABLE" and "QUOTED-PRINTABLE" not in parameters:
        return value
    data = quopri.decodestring(value.encode("utf-8", "surrogateescape"))
    try:
        return data.decode(parameters.get("CHARSET") or "utf-8")
    except (LookupError, UnicodeError):
        return data.decode("cp1252", "replace")
