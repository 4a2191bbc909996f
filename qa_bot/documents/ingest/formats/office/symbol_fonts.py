"""Signs of the fonts Symbol and Wingdings, whose characters have the codes of letters or of the private area.

Source of Symbol: Adobe's table "Symbol Encoding to Unicode"; of Wingdings: the Unicode document L2/12-368.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

PRIVATE = 0xF000  # added to the codes of a font with signs
FONT = re.compile(r"[\s'\"]*(symbol(?=(?:mt|ps)?\b)|(?:webdings|wingdings(?: [23])?)\b)", re.IGNORECASE)

SYMBOL = {
    0x20: " !∀#∃%&∋()∗+,−./0123456789:;<=>?",
    0x40: "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_",
    0x60: "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    0xA0: "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵",
    0xC0: "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓",
    0xE0: "◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪",
    0xF1: "⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
}
WINGDINGS = {
    0x20: " ✏✂✁",
    0x28: "☎✆✉",
    0x36: "⌛⌨",
    0x3E: "✇✍",
    0x41: "✌👌👍👎☜☞☝☟✋☺😐☹💣☠",
    0x51: "✈☼💧❄",
    0x6C: "●❍■☐",
    0x71: "❑❒⬧⧫◆❖⬥⌧",
    0x7B: "❀✿❝❞",
    0x80: "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿",
    0x9E: "·•",
    0xA1: "○",
    0xA4: "◉◎",
    0xA7: "▪☐",
    0xAA: "✦★✶",
    0xD8: "➢",
    0xDC: "➲",
    0xDF: "←→↑↓↖↗↙↘←➔↑↓↖↗↙↘⇦⇨⇧⇩⬄⇳",
    0xFB: "✗✓☒☑",
}
WINGDINGS_2 = {0x20: " ", 0x4F: "✗✓☒☑☒☒", 0xA3: "☐"}
WINGDINGS_3 = {0x20: " ←→↑↓↖↗↙↘", 0x7D: "▶"}
WEBDINGS = {0x20: " ", 0x61: "✓", 0x72: "✗"}
"""First code → the signs of it and of the next ones."""


def _signs(parts: Mapping[int, str]) -> dict[int, str]:
    return {first + place: sign for first, signs in parts.items() for place, sign in enumerate(signs)}


def _private(signs: Mapping[int, str]) -> dict[int, str]:
    """The same for codes of the private area, where a sign that is not in the table is left out."""
    return {PRIVATE + code: signs.get(code, "") for code in range(0x100)}


_FONTS = {
    "symbol": _signs(SYMBOL),
    "wingdings": _signs(WINGDINGS),
    "wingdings 2": _signs(WINGDINGS_2),
    "wingdings 3": _signs(WINGDINGS_3),
    "webdings": _signs(WEBDINGS),
}
_PRIVATE_SIGNS = {name: _private(signs) for name, signs in _FONTS.items()}
_ALL_SIGNS = {
    name: {**dict.fromkeys(range(0x21, 0x100), ""), **signs, ord("\u00a0"): " "} for name, signs in _FONTS.items()
}
_USUAL = {code: _FONTS["wingdings"][code] for code in b"o\xa7\xa8\xd8\xdf\xe0\xfb\xfc\xfd\xfe"}
_UNNAMED = _private({**_FONTS["symbol"], **_USUAL, 0x52: "☑"})
"""For other fonts: boxes, ticks and arrows of Wingdings, else the signs of Symbol."""


def is_symbol_font(font: str) -> bool:
    """Whether the letters of a font are signs."""
    return FONT.match(font) is not None


def symbols(text: str, font: str = "", *, private_font: str = "") -> str:
    """A text as its font shows it.

    Args:
        font: its name; of one without signs only codes of the private area are replaced.
        private_font: the name of the font for codes of the private area alone.
    """
    if match := FONT.match(font):
        name = match[1].lower()
        text = text.translate(_ALL_SIGNS[name]).translate(_PRIVATE_SIGNS[name])
    elif not text.isascii():
        match = FONT.match(private_font)
        text = text.translate(_PRIVATE_SIGNS[match[1].lower()] if match else _UNNAMED)
    return text


def symbol(code: str, font: str) -> str:
    """The sign with a hexadecimal code in a font; "" for one that is not known."""
    try:
        sign = chr(int(code, 16))
    except (ValueError, OverflowError):
        return ""
    sign = symbols(sign, font)
    return sign if sign.isprintable() else ""
