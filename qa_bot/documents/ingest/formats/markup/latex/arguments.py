"""Arguments in braces, and values of options such as `title={Care, please}`."""

from __future__ import annotations

import re

MAX_ARGUMENT = 20_000  # characters
MAX_BROKEN = 20  # arguments and formulas without an end
VALUES = r"(?:^|,)\s*{}\s*=\s*(?:\{{((?:[^{{}}]|\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}})*)\}}|([^,{{}}]*))"
PLACEMENT = re.compile(r"[a-zA-Z!*]{1,5}|.*=.*", re.DOTALL)
"""An option that says where or how a block is set: "htbp", "colback=red"."""


def argument(text: str, start: int) -> tuple[str, int]:
    """The content of the braces at `start`, and the offset after them; "" and `start` without braces."""
    if text[start : start + 1] != "{":
        return "", start
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start, start + MAX_ARGUMENT):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return text[start + 1 : match.start()], match.end()
    return "", start


def value(name: str, options: str) -> str:
    """The value of an option; "" without one."""
    match = re.search(VALUES.format(name), options)
    return (match[1] or match[2] or "").strip() if match else ""


def block_title(option: str) -> str:
    """The title among the options of a block, which may be all of them: "title=Care", "Pythagoras"."""
    is_title = option[:1].isupper() and not PLACEMENT.fullmatch(option)
    return value("title", option) or (option if is_title else "")
