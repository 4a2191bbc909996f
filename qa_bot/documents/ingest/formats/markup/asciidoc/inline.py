"""Inline markup of AsciiDoc as HTML: emphasis, links, cross references, footnotes, attributes."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

ATTRIBUTE = re.compile(r"\{([\w-]+)\}")
LINK = re.compile(r"(?:link:(\S{1,2000}?)|((?:https?://|mailto:)[^\s\[\]<>]{1,2000}))\[([^\[\]\n]*)\]")
"""Addresses are bounded: without a bound the time grows with the square of the length of `mailto:mailto:…`."""
REFERENCE = re.compile(r"&lt;&lt;([^,<>&\n]+)(?:,\s*([^<>&\n]*))?&gt;&gt;|xref:(\S+?)\[([^\[\]\n]*)\]")
FOOTNOTE = re.compile(r"footnote(?:ref)?:[\w-]*\[([^\[\]\n]+)\]")
IMAGE = re.compile(r"(?:image|icon):([^\s:\[\]]+)\[([^\[\]\n]*)\]")
KEYS = re.compile(r"(?:kbd|btn):\[([^\[\]\n]+)\]")
MENU = re.compile(r"menu:([^\[\]\n]+?)\[([^\[\]\n]*)\]")
PASS = re.compile(r"(?:pass:\w*|stem:|latexmath:|asciimath:)\[([^\[\]\n]*)\]")
ANCHOR = re.compile(r"\[\[[^\[\]\n]*\]\]|anchor:\S+?\[\]|\(\(\([^()\n]*\)\)\)")
ROLE = re.compile(r"\[[.\w%# -]*\](?=[#*_`])")
SPANS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(?<![\w*])\*\*?(?=\S)([^*\n]+?)(?<=\S)\*\*?(?![\w*])", r"<b>\1</b>"),
        (r"(?<![\w_])__?(?=\S)([^_\n]+?)(?<=\S)__?(?![\w_])", r"<i>\1</i>"),
        (r"(?<![\w#&])##?(?=\S)([^#\n]+?)(?<=\S)##?(?!\w)", r"\1"),
        (r"\^(\S+?)\^", r"<sup>\1</sup>"),
        (r"~(\S+?)~", r"\1"),
    )
)
CODE = re.compile(r"(?<!\w)``?\+?(?=\S)([^`\n]+?)\+?``?(?!\w)|(?<![\w+])\+(?=\S)([^+\n]+?)(?<=\S)\+(?![\w+])")


def inline(text: str, attributes: Mapping[str, str]) -> str:
    """A line or a paragraph as HTML; attributes that are not defined stay."""
    text = ATTRIBUTE.sub(lambda match: attributes.get(match[1].lower(), match[0]), text)
    text = ROLE.sub("", ANCHOR.sub("", html.escape(text, quote=False)))
    pieces: list[str] = []
    end = 0
    for match in CODE.finditer(text):
        pieces += [_formatted(text[end : match.start()]), f"<code>{match[1] or match[2]}</code>"]
        end = match.end()
    return "".join([*pieces, _formatted(text[end:])])


def _formatted(text: str) -> str:
    for pattern, replacement in SPANS:
        text = pattern.sub(replacement, text)
    text = PASS.sub(r"\1", text)
    text = IMAGE.sub(lambda match: match[2].partition(",")[0].strip('"'), text)
    text = FOOTNOTE.sub(r" (\1)", text)
    text = KEYS.sub(r"\1", text)
    text = MENU.sub(lambda match: " > ".join(filter(None, [match[1], *re.split(r"\s*&gt;\s*", match[2])])), text)
    text = LINK.sub(_link, text)
    text = REFERENCE.sub(lambda match: match[2] or match[4] or _name(match[1] or match[3]), text)
    return re.sub(r" \+(?=\n|$)", "<br>", text)


def _link(match: re.Match[str]) -> str:
    address = match[1] or match[2]
    label = match[3].partition(",")[0].strip('"^') or address.removeprefix("mailto:")
    return f'<a href="{address.replace(chr(34), "%22")}">{label}</a>'


def _name(target: str) -> str:
    """A readable name of a target: `opening-hours` → `opening hours`."""
    return target.rpartition("#")[2].strip("_").removesuffix(".adoc").replace("_", " ").replace("-", " ")
