"""Turns that ask nothing of the documents: small talk, and what people say about the answer before.

Only a whole turn is taken for one: "thanks" is, "thanks, and in winter?" is a question. The patterns stand in
`talk.toml`; they are English, with a few greetings of neighbours.
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
"""Characters of a turn that may be talk."""

_MARKS = re.compile(r"[^\w' ]+")
_BLANKS = re.compile(r"\s+")


def recognise(turn: str) -> Talk | None:
    """What kind of talk a whole turn is; None for questions, and for whatever else the documents should answer."""
    if len(turn) > LONGEST:
        return None
    said = _BLANKS.sub(" ", _MARKS.sub(" ", fold(turn).replace("’", "'"))).strip()
    return next((kind for kind, pattern in _patterns().items() if pattern.fullmatch(said)), None)


@cache
def _patterns() -> Mapping[Talk, re.Pattern[str]]:
    told = tomllib.loads((resources.files("qa_bot.conversation") / "talk.toml").read_text("utf-8"))
    around = re.compile("|".join(told["around"]))

    def whole(pattern: str) -> str:
        return around.sub(lambda place: told["around"][place[0]], pattern)

    return {kind: re.compile("|".join(map(whole, patterns))) for kind, patterns in told["patterns"].items()}
