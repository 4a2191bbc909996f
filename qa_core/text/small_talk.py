"""Recognises turns that ask nothing of the documents: small talk, and remarks about the previous answer.

Only whole turns count: "thanks" is small talk, "thanks, and in winter?" is a question. `small_talk.toml` has patterns
for English, and for what people say most in German and French.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal

from qa_core.text.analysis import fold

Talk = Literal[
    "greeting",
    "farewell",
    "thanks",
    "wellbeing",
    "identity",
    "abilities",
    "praise",
    "blame",
    "repeat",
    "shorter",
    "why",
    "sources",
]
LONGEST = 80
"""Characters; a longer turn is never small talk."""

_MARKS = re.compile(r"[^\w' ]+")
_BLANKS = re.compile(r"\s+")


def recognise(turn: str) -> Talk | None:
    """The kind of small talk that a whole turn is, or None for questions and everything else."""
    recognised = _recognised(turn)
    return recognised[1] if recognised else None


def language_of_talk(turn: str) -> str:
    """The language of small talk, or "en"."""
    recognised = _recognised(turn)
    return recognised[0] if recognised else "en"


def _recognised(turn: str) -> tuple[str, Talk] | None:
    """The language and the kind of a turn that is small talk."""
    if len(turn) > LONGEST:
        return None
    text = _BLANKS.sub(" ", _MARKS.sub(" ", fold(turn).replace("’", "'"))).strip()
    return next((named for named, pattern in _patterns().items() if pattern.fullmatch(text)), None)


@cache
def _patterns() -> Mapping[tuple[str, Talk], re.Pattern[str]]:
    """One pattern for each language and kind; the keys of `around` are placeholders for words that may surround any
    phrase."""
    table = tomllib.loads((resources.files("qa_core.text") / "small_talk.toml").read_text("utf-8"))
    around = re.compile("|".join(table["around"]))

    def expand(pattern: str) -> str:
        return around.sub(lambda match: table["around"][match[0]], pattern)

    return {
        (language, kind): re.compile("|".join(map(expand, patterns)))
        for language, by_kind in table["patterns"].items()
        for kind, patterns in by_kind.items()
    }
