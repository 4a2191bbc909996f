"""Control words, groups and characters of RTF; characters decoded by the document's and its fonts' code pages.

Source: Rich Text Format Specification, version 1.9.1.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<byte>[0-9a-fA-F]{2})|\\(?P<sign>[^a-zA-Z'])"
    r"|(?P<brace>[{}])|[\r\n\0]+|(?P<text>[^\\{}\r\n\0]+)|.",
    re.DOTALL,
)
CHARSETS = {
    0: "cp1252",
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gbk",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}
"""`\\fcharsetN` → codec."""


class Token(NamedTuple):
    """A group's brace, a control word with its number, or text as its bytes; the others are empty."""

    brace: str = ""
    word: str = ""
    number: int | None = None
    data: bytes = b""


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a file that was decoded as Latin-1; neighbouring bytes are one token."""
    data = b""
    end = len(text)
    position = 0
    while position < end:
        match = TOKEN.match(text, position)
        if match is None:
            break
        position = match.end()
        if match["byte"]:
            data += bytes([int(match["byte"], 16)])
            continue
        if match["text"]:
            data += match["text"].encode("latin-1")
            continue
        if data:
            yield Token(data=data)
            data = b""
        number = int(match["number"]) if match["number"] else None
        if match["brace"]:
            yield Token(brace=match["brace"])
        elif match["word"] == "bin":  # raw bytes follow
            position += max(0, number or 0)
        elif match["word"] or match["sign"]:
            yield Token(word=match["word"] or match["sign"], number=number)
    if data:
        yield Token(data=data)


def codec_of(page: int) -> str:
    """The codec of a code page, Windows-1252 if it is unknown."""
    name = {10000: "mac_roman", 65001: "utf-8", 936: "gbk"}.get(page, f"cp{page}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name
