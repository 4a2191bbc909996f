"""Inline markup of AsciiDoc as HTML: emphasis, links, cross references, footnotes, attributes."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from functools import partial

ATTRIBUTE = re.compile(r"\\?\{([\w-]+)\}")
LINK = re.compile(r"(?:link:(\S{1,2000}?)|((?:https?://|mailto:)[^\s\[\]<>]{1,2000}))\[([^\[\]]{0,1000})\]")
"""Addresses are bounded: without a bound the time grows with the square of the length of `mailto:mailto:…`."""
REFERENCE = re.compile(r"&lt;&lt;([^,<>&\n]+)(?:,\s*([^<>&]{0,1000}))?&gt;&gt;|xref:(\S{1,2000}?)\[([^\[\]]{0,1000})\]")
FOOTNOTE = re.compile(r"footnote(?:ref)?:[\w-]*\[([^\[\]]{1,2000})\]")
IMAGE = re.compile(r"(?:image|icon):([^\s:\[\]]+)\[([^\[\]\n]*)\]")
ALTERNATIVE = re.compile(r"(?:^|[,\s])alt=(?:\"([^\"]*)\"|([^,\s\"]+))")
POSITIONAL = re.compile(r"\s*(?![a-z][\w-]*=)(?:\"([^\"]+)\"|([^,\"]+))")
KEYS = re.compile(r"(?:kbd|btn):\[([^\[\]\n]+)\]")
MENU = re.compile(r"menu:([^\[\]\n]+?)\[([^\[\]\n]*)\]")
PASS = re.compile(r"(?:pass:\w*|stem:|latexmath:|asciimath:)\[([^\[\]\n]*)\]")
ENTRY = re.compile(r"\[\[\[([^\[\],\n]+)(?:,\s*([^\[\]\n]+))?\]\]\]")
"""The mark of an entry of a bibliography."""
ANCHOR = re.compile(r"\[\[[^\[\]\n]*\]\]|anchor:\S+?\[\]|\(\(\([^()\n]*\)\)\)")
INDEXED = re.compile(r"\(\(([^()\n]{1,300})\)\)")
"""A term of the index that is shown, too."""
MANUAL_PAGE = re.compile(r"\b(?:linkgit|man):([\w.-]{1,200})\[(\w{1,9})\]")
ROLE = re.compile(r"(?<![\w`])\[[.\w%# -]*\](?=[#*_`])")
CHARACTER = re.compile(r"&amp;(#\d{2,7}|#[xX][\da-fA-F]{2,6}|[a-zA-Z]\w{1,30});")
QUOTATIONS = (
    (re.compile(r"``(?=\S)([^`'\n]+)''|\"`(?=\S)((?:[^`]|`(?!\")){1,1000})`\""), r"“\1\2”"),
    (re.compile(r"(?<![\w`])'`(?=\S)((?:[^`]|`(?!')){1,1000})`'(?!\w)"), r"‘\1’"),
)
APOSTROPHE = re.compile(r"(?<=\w)`'(?![`'])")
SPANS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(?<![\w*])\*\*?(?=\S)([^*]+?)(?<=\S)\*\*?(?![\w*])", r"<b>\1</b>"),
        (r"(?<![\w_])__?(?=\S)((?:[^_]|(?<=[^\W_])_(?=[^\W_]))+?)(?<=\S)__?(?![\w_])", r"<i>\1</i>"),
        (r"(?<![\w#&])##?(?=\S)([^#]+?)(?<=\S)##?(?!\w)", r"\1"),
        (r"\^(\S+?)\^", r"<sup>\1</sup>"),
        (r"~(\S+?)~", r"\1"),
    )
)
EMPHASES = SPANS[:2]
SUBSTITUTIONS = re.compile(r"\bsubs=(\"[^\"]*\"|[\w+-]+)")
CONTROL = re.compile(r"[\x02\x03]")
RESERVED = re.compile(r"\x02(\d+)\x03")
CODE = re.compile(
    r"(?<!\w)``?\+(?=\S)([^`\n]+?)\+``?(?!\w)|(?<!\w)``?(?=\S)([^`\n]+?)``?(?!\w)"
    r"|(?<![\w+])\+(?=\S)([^+\n]+?)(?<=\S)\+(?![\w+])"
)
"""Between backticks with `+` inside both of them, between backticks, or between `+`."""
KEPT_SIGN = re.compile(r"\\(?=\((?:C|R|TM)\))")
"""The backslash before what would be the sign ©, ® or ™."""


def inline(text: str, attributes: Mapping[str, str]) -> str:
    """A line or a paragraph as HTML; attributes that are not defined stay."""
    text = ATTRIBUTE.sub(partial(_value, attributes), CONTROL.sub("", text))
    text = CHARACTER.sub(r"&\1;", html.escape(text, quote=False))
    text = ENTRY.sub(lambda match: f"[{match[2] or match[1]}]", text)
    text = ROLE.sub("", ANCHOR.sub("", text))
    for pattern, replacement in QUOTATIONS:
        text = pattern.sub(replacement, text)
    codes: list[str] = []
    return RESERVED.sub(lambda match: codes[int(match[1])], _formatted(CODE.sub(partial(_reserve, codes), text)))


def substituted(code: str, options: str, attributes: Mapping[str, str]) -> str:
    """Code with the attributes in place and without the marks of emphasis, as far as `subs` among its options says."""
    names = SUBSTITUTIONS.search(options)
    if names is None:
        return code
    if "attributes" in names[1] or "normal" in names[1]:
        code = ATTRIBUTE.sub(partial(_value, attributes), code)
    if "quotes" in names[1] or "normal" in names[1]:
        for pattern, _ in EMPHASES:
            code = pattern.sub(r"\1", code)
    return code


def _value(attributes: Mapping[str, str], match: re.Match[str]) -> str:
    """The value of an attribute; a reference that is escaped or not known stays."""
    return match[0][1:] if match[0][0] == "\\" else attributes.get(match[1].lower(), match[0])


def _reserve(codes: list[str], match: re.Match[str]) -> str:
    """A sign for a piece of code, of which no other rule changes anything."""
    codes.append(f"<code>{match[1] or match[2] or match[3]}</code>")
    return f"\x02{len(codes) - 1}\x03"


def _formatted(text: str) -> str:
    text = INDEXED.sub(r"\1", APOSTROPHE.sub("’", text))
    for pattern, replacement in SPANS:
        text = pattern.sub(replacement, text)
    text = PASS.sub(r"\1", KEPT_SIGN.sub("", text))
    text = IMAGE.sub(lambda match: alternative(match[2]), text)
    text = FOOTNOTE.sub(r" (\1)", text)
    text = KEYS.sub(r"\1", text)
    text = MENU.sub(lambda match: " > ".join(filter(None, [match[1], *re.split(r"\s*&gt;\s*", match[2])])), text)
    text = MANUAL_PAGE.sub(r"\1(\2)", LINK.sub(_link, text))
    text = REFERENCE.sub(lambda match: match[2] or match[4] or _name(match[1] or match[3]), text)
    return re.sub(r" \+(?=\n|$)", "<br>", text)


def alternative(attributes: str) -> str:
    """The alternative text among the attributes of an image: the one named `alt`, or the first if that has no name."""
    if named := ALTERNATIVE.search(attributes):
        return named[1] or named[2]
    first = POSITIONAL.match(attributes)
    return (first[1] or first[2]).strip() if first else ""


def _link(match: re.Match[str]) -> str:
    address = match[1] or match[2]
    label = match[3].partition(",")[0].strip('"^') or address.removeprefix("mailto:")
    return f'<a href="{address.replace(chr(34), "%22")}">{label}</a>'


def _name(target: str) -> str:
    """A readable name of a target: `opening-hours` → `opening hours`."""
    return target.rpartition("#")[2].strip("_").removesuffix(".adoc").replace("_", " ").replace("-", " ")
