"""The entities of a DocBook file, put in place before its XML is parsed: the parser sees none of them.

Only texts that the file itself defines are used, within bounds. No other file is read.
"""

from __future__ import annotations

import html
import re
from html.entities import html5, name2codepoint
from xml.sax.saxutils import escape, quoteattr

MOST_EXPANDED = 500_000
"""Characters of all texts that are put in place; names take the place of further ones."""
LONGEST_TEXT = 20_000
DEEPEST = 5  # entities inside entities
HEAD = re.compile(r"\s*+(?:<\?|<!--|<!DOCTYPE)")
ENDS = {"<?": "?>", "<!--": "-->", "<![CDATA[": "]]>", '"': '"', "'": "'"}
IN_DOCTYPE = re.compile(r"<!--|<\?|[\"'\[\]>]")
DEFINITION = re.compile(r"<!ENTITY\s++([^\s%\"'<>&;]++)\s++(?:\"([^\"]*+)\"|'([^']*+)'|(SYSTEM|PUBLIC)\b)")
REFERENCE = re.compile(r"&([A-Za-z_:][\w:.-]*+);")
IN_TEXT = re.compile(r"<!--|<!\[CDATA\[|<\?|<(?=[^\s<>!?])[^<>]*+>|&[A-Za-z_:][\w:.-]*+;")
OF_XML = frozenset({"amp", "lt", "gt", "quot", "apos"})
LAST_LETTER = "\u0530"
"""Letters before it are Latin, Greek or Cyrillic; above are the letters of formulas."""


def without_entities(source: str) -> str:
    """The document without its head (XML declaration, DOCTYPE) and with the texts of its entities.

    An entity that is another file is left out; one that is defined elsewhere is shown by its name. Lines keep their
    numbers.
    """
    definitions, start = _head(source)
    return "\n" * source.count("\n", 0, start) + _Expansion(definitions).text(source, start)


def _head(source: str) -> tuple[dict[str, str], int]:
    """The entities that the document defines, and the offset of its first element."""
    definitions: dict[str, str] = {}
    position = 0
    while match := HEAD.match(source, position):
        sign = match[0].lstrip()
        if sign == "<!DOCTYPE":
            subset, end = _document_type(source, match.end())
            for name, *texts, external in DEFINITION.findall(subset):
                definitions.setdefault(name, "" if external else "".join(texts)[:LONGEST_TEXT])
        else:
            end = _end(source, sign, match.end())
        if end < 0:
            break
        position = end
    return definitions, position


def _document_type(source: str, start: int) -> tuple[str, int]:
    """What a DOCTYPE says without comments, and the offset after it; -1 if it does not end."""
    parts: list[str] = []
    position, is_inside = start, False
    while match := IN_DOCTYPE.search(source, position):
        sign, end = match[0], match.end()
        if sign in ENDS:
            end = _end(source, sign, end)
            if end < 0:
                break
        parts.append(source[position : end if sign in "\"'" else match.start()])
        if sign == ">" and not is_inside:
            return "".join(parts), end
        if sign in "[]":
            is_inside = sign == "["
        elif sign == ">":
            parts.append(sign)
        position = end
    return "", -1


def _end(source: str, sign: str, start: int) -> int:
    """The offset after what begins with the sign; -1 if it does not end."""
    end = source.find(ENDS[sign], start)
    return end + len(ENDS[sign]) if end >= 0 else -1


class _Expansion:
    """Puts texts in place of references, and counts their characters."""

    def __init__(self, definitions: dict[str, str]) -> None:
        self._definitions = definitions
        self._left = MOST_EXPANDED

    def text(self, source: str, position: int, depth: int = 0) -> str:
        """XML from an offset on; comments, CDATA and processing instructions are unchanged."""
        output: list[str] = []
        while match := IN_TEXT.search(source, position):
            output.append(source[position : match.start()])
            sign, position = match[0], match.end()
            if sign in ENDS:
                position = _end(source, sign, position)
                if position < 0:
                    position = match.start()
                    break
                output.append(source[match.start() : position])
            elif sign[0] == "<":
                output.append(REFERENCE.sub(self._in_tag, sign) if "&" in sign else sign)
            else:
                output.append(self._value(sign[1:-1], depth))
        return "".join([*output, source[position:]])

    def _value(self, name: str, depth: int) -> str:
        """The XML in place of a reference."""
        if name in OF_XML:
            return f"&{name};"
        text = self._definitions.get(name)
        if text is None:
            return escape(_character(name) or name)
        self._left -= len(text) + 1
        return self.text(text, 0, depth + 1) if depth < DEEPEST and self._left > 0 else escape(name)

    def _in_tag(self, match: re.Match[str]) -> str:
        """The same in a tag, whose attributes have no markup."""
        if match[1] in OF_XML:
            return match[0]
        return quoteattr(html.unescape(self._value(match[1], DEEPEST - 1)), {"'": "&apos;", '"': "&quot;"})[1:-1]


def _character(name: str) -> str:
    """The sign of a name of ISO, as in `&mdash;`; "" for others, since `&Tab;` is a key in manuals."""
    if name in name2codepoint:
        return chr(name2codepoint[name])
    sign = html5.get(f"{name};", "")
    is_plain = len(sign) == 1 and sign.isprintable() and (sign < "\x7f" or (sign.isalpha() and sign < LAST_LETTER))
    return sign if is_plain else ""
