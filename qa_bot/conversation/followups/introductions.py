"""Words before a question that ask nothing: "OK.", "Thanks!", "Different question:"."""

from __future__ import annotations

import re

_ANSWERED = (
    r"ok|okay|al?right|all right|great|perfect|nice|cool|good|fine|right|sure|thanks(?: a lot)?|thank you|thx|i see|"
    r"got it|understood|oh|ah|aha|hm+|well|gut|na gut|schön|super|prima|danke(?: schön| dir| ihnen)?|vielen dank|"
    r"alles klar|verstehe|verstanden|ach so|d['’]accord|très bien|bon|merci(?: beaucoup)?|compris"
)
_ANNOUNCED = (
    r"(?:(?:and|but|now|just|then|so) )*(?:(?:a|an|one|my) )?(?:(?:different|another|other|new|next|more|last|final|"
    r"quick|further|short) )+(?:question|thing|topic|subject)|(?:now )?something (?:else|different)|"
    r"(?:(?:und|aber|jetzt|nur) )*(?:noch )?(?:(?:eine|ein) )?(?:(?:andere|anderes|neue|neues|nächste|weitere|kurze|"
    r"letzte) )+(?:frage|thema)|(?:und )?noch eine frage|(?:und )?(?:noch )?(?:et)?was anderes|"
    r"(?:et )?(?:une )?(?:autre|nouvelle|dernière) question|encore une question"
)
_INTRODUCTION = re.compile(
    rf"(?:(?:{_ANSWERED})\s*[.,!;:…–—-]+\s*|(?:{_ANNOUNCED})\s*[.,!:…–—-]+\s*)+(?=\w)", re.IGNORECASE
)


def without_introduction(turn: str) -> str:
    """The turn from its first words that may ask; a turn that only introduces is unchanged."""
    match = _INTRODUCTION.match(turn.lstrip())
    return turn.lstrip()[match.end() :] if match else turn
