"""Polarity: whether the "Yes" or "No" at the beginning of a passage also answers the question that was asked.

The word answers the passage's own question: its title or its last heading. It stays only if the asked question says
the same with the same sign. Otherwise the sentence behind it stands alone: to “Can dogs eat chocolate?” the passage
“Is chocolate bad for dogs? Yes, chocolate is poisonous …” gives “Chocolate is poisonous …”.
"""

from __future__ import annotations

import re
from functools import cache

from qa_core.text.analysis import sentences, terms, words
from qa_core.text.languages import analysis_language
from qa_core.text.stop_words import NEGATIONS
from qa_core.types import Passage
from retrievers.formulate import asks
from retrievers.question_terms import content_terms

_OPENING = re.compile(r"(?:yes|no|yeah|yep|nope|ja|nein)\b(?=[,.!:;]|\s+[–—-]\s)[,.!:;–—\s-]*", re.IGNORECASE)
_YES_NO = re.compile(
    r"(?:so|and|but|then|now|hi|hello|please|und|aber|also)?,?\s*"
    r"(?:is|are|am|was|were|do|does|did|can|could|may|might|must|shall|should|will|would|has|have|had"
    r"|ist|sind|war|waren|kann|können|könnte|darf|dürfen|muss|müssen|soll|sollen|sollte|hat|haben|wird|werden|gibt"
    r"|gilt|gelten|habe|bin)\s",
    re.IGNORECASE,
)
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")
OPPOSITES = (
    ("safe harmless", "dangerous poisonous toxic harmful risky hazardous deadly"),
    ("good healthy", "bad harmful poisonous toxic"),
    ("allow permit may legal free", "forbid forbidden prohibit ban illegal taboo"),
    ("true right correct real genuine", "false wrong fake untrue myth"),
    ("possible able", "impossible unable"),
    ("help effective work useful", "useless ineffective fail pointless"),
    ("required mandatory compulsory necessary obligatory", "optional voluntary unnecessary"),
    ("include contain", "exclude lack"),
    ("open", "closed shut"),
    ("increase rise rose more raise higher grow", "decrease fall fell less lower shrink reduce"),
    ("before early", "after late"),
    ("hot warm", "cold cool"),
    ("alive live", "dead extinct"),
    ("same equal", "different"),
    ("always", "never"),
    ("accept", "refuse reject decline"),
    ("start begin", "stop end finish"),
    ("love like", "hate dislike"),
    ("gain win won", "lose lost"),
    ("clean", "dirty"),
    ("public", "private"),
    ("paid", "unpaid"),
    ("erlaubt gestattet zulässig", "verboten untersagt unzulässig"),
    ("gut gesund", "schlecht schädlich giftig"),
    ("sicher harmlos ungefährlich", "gefährlich giftig"),
    ("möglich", "unmöglich"),
    ("richtig wahr", "falsch"),
    ("geöffnet offen", "geschlossen zu"),
)
"""Words of opposite meaning; one on each side means that two questions ask for opposite things."""
FEW_WORDS = 3
"""A passage with fewer words behind its "Yes" says nothing without it."""
_DEPENDS = re.compile(
    r"(?:except|unless|but|only|if|as long as|provided|though|although|not|because|however|and|or"
    r"|außer|es sei denn|aber|nur|wenn|sofern|falls|jedoch|nicht|weil|und|oder"
    r"|at|on|in|into|from|until|till|since|for|with|without|by|during|within|after|before|every|up to|at least|at most"
    r"|am|an|auf|ab|bis|seit|für|mit|ohne|im|bei|beim|während|nach|vor|zum|zur|jede[nrms]?|höchstens|mindestens|auch"
    r"|once|twice|sometimes|usually|einmal|zweimal|manchmal|meistens|too|also|both|all|none|neither|beide|alle|keine)\b",
    re.IGNORECASE,
)
"""Beginnings that say nothing without the "Yes" before them: "but only from 10 euros", "at weekends"."""
OPENING_CHARACTERS = 300
"""Characters of a passage whose words may be asked for."""


def opening(question: str, passage: Passage, start: int = 0) -> tuple[str, int]:
    """What precedes the passage's text from `start` on, and how many of its characters are left out.

    ("", 0) if the text does not begin with yes or no, or if that answers the question, too. A text that says nothing
    else keeps the word, after the question that it answers.
    """
    text = passage.text[start:]
    match = _OPENING.match(text)
    title_question = _title_question(passage)
    if match is None or agrees(question, title_question, text, passage.source.details.language):
        return "", 0
    if len(words(text[match.end() :])) >= FEW_WORDS and not _DEPENDS.match(text, match.end()):
        return "", match.end()
    return (f"“{title_question}” " if title_question else ""), 0


def agrees(question: str, title_question: str, answer: str, language: str = "") -> bool:
    """Whether yes or no to `title_question` is yes or no to `question`.

    All words of the question must be in the title's or at the beginning of its answer, none may have its opposite in
    the title's, and both or neither must be negated.
    """
    parts = [question[start:end] for start, end in sentences(question)]
    yes_no = [sentence for sentence in parts if _YES_NO.match(sentence)]
    if not yes_no or not title_question:
        return False
    one = yes_no[-1]
    analysis = analysis_language(language)
    known = {*terms(title_question, analysis), *terms(answer[:OPENING_CHARACTERS], analysis)}
    return (
        set(content_terms(one, analysis)) <= known
        and _is_negated(one) == _is_negated(title_question)
        and not are_opposite(one, title_question)
    )


def are_opposite(one: str, other: str) -> bool:
    """Whether one text has a word and the other its opposite: “safe” and “dangerous”, “healthy” and “unhealthy”."""
    signs, other_signs = _signs(one), _signs(other)
    if any(signs[axis] * other_signs.get(axis, 0) < 0 for axis in signs):
        return True
    first, second = set(words(one)), set(words(other))
    return any(
        f"{prefix}{word}" in others for these, others in ((first, second), (second, first)) for word in these
        for prefix in _PREFIXES
    )  # fmt: skip


def _title_question(passage: Passage) -> str:
    """The question that a passage answers: its last heading or a title that asks."""
    named = [*passage.place.heading[-1:], passage.source.title, passage.clue.title]
    return next((name for name in named if asks(name)), "")


def _is_negated(text: str) -> bool:
    return sum(word in NEGATIONS or word.endswith("n't") for word in words(text)) % 2 == 1


def _signs(text: str) -> dict[int, int]:
    """For each pair of opposites that a text has one side of, which one."""
    signs: dict[int, int] = {}
    stems = {stem for word in words(text) for stem in terms(word, stop=False)}
    for stem in stems:
        for axis, sign in _sides().get(stem, ()):
            signs[axis] = signs.get(axis, 0) + sign
    return {axis: sign for axis, sign in signs.items() if sign}


@cache
def _sides() -> dict[str, list[tuple[int, int]]]:
    """The opposites of each stem: their number, and 1 or −1 for the side."""
    sides: dict[str, list[tuple[int, int]]] = {}
    for axis, pair in enumerate(OPPOSITES):
        for sign, side in zip((1, -1), pair, strict=True):
            for stem in {stem for word in side.split() for stem in terms(word, stop=False)}:
                sides.setdefault(stem, []).append((axis, sign))
    return sides
