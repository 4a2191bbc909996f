"""Corrections of the question before: "no, I meant XL", "nein, ich meinte die Azubis", "den Vertrag meine ich"."""

from __future__ import annotations

import re

from retrievers.formulate import asks

LONGEST = 100
"""Characters; a longer turn is more than a correction."""
WORDS = 6
"""After "no," alone a correction has at most so many words."""

_JOINED = {
    "and": (
        "no|nope|sorry|oh|oops|wait|actually",
        r"(?:but )?(?:(?:i|we) (?:actually |really |just )?(?:mean|meant|asked about)|"
        r"(?:i was|we were|i['’]?m) (?:asking|talking) about)",
        r"(?:\s*,| (?:is|was) what) (?:i|we) (?:mean|meant)",
    ),
    "und": (
        "nein|nee|ach|sorry",
        r"(?:aber )?(?:ich|wir) (?:meine|meinte|meinen|meinten)(?: (?:doch|aber|eigentlich))?",
        r"(?:\s*,(?: (?:den|die|das))?)? (?:meine|meinte|meinen|meinten) (?:ich|wir)(?: (?:doch|aber|damit))?",
    ),
    "et": (
        "non|pardon|désolée?",
        r"(?:mais )?je (?:voulais dire|veux dire|parlais de|parle de)",
        r"\s*, je (?:voulais dire|veux dire)",
    ),
}
"""By the word that joins a part to the question before: words that refuse, and words before and after what is meant."""
_REPLY = re.compile(
    r"(?:i|you|we|he|she|they|it|that|this|there|thanks?|please|not|nothing|never|yes|wrong|"
    r"ich|du|sie|wir|er|es|das|nicht|nichts|ja|danke|bitte|falsch|je|tu|vous|nous|il|elle|ce|ça|pas|rien|oui|merci)\b|"
    r".*\b(?:is|are|was|were|has|have|had|do|does|did|can|could|will|would|said|"
    r"ist|sind|war|waren|hat|haben|hatte|kann|wird|est|sont|était|ont|peut)\b",
    re.IGNORECASE,
)
"""A reply or a statement: "no, that is wrong", "sorry, the printer is broken"."""
_CORRECTIONS = {
    joined: (
        re.compile(rf"(?:(?:{refusing})\b[\s,.!:–—-]*)*{introducing}\b[\s,:–—-]*(?P<meant>.+)", re.IGNORECASE),
        re.compile(rf"(?:(?:{refusing}|{joined})\b[\s,.!:–—-]*)*(?P<meant>\w.*?){closing}[\s.!?]*", re.IGNORECASE),
        re.compile(rf"(?:{refusing})\s*[,!–—-]\s*(?=\S)(?P<meant>.+)", re.IGNORECASE),
    )
    for joined, (refusing, introducing, closing) in _JOINED.items()
}
_POINTER = re.compile(r"(?:it|that|this|das|es|ça|cela)\W*", re.IGNORECASE)
"""What names nothing: "I mean it"."""


def corrected(turn: str) -> str:
    """What a correction asks; other turns are returned unchanged.

    "Sorry, I meant how long is it open?" is a question; "no, I meant XL" becomes "and XL?", which goes on with the
    question before.
    """
    text = turn.strip()
    if len(text) > LONGEST:
        return turn
    for joined, (introduced, closed, refused) in _CORRECTIONS.items():
        match = introduced.fullmatch(text) or closed.fullmatch(text) or refused.fullmatch(text)
        if match is None or _POINTER.fullmatch(match["meant"]):
            continue
        meant = match["meant"].rstrip(".! ")
        if asks(meant):  # "what did you think I meant" is none
            return turn if match.re is closed else meant
        if match.re is introduced or (len(meant.split()) <= WORDS and not _REPLY.match(meant)):
            return f"{joined} {meant}?"
    return turn
