"""Turns that only name a topic ("asthma"), and titles that ask about it ("What are the symptoms of asthma?")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from qa_core.text.analysis import terms, words
from qa_core.types import Choice
from retrievers.question_terms import content_terms

ChoiceWithTarget = tuple[Choice, str]
"""A choice, and the target that must answer its question: a document's title, or the text of a fact."""

LONGEST_TURN = 200
"""Characters; longer turns are specific."""
BROAD = 3
"""Content terms; topics with more are specific."""
LONGEST_FACET = 3
"""Words of a facet."""

_LEAD = re.compile(
    r"\s*(?:please |hi |hello |hey )*(?:can you |could you )?"
    r"(?:(?:tell|inform) me(?: (?:more|something|everything|all))? (?:about|on)|explain|describe|"
    r"(?:what|how) about|(?:i (?:need|want|would like|am looking for|have) )?(?:some |more |a |any )?"
    r"(?:help|info|information|advice|facts|questions?|details)(?: me)? (?:on|about|with|for)|about|regarding)\b",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"\s*(?:what(?:'s| is| are| was| were)|who(?:'s| is| was)|define|"
    r"(?:do you have |some )?information (?:on|about))\b",
    re.IGNORECASE,
)
_WHO_DOES = re.compile(r"\s*[Ww]ho(?:'s| is| was) [a-z]")  # "who is at risk", not "Who is Curie"
_ASKING = re.compile(
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|am|can|could|do|does|did|should|will|would|has|have|may)\b",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(r"\s*what (?:is|are|was|were)\s+(?:(?:the|a|an)\s+)?", re.IGNORECASE)
_WHAT_DOES = re.compile(r"what (?!is|are|was|were)(\w+)", re.IGNORECASE)  # "what causes"
_HOW_TO = re.compile(r"how to \w+", re.IGNORECASE)
_ARTICLES = frozenset({"a", "an", "the", "some", "my", "your"})
_PREPOSITIONS = frozenset({"of", "for", "in", "with", "from", "to", "on", "at", "by", "after", "against", "during"})
_JOINING = _ARTICLES | _PREPOSITIONS | {"and", "or", "about"}
_ENDINGS = re.compile(r"\s*\((?:are|is|s|es)\)")  # "What is (are)", "the cat(s)"
_BEFORE_MARK = re.compile(r"\s+(?=[?!.,;:](?:\s|[?!.]|$))")
_MARKS = re.compile(r"\?[\s?]*$")


class Topic(NamedTuple):
    """A turn's words without articles, its content terms, and whether it asks for a definition."""

    words: tuple[str, ...]
    terms: frozenset[str]
    defined: bool = False


def topic_of(turn: str) -> Topic | None:
    """The topic of a turn that only names it or asks what it is; None for other turns.

    >>> topic_of("tell me about the lawn").words
    ('lawn',)
    >>> topic_of("how short should I cut my lawn?")
    """
    if len(turn) > LONGEST_TURN:
        return None
    text = turn[lead.end() :] if (lead := _LEAD.match(turn)) else turn
    text = text[definition.end() :] if (definition := _DEFINITION.match(text)) else text
    carrying = frozenset(content_terms(text))
    topic_words = plain_words(text)
    bare = all(word in _JOINING or carrying.issuperset(terms(word)) for word in topic_words)
    named = definition is None or _PREPOSITIONS.isdisjoint(topic_words)  # "what is the cause of" asks more than a name
    fits = topic_words and 0 < len(carrying) <= BROAD and bare and named
    return Topic(topic_words, carrying, definition is not None) if fits else None


def tidy(title: str) -> str:
    """A title in one line, without "(are)" and without blanks before punctuation."""
    text = _BEFORE_MARK.sub("", _ENDINGS.sub("", " ".join(title.split())))
    return _MARKS.sub("?", text).strip()


def label(title: str, topic: Topic) -> str:
    """A label for a tidy title: its facet of the topic, the name of a narrower topic, or the title.

    >>> label("What are the symptoms of asthma?", Topic(("asthma",), frozenset({"asthma"})))
    'symptoms'
    >>> label("What is allergic asthma?", Topic(("asthma",), frozenset({"asthma"})))
    'allergic asthma'
    """
    if short := facet(title, topic):
        return short
    if topic.terms.issuperset(content_terms(title)):
        return title
    return (_DEFINITION.sub("", title).strip(" ?") if is_definition(title) else title) or title


def facet(title: str, topic: Topic) -> str:
    """What a title that ends with the topic asks about it, in a few words; "" for other titles.

    >>> [facet(f"{asked} asthma?", Topic(("asthma",), frozenset({"asthma"}))) for asked in ("What causes", "Why is")]
    ['causes', '']
    """
    title_words = title.rstrip("?!. ").split()
    head, end = title_words[: -len(topic.words)], title_words[-len(topic.words) :]
    while len(head) > 1 and head[-1].lower() in _ARTICLES:
        head.pop()
    if not head or terms(" ".join(end)) != terms(" ".join(topic.words)):
        return ""
    beginning = " ".join(head)
    if does := _WHAT_DOES.fullmatch(beginning):
        return does[1]
    if _HOW_TO.fullmatch(beginning):
        return beginning
    noun = _WHAT_IS.sub("", " ".join(head[:-1]) + " ").strip()
    short = len(noun.split()) <= LONGEST_FACET and topic.terms.isdisjoint(terms(noun))
    return noun if head[-1].lower() in _PREPOSITIONS and short and not _ASKING.match(noun) else ""


def is_definition(title: str) -> bool:
    """Whether a title only names something: "What is asthma?", "Asthma in children"."""
    if _DEFINITION.match(title):
        return _WHO_DOES.match(title) is None
    return not (title.endswith("?") or _ASKING.match(title))


def is_narrower(title: str, topic: Topic) -> bool:
    """Whether a title names a narrower topic: "What is allergic asthma?"."""
    return is_definition(title) and not facet(title, topic)


def defines(title: str, topic: Topic) -> bool:
    """Whether a title asks for a definition of the topic in the topic's words, and the turn does not."""
    title_words = plain_words(title)
    apart = topic.words != title_words and _PREPOSITIONS.isdisjoint(topic.words)  # "symptoms of asthma" asks something
    return apart and is_definition(title) and _holds(title_words, topic.words)


def plain_words(text: str) -> tuple[str, ...]:
    """The words of a text without articles."""
    return tuple(word for word in words(text) if word not in _ARTICLES)


def _holds(title: Sequence[str], part: Sequence[str]) -> bool:
    """Whether a title has the stems of some words in sequence."""
    whole_stems, stems = ([terms(word, stop=False) for word in texts] for texts in (title, part))
    starts = range(len(whole_stems) - len(stems) + 1)
    return any(whole_stems[start : start + len(stems)] == stems for start in starts)
