"""Formulas as text on one line: "(a+b)/2", "c²", "x_1", "√(2)"."""

from __future__ import annotations

import re

from qa_bot.documents.ingest.formats.run_marks import SUPERSCRIPTS

EXPONENT = re.compile(r"[-+−]?\d+|\d*[-+−]")
SIMPLE = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_][\w⁺⁻′°]*|.")
"""What needs no parentheses: a number, letters with a sign, a single sign."""
SIMPLE_TOP = re.compile(r"[\w.,⁺⁻′°]+")
BEFORE_PARENTHESIS = re.compile(r"(?:[^\W\d_]*|[⁰-⁹²³]*√)(?=\()")
INDEX = re.compile(r"\w+")
SIGNS = {"′": "′", "″": "″", "'": "′", "∘": "°", "°": "°"}
"""Signs that are raised without more."""


def fraction(top: str, bottom: str) -> str:
    """A fraction; sums and products are put in parentheses."""
    return f"{top if SIMPLE_TOP.fullmatch(top) else grouped(top)}/{grouped(bottom)}"


def raised(base: str, exponent: str) -> str:
    """A power: with raised digits and signs, or with "^(…)"."""
    return grouped(base) + _exponent(exponent) if exponent else base


def lowered(base: str, index: str) -> str:
    """A base with an index."""
    if not index:
        return base
    return f"{base}_{index}" if INDEX.fullmatch(index) else f"{base}_({index})"


def limited(sign: str, index: str, exponent: str) -> str:
    """A sign with what is below and above it, such as that of a sum, or a base with an index and an exponent."""
    return lowered(sign, index) + _exponent(exponent)


def root(content: str, degree: str = "") -> str:
    """A root, of degree 2 without one."""
    sign = "" if degree in {"", "2"} else degree.translate(SUPERSCRIPTS)
    return f"{sign}√{content if _is_enclosed(content) else f'({content})'}"


def _exponent(text: str) -> str:
    if not text or text in SIGNS:
        return SIGNS.get(text, "")
    return text.translate(SUPERSCRIPTS) if EXPONENT.fullmatch(text) else f"^({text})"


def grouped(text: str) -> str:
    """A part of a formula, in parentheses if it has several parts."""
    name = BEFORE_PARENTHESIS.match(text)
    is_whole = SIMPLE.fullmatch(text) or (name is not None and _is_enclosed(text[name.end() :]))
    return text if is_whole or not text else f"({text})"


def _is_enclosed(text: str) -> bool:
    """Whether the parenthesis that begins a text is closed by the sign that ends it."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return place > 0 and place == len(text) - 1
    return False
