"""Titles and headings that are questions, with a question mark or without one: "Do you have information about iron".

Labels that begin with a question word are none: "How we collaborate", "What to see", "Who to call". In a question a
verb stands before its subject, or "is" follows "what".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

import numpy as np

from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.types import Passage
from rankers.passage_evidence import Scores, same_words_bonus

SECTION, TOPIC = 0.4, 1.0
"""Bonus of a passage in the section that a question is about, and of one that is only the topic of a question.

Of 19 sets 18F gains .006 and German rules .004 of points, the others stay; follow-ups lose .005 by it, and do without.
"""
ASKING, LEAST_ASKED = 0.5, 2
"""Most that a passage gains whose heading asks a part of the question, and the content terms of such a heading.

Of 50 sets two answers are better by it, none is worse.
"""
INHERITED = 0.4
"""What a passage loses if all of the question's words stand only above its nearest heading; of some words a share."""
_BETWEEN = r"(?:\s(?!(?:i|you|we|they|he|she|it|to|the)\b)[\w'-]+){0,5}"
"""Words between a question word and the verb: "How many days of leave do I …"."""
_VERB = r"(?:is|are|am|can|could|do|does|did|should|will|would|has|have|may|might|must|was|were)(?:n?'t)?"
_SUBJECT = r"(?:i|you|we|they|he|she|it|there|this|that|these|those|my|your|our|any|anyone|anybody|one|someone)"
_ENGLISH = (
    r"(?:what|who)\s(?:is|are|was|were)\s\S",
    rf"(?:(?:what|which|who|whom|whose|when|where|why|how)\b{_BETWEEN}\s)?{_VERB}\s{_SUBJECT}\b",
    rf"(?:what|which|when|where|why|how)\b{_BETWEEN}\s{_VERB}\s(?:the|an?)\b",
)
_GERMAN = (
    r"(?:was|wer|wie|wo|wann)\s(?:ist|sind|war|waren)\s\S",
    r"(?:was|wer|wen|wem|wie|wo|wann|warum|wieso|weshalb|woher|wohin|wofür|womit|welche[mnrs]?|wieviel)\b"
    r"(?:\s(?!(?:ich|man|wir|sie|ihr)\b)[\w'-]+){1,3}\s(?:ich|man|wir)\b",
    r"(?:kann|können|darf|dürfen|muss|müssen|soll|sollte|gibt|habe|haben|brauche|brauchen|bin|bekomme|bekommen)\s"
    r"(?:ich|man|wir|es|meine?)\b",
)
_QUESTION = re.compile("|".join(f"(?:{pattern})" for pattern in (*_ENGLISH, *_GERMAN)), re.IGNORECASE)
_CONTENTS = re.compile(
    r"(?:^|\W)(?:(?:table of )?contents|site ?map|inhalt|inhalts(?:verzeichnis|übersicht)|sommaire)\W*$",
    re.IGNORECASE,
)

_MAIL_HEAD = re.compile(r"(?:To|Cc|Date): \S")


def is_question(title: str) -> bool:
    """Whether a title of a document asks something."""
    words = title.strip()
    return words.endswith("?") or _QUESTION.match(words) is not None


def is_contents(passage: Passage) -> bool:
    """Whether the nearest heading says that a passage is a table of contents."""
    return _CONTENTS.search([passage.source.title, *passage.place.heading][-1]) is not None


def is_mail_head(passage: Passage) -> bool:
    """Whether a passage has only the recipients and the date of a mail, with its greeting and closing."""
    return not passage.place.heading and _MAIL_HEAD.match(passage.text) is not None


def is_pair(passage: Passage) -> bool:
    """Whether the title is a question that the passage answers: the page "Contacts?" has sections or a table."""
    source = passage.source
    is_whole = not passage.place.heading and passage.place.kind != "table"
    return source.details.kind == "pair" or (is_whole and is_question(source.title))


def heading_bonus(question: str, passages: Sequence[Passage]) -> Scores:
    """What passages (n,) gain whose heading asks with the words of the question, as those of a page of questions."""
    return same_words_bonus(question, [_asking(passage) for passage in passages])


def asking_bonus(
    content: Callable[[Passage], Collection[str]],
    content_of: Callable[[str, str], Collection[str]],
    passages: Sequence[Passage],
) -> Scores:
    """What passages (n,) gain whose heading asks a part of the question, and nothing else.

    "What does a card cost?" is part of "What does a card cost for adults?", and "What if I lose my card?" is not.

    Args:
        content: the content terms of the question in the analysis of a passage's language.
        content_of: those of a text in a language.
    """
    shares = []
    for passage in passages:
        of_heading, question = {*content_of(_asking(passage), _language(passage))}, {*content(passage)}
        is_part = len(of_heading) >= LEAST_ASKED and of_heading <= question
        shares.append(len(of_heading) / len(question) if is_part else 0.0)
    return ASKING * np.array(shares, np.float64)


def _asking(passage: Passage) -> str:
    """The nearest heading if it is a question, else ""."""
    heading = passage.place.heading[-1] if passage.place.heading else ""
    return heading if is_question(heading) else ""


def section_bonus(
    content: Callable[[Passage], Collection[str]], passages: Sequence[Passage], *, is_topic: bool = False
) -> Scores:
    """What passages (n,) gain whose nearest heading names all that a question is about.

    Its subsections have its heading, too, and often more of the words. They lose if their own heading and text lack
    words of the question that only the headings above them have.

    Args:
        content: the content terms of the question in the analysis of a passage's language.
        is_topic: whether the question asks nothing and only names a topic.
    """
    bonus = TOPIC if is_topic else SECTION
    return np.array([_of_section(frozenset(content(one)), one, bonus) for one in passages], np.float64)


def _language(passage: Passage) -> str:
    return analysis_language(passage.source.details.language)


def _of_section(question: frozenset[str], passage: Passage, bonus: float) -> float:
    """The bonus if the nearest heading and the title have all terms, and they are half of the heading's."""
    if not passage.place.heading or not question:
        return 0.0
    language = _language(passage)
    title = set(terms(passage.source.title, language))
    nearest = set(terms(passage.place.heading[-1], language))
    of_heading = nearest - title
    if question <= nearest | title and 2 * len(question & of_heading) >= len(of_heading) > 0:
        return bonus
    above = question.intersection(terms(" ".join(passage.place.heading[:-1]), language)) - nearest - title
    return -INHERITED * len(above.difference(terms(passage.text, language))) / len(question) if above else 0.0
