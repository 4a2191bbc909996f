"""What a question asks for: two things, each of which needs its own support, or the steps of a procedure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.text.stop_words import word_set
from qa_core.types import Passage
from retrievers.formulate import asks
from retrievers.question_terms import content_terms

COVERED = 0.5
"""A passage with less than this share of a part's words does not answer it."""
COVERS = 0.75
"""A passage with at least this share of a part's words may answer it."""
FEWEST = 2
"""Content words of a question that stands alone."""
LONGEST = 300
"""Characters of a question that is taken apart; a longer one tells a story."""

_ASKING = (
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|do|does|did|can|must|should"
    r"|was|welche[rsn]?|wer|wem|wann|wo|warum|wie|ist|sind|kann|muss|darf|quel(?:le)?s?|qui|quand|où|comment|combien)"
)
_REFERS = re.compile(
    r"\b(?:it|its|he|him|his|she|her|they|them|their|there|then|one|that|this|er|ihn|ihm|sie|ihr|es|dort|dann|das"
    r"|il|elle|ils|elles|y)\b",
    re.IGNORECASE,
)
"""Words of a part that refer to the other part, whose passage then answers both."""
_TWO_QUESTIONS = re.compile(rf"(?:,\s*|\s)(?:and|und|et)\s+(?={_ASKING}\b)|\?\s+(?={_ASKING}\b)", re.IGNORECASE)
_COMPARED = (
    re.compile(r"\b(?:difference|differences|distinction) between (?P<one>.+?) and (?P<other>.+)", re.IGNORECASE),
    re.compile(r"\bhow (?:do|does|are|is) (?P<one>.+?) and (?P<other>.+?) (?:differ|different)\b", re.IGNORECASE),
    re.compile(r"\bhow (?:do|does|is|are) (?P<one>.+?) (?:differ|different) from (?P<other>.+)", re.IGNORECASE),
    re.compile(r"\bcompare (?P<one>.+?) (?:and|with|to) (?P<other>.+)", re.IGNORECASE),
    re.compile(r"^(?P<one>.+?) (?:vs\.?|versus|or|oder|ou) (?P<other>.+)", re.IGNORECASE),
    re.compile(r"\bunterschied(?:e)? zwischen (?P<one>.+?) und (?P<other>.+)", re.IGNORECASE),
    re.compile(r"\bunterscheide[nt] sich (?P<one>.+?) (?:und|von) (?P<other>.+)", re.IGNORECASE),
    re.compile(r"\bdifférence entre (?P<one>.+?) et (?P<other>.+)", re.IGNORECASE),
)

_HOW_TO = re.compile(
    r"\bhow (?:do|does|can|could|should|would|must|may|is|are|to)\b|\b(?:steps|instructions|procedure)\b"
    r"|\bwhat (?:do|should|must|can) (?:i|we|you) (?:have to |need to )?do\b"
    r"|\bcomment (?:faire|dois|puis|peut|faut|on|je|\w+(?:er|ir|re))\b|\bque (?:faire|dois-je faire|faut-il faire)\b"
    r"|\bwie (?:kann|muss|soll|sollte|wird|werden|\w+[et]n?) (?:ich|man|wir|ein|eine|der|die|das)\b"
    r"|\bwas ist .*zu tun\b|\bwas (?:tun|mache ich|tue ich|machen wir)\b"
    r"|\bwas (?:muss|müssen|soll|sollen|sollte|kann|können) (?:ich|man|wir|sie)\b.*\b(?:tun|machen)\b",
    re.IGNORECASE,
)
_INSTRUCTIONS = re.compile(
    r"\W*(?:how to|how (?:do|can|should) (?:i|we|you)|steps?\b|instructions\b|procedure\b|process\b|workflow\b"
    r"|comment\b|schritte?\b|anleitung\b|vorgehen\b|ablauf\b|wie (?:kann|muss|soll|\w+e) (?:ich|man|wir)\b"
    r"|so (?:\w+ )+(?:sie|du|man)\b)",
    re.IGNORECASE,
)
"""Begins a heading of instructions that need not be numbered."""
_ARTICLE = r"(?:(?:an?|the|eine?|der|die|das|dem|einem|einer)\s)?"
_OF_TEXT = r"(?:\s(?:in|for|on|here|at|within)\b[^?]{0,60})?"
_TERM = r"[\"“„‘']?(?P<{}>\w[\w-]*(?:\s\w[\w-]*){{0,2}}?)[\"”“’']?"
_DEFINITION = re.compile(
    rf"\W*(?:what\sdoes\s{_ARTICLE}{_TERM.format('meant')}\s(?:mean|stand\sfor){_OF_TEXT}"
    rf"|(?:what(?:['’]s|\sis|\sare)(?:\smeant\sby)?|define|was\s(?:ist|sind|bedeutet|heißt|versteht\sman\sunter))"
    rf"\s{_ARTICLE}{_TERM.format('named')})\W*$",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"\W*(\w[\w-]*(?:\s\w[\w-]*){0,2})\W*")
_ARTICLES = word_set("the a an der die das dem den ein eine einem einer le la les un une")


def defined_term(question: str) -> str:
    """The term whose definition a question asks for, of at most three words: "What is a client?"; "" for others."""
    match = _DEFINITION.match(question)
    return (match["meant"] or match["named"]) if match else ""


def topic_of(question: str) -> str:
    """The term that a question of at most three words only names: "tracklist"; "" for others."""
    match = _TOPIC.fullmatch(question)
    return match[1] if match and not asks(question) else ""


def definition_of(term: str) -> re.Pattern[str]:
    """Matches the beginning of a unit or a line that says what a term is: "- **core**: the part that …".

    The row of a table does if two words follow in its second cell: "| NCR | Nonconformity report |".
    """
    words = r"[\s-]+".join(map(re.escape, re.split(r"[\s-]+", term)))
    mark, article = r"[*_„“”\"]*", r"(?:(?:an?|the|eine?|der|die|das)\s+)?"
    says = r"(?:is|are|means?|refers\sto|stands\sfor|ist|sind|bedeutet|heißt|bezeichnet)\b|[:–—][*_ ]*(?=[^\s*_])|-\s"
    row = rf"\|\s*{mark}{words}{mark}\s*\|(?=[^|\n]*[^\W\d_]{{2}}\W[^|\n]*[^\W\d_]{{2}})"
    return re.compile(
        rf"^(?:{row}|\s*(?:(?:[-*+]|\d+[.)])\s+)?{mark}{article}{mark}{words}s?{mark}(?:\s\([^()\n]{{1,40}}\))?{mark}\s*(?:{says}))",
        re.IGNORECASE | re.MULTILINE,
    )


def parts_of(question: str) -> tuple[str, ...]:
    """The two parts of a question, or none: “When does X open and how much is a ticket?”, “X or Y?”."""
    if len(question) > LONGEST:
        return ()
    if sides := _sides(question):
        return sides
    two = [part for part in _TWO_QUESTIONS.split(question) if part.strip()]
    return (two[0], two[1]) if len(two) == 2 else ()


def _sides(question: str) -> tuple[str, str] | None:
    """The two sides that a question compares."""
    match = next(filter(None, (pattern.search(question) for pattern in _COMPARED)), None)
    return (match["one"], match["other"]) if match else None


class OtherSide(NamedTuple):
    """What tells the two sides of a comparison apart: terms of the one side, and those of the other."""

    one: frozenset[str]
    other: frozenset[str]

    def is_named_by(self, passage: Passage) -> bool:
        """Whether the nearest heading of a passage names the other side, and not the one."""
        heading = _heading_terms(passage)
        return self.other <= heading and not self.one <= heading


def other_side(question: str, passage: Passage) -> OtherSide | None:
    """The side of a comparison that a passage is not about, if its nearest heading names only one of them.

    In "the difference between send only and receive only folders" the passage below "Send Only Folder" lacks the
    other side, although it has nearly all of the words. Stop words tell sides apart, too: "on" and "off".
    """
    sides = _sides(question) if len(question) <= LONGEST else None
    if sides is None:
        return None
    language = analysis_language(passage.source.details.language)
    one, other = (frozenset(terms(side, language, stop=False)) - _ARTICLES for side in sides)
    apart = [OtherSide(one - other, other - one), OtherSide(other - one, one - other)]
    named = [side for side in apart if side.one and side.other and side.one <= _heading_terms(passage)]
    return named[0] if len(named) == 1 else None


def _heading_terms(passage: Passage) -> frozenset[str]:
    heading = [passage.source.title, *passage.place.heading][-1]
    return frozenset(terms(heading, analysis_language(passage.source.details.language), stop=False))


def open_part(parts: Sequence[str], passage: Passage) -> str:
    """The part that a passage covers least, if it does not cover it and the part stands alone; "" otherwise."""
    shares = [covered(part, passage) for part in parts]
    least = min(shares, default=1.0)
    if least >= COVERED:
        return ""
    part = parts[shares.index(least)]
    fewest = FEWEST if re.match(_ASKING, part.strip(), re.IGNORECASE) else 1  # a side of a comparison is a name
    stands_alone = not _REFERS.search(part) and len(content_terms(part)) >= fewest
    return part if stands_alone else ""


def covered(part: str, passage: Passage) -> float:
    """Share of the content words of a part that are in a passage, its title or its headings; 1 without such words."""
    language = analysis_language(passage.source.details.language)
    content = set(content_terms(part, language))
    text = f"{passage.source.title} {' '.join(passage.place.heading)} {passage.text}"
    return len(content & set(terms(text, language))) / len(content) if content else 1.0


def asks_for_steps(text: str) -> bool:
    """Whether a question asks how to do something."""
    return bool(_HOW_TO.search(text))


def has_steps(passage: Passage) -> bool:
    """Whether a passage is steps, or its nearest heading says that it tells how to do something."""
    return passage.place.kind == "steps" or bool(
        _INSTRUCTIONS.match([passage.source.title, *passage.place.heading][-1])
    )
