"""The readings of a follow-up: texts that are searched together, so that its topic need not be guessed.

A turn is searched in its own words, after the first question of the conversation and after the previous one. A turn
that stands alone has no readings: an opening of another topic would be drawn to the old one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrievers.formulate import asks
from retrievers.measured_properties import asking_terms
from retrievers.question_terms import content_terms

FEW = 3
"""A question with at most so many content words leans on the questions before it."""
OF_TOPIC = 2
"""A turn with at most so many content words goes on with the document that answered the turn before."""
LONGEST = 300
"""Characters; a longer turn stands alone."""

_LEANS = re.compile(
    r"^(?:and|but|or|so|und|aber|oder|et|mais|ou)\b|"
    r"\b(?:then|too|also|instead|afterwards?|after that|that|those|this|these|it|its|they|them|their|there|one|ones|"
    r"he|she|his|her|same|other|another|even|again|dann|auch|dort|davon|dafür|dabei|dazu|damit|darauf|darin|darüber|"
    r"danach|daran|stattdessen|(?-i:sie|er|ihn|ihm|denen|deren|dessen)|ça|cela|c['’]est|celui|celle|ceux|celles|aussi)\b",
    re.IGNORECASE,
)
"""Words that point back. German “Sie”, with a capital, addresses the reader, and “es” often points to nothing."""
_GOES_ON = re.compile(r"\s*(?:and|but|or|und|aber|oder|et|mais|ou|y|pero|o|e|ma)\b", re.IGNORECASE)


def readings(turn: str, earlier: Sequence[str], *, changed: bool) -> tuple[str, ...]:
    """The distinct readings of a turn; none if it stands alone.

    Args:
        earlier: the questions before it as they were asked, oldest first.
        changed: whether the turn was rewritten as a follow-up.
    """
    if not earlier or not (changed or leans(turn)):
        return ()
    texts = tuple(dict.fromkeys((turn, f"{earlier[0]} {turn}", f"{earlier[-1]} {turn}")))
    return texts if names_topic(turn) else texts[1:]


def names_topic(turn: str) -> bool:
    """Whether a turn says what it is about, and not only what is asked: "What do they cost?"."""
    language = _language(turn)
    return bool({*content_terms(turn, language, language)} - asking_terms(turn, language))


def leans(turn: str) -> bool:
    """Whether a turn seems to leave its topic to the questions before it: "is there a free one, too?"."""
    if len(turn) > LONGEST:
        return False
    if points_back(turn):
        return True
    if not asks(turn.strip()):
        return False
    return _content_words(turn) <= FEW


def points_back(turn: str) -> bool:
    """Whether a word of a turn points to the turns before it: "that", "there"."""
    return _LEANS.search(turn) is not None


def goes_on(turn: str) -> bool:
    """Whether a turn begins in the middle of a sentence: "und in Bern?"."""
    return bool(_GOES_ON.match(turn))


def keeps_topic(turn: str) -> bool:
    """Whether a turn that leans on earlier ones is too short to name another document."""
    return 0 < _content_words(turn) <= OF_TOPIC


def _content_words(turn: str) -> int:
    language = _language(turn)
    return len(set(content_terms(turn, language, language)))


def _language(turn: str) -> str:
    from qa_core.text.language_detection import language_of

    return language_of(turn, is_question=True) or "en"
