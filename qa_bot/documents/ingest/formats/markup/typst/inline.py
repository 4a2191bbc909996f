"""Inline markup of Typst as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

PIECE = re.compile(r"\x02(\d+)\x03")
CONTROL = re.compile(r"[\x02-\x06]")
RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\x05[^\x05\x06]*\x06", ""),
        (r"(?<!\S)&lt;[A-Za-z][\w:.-]{0,100}&gt;(?!\w)|(?<=\S)[ ]?&lt;[A-Za-z][\w:.-]{0,100}&gt;\s*\Z", ""),
        (r"(?<![\w*])\*(?=[^\s*])([^*]{1,2000})(?<=\S)\*(?![\w*])", r"<b>\1</b>"),
        (r"(?<![\w_])_(?=[^\s_])([^_]{1,2000})(?<=\S)_(?![\w_])", r"<i>\1</i>"),
        (r"\\(?=\s|$)", "<br>"),
        (r"(?<!-)---(?!-)", "—"),
        (r"(?<!-)--(?!-)", "–"),
        (r"\.\.\.", "…"),
        (r"-\?", ""),
        (r"~", " "),
    )
)


def inline(text: str, pieces: Sequence[str]) -> str:
    """A line or paragraph as HTML, with the pieces that are HTML in their places."""
    text = html.escape(text, quote=False)
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return PIECE.sub(lambda match: pieces[int(match[1])], text)
