"""Numbers and units of the package siunitx, amounts in euros, and short formulas that hold nothing else, as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.entities import html5
from itertools import pairwise

PREFIXES = {
    "kilo": "k", "mega": "M", "giga": "G", "tera": "T", "hecto": "h", "deca": "da", "deka": "da", "deci": "d",
    "centi": "c", "milli": "m", "micro": "µ", "nano": "n", "pico": "p", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi",
    "tebi": "Ti",
}  # fmt: skip
UNITS = {
    "metre": "m", "meter": "m", "gram": "g", "kilogram": "kg", "second": "s", "ampere": "A", "kelvin": "K",
    "mole": "mol", "candela": "cd", "hertz": "Hz", "newton": "N", "pascal": "Pa", "joule": "J", "watt": "W",
    "coulomb": "C", "volt": "V", "farad": "F", "ohm": "Ω", "siemens": "S", "weber": "Wb", "tesla": "T", "henry": "H",
    "lumen": "lm", "lux": "lx", "becquerel": "Bq", "gray": "Gy", "sievert": "Sv", "celsius": "°C",
    "degreeCelsius": "°C", "degree": "°", "arcminute": "′", "arcsecond": "″", "percent": "%", "litre": "l",
    "liter": "l", "minute": "min", "hour": "h", "day": "d", "hectare": "ha", "tonne": "t", "electronvolt": "eV",
    "decibel": "dB", "byte": "B", "dalton": "Da", "um": "µm", "ug": "µg", "us": "µs", "degC": "°C",
}  # fmt: skip
"""Macro → sign; another macro is shown by its name, such as `\\km`."""
POWERS = {"square": "²", "squared": "²", "cubic": "³", "cubed": "³"}
BEFORE_UNIT = {"square", "cubic"}
SUPERSCRIPTS = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
ARGUMENTS = {
    **dict.fromkeys(("num", "si", "unit", "ang", "numlist", "EUR"), 1),
    **dict.fromkeys(("SI", "qty", "numrange", "SIlist", "qtylist"), 2),
    **dict.fromkeys(("SIrange", "qtyrange"), 3),
}
"""Macro → number of its arguments."""
HAS_UNIT = {"SI", "qty", "SIlist", "qtylist", "SIrange", "qtyrange"}
UNIT_PART = re.compile(r"\\(?:tothe|raiseto)\s*\{(-?\d{1,2})\}|\\([A-Za-z]+)|([^\\{}\s])")
POWER_OF_TEN = re.compile(r"(?<=\d)[eEdD]([+-]?\d{1,3})")
MACRO = re.compile(r"\\[A-Za-z]+|[\\{}]")
GROUPED_SIGN = re.compile(r"\{([,.])\}")
THIN_SPACE = re.compile(r"(?:\\[,;: ]|~)\s*")
DEGREE = re.compile(r"\^\s*(?:\{\\circ\}|\\circ(?![A-Za-z]))")
LABEL = re.compile(r"\s*\\label\s*\{[^{}]*\}")
LONE_MACRO = re.compile(r"\\([A-Za-z]+)")
SIGNS = {"to": "→", "infty": "∞", "circ": "∘"}
"""Those that HTML calls otherwise."""
NUMBER_WITH_UNIT = re.compile(
    r"([^\\^_{}A-Za-z]{1,40}?)(?:\\(?:mathrm|text|textrm|mathsf)\s*\{([^\\^_{}]{1,20})\})?(?<=.)(°?)"
)


def quantity(name: str, arguments: Sequence[str]) -> str:
    """What a macro of siunitx or eurosym shows."""
    if name in {"si", "unit"}:
        return _unit(arguments[0])
    if name == "EUR":  # with marvosym it has no argument
        return f"{_number(arguments[0])} €".strip()
    if name == "ang":
        parts = zip(arguments[0].split(";"), "°′″", strict=False)
        return "".join(f"{_number(part)}{sign}" for part, sign in parts if part.strip())
    *numbers, unit = arguments if name in HAS_UNIT else [*arguments, ""]
    is_list = name.endswith("list")
    shown = (", " if is_list else "–").join(map(_number, numbers[0].split(";") if is_list else numbers))
    sign = _unit(unit)
    return f"{shown}{'' if sign[:1] in {'′', '″'} or sign == '°' else ' '}{sign}".strip()


def _number(text: str) -> str:
    text = GROUPED_SIGN.sub(r"\1", text).replace("\\pm", "±").replace("+-", "±")
    text = POWER_OF_TEN.sub(lambda match: f"·10{match[1].lstrip('+').translate(SUPERSCRIPTS)}", text)
    return " ".join(MACRO.sub(" ", text).split())


def _unit(text: str) -> str:
    """The sign of a unit: `\\kilo\\gram\\per\\cubic\\metre` → kg/m³."""
    parts: list[str] = []
    before, power = "", ""
    for tothe, name, sign in UNIT_PART.findall(text):
        if tothe or (name in POWERS and name not in BEFORE_UNIT):
            parts[-1:] = [f"{part}{tothe.translate(SUPERSCRIPTS) or POWERS[name]}" for part in parts[-1:]]
        elif name in BEFORE_UNIT:
            power = POWERS[name]
        elif name == "per":
            before = "/"
        elif name in PREFIXES:
            before += PREFIXES[name]
        else:
            shown = {".": "·", "~": "·"}.get(sign, sign) if sign else UNITS.get(name, name)
            parts.append(f"{before}{shown}{power}")
            before, power = "", ""
    joined = parts[:1]
    for left, right in pairwise(parts):
        is_product = right[0].isalpha() and left[-1:].isalpha() and "\\" in text and right != "h"
        joined.append(f"·{right}" if is_product else right)
    return "".join(joined)


def formula(source: str) -> tuple[str, bool]:
    """A formula without its label, and whether it is plain text: a sign, or numbers with or without a unit."""
    source = GROUPED_SIGN.sub(r"\1", LABEL.sub("", source)).strip()
    if (sign := LONE_MACRO.fullmatch(source)) and (shown := SIGNS.get(sign[1], html5.get(f"{sign[1]};"))):
        return shown, True
    match = NUMBER_WITH_UNIT.fullmatch(THIN_SPACE.sub(" ", DEGREE.sub("°", source)).replace("\\%", "%"))
    return (" ".join("".join(filter(None, match.groups())).split()), True) if match else (source, False)
