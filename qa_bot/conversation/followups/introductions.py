"""Words before a question that ask nothing: "OK.", "Different question:", or name its topic: "Back to the bell:"."""

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

_RETURN = (
    r"(?:(?:and|but|so|now|ok|okay)\b[\s,]*)*(?:(?:going|coming|let['’]?s go|to go|to come) )?back to (?P<english>.+?)|"
    r"(?:(?:und|aber|nun|jetzt|noch ?mal|wieder|ok)\b[\s,]*)*zurück (?:zu|zum|zur) (?P<german>.+?)|"
    r"(?:(?:et|mais|pour)\b[\s,]*)*(?:en )?(?:revenons|revenant|revenir) (?:à|au|aux) (?P<french>.+?)"
)
_RETURNED = re.compile(rf"(?:{_RETURN})\s*[:,;–—]+\s*(?P<question>\w.*)", re.IGNORECASE | re.DOTALL)
TOPIC, LONGEST = 5, 300
"""Words of a topic, and characters of a turn that takes one up again, at most."""


def returned(turn: str) -> str:
    """A turn that names the topic which it takes up again, as a question that stands alone; "" for other turns.

    "Back to the bell: who rings it?" becomes "The bell: who rings it?".
    """
    match = _RETURNED.fullmatch(turn.strip()) if len(turn) <= LONGEST else None
    topic = (match["english"] or match["german"] or match["french"]).strip() if match else ""
    if match is None or len(topic.split()) > TOPIC:
        return ""
    return f"{topic[:1].upper()}{topic[1:]}: {match['question']}"


def without_introduction(turn: str) -> str:
    """The turn from its first words that may ask; a turn that only introduces is unchanged."""
    match = _INTRODUCTION.match(turn.lstrip())
    return turn.lstrip()[match.end() :] if match else turn
