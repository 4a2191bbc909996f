"""Turns that only name a topic, and what titles ask about it: "asthma", and "What are the symptoms of asthma?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from qa_core.text.analysis import terms, words
from qa_core.types import Choice
from retrievers.formulate import content_terms

ChoiceWithTarget = tuple[Choice, str]
"""A choice, and the target that must answer its question: a document's title, or the text of a fact."""

LONGEST_TURN = 200
"""Characters; a longer one says enough."""
BROAD = 3
"""Terms that carry information; a topic of more says enough."""
LONGEST_FACET = 3
"""Words that say what is asked about a topic."""

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
    """What a turn is about: its words without articles, those of its terms that carry information, and whether a
    definition is asked for."""

    words: tuple[str, ...]
    terms: frozenset[str]
    defined: bool = False


def topic_of(turn: str) -> Topic | None:
    """The topic of a turn that names one and asks no more than what it is, None for any other.

    >>> topic_of("tell me about the lawn").words
    ('lawn',)
    >>> topic_of("how short should I cut my lawn?")
    """
    if len(turn) > LONGEST_TURN:
        return None
    text = turn[lead.end() :] if (lead := _LEAD.match(turn)) else turn
    text = text[definition.end() :] if (definition := _DEFINITION.match(text)) else text
    carrying = frozenset(content_terms(text))
    told = plain_words(text)
    bare = all(word in _JOINING or carrying.issuperset(terms(word)) for word in told)
    named = definition is None or _PREPOSITIONS.isdisjoint(told)  # "what is the cause of" asks more than a name
    fits = told and 0 < len(carrying) <= BROAD and bare and named
    return Topic(told, carrying, definition is not None) if fits else None


def tidy(title: str) -> str:
    """A title as people write it: in one line, without "(are)", without blanks before a question mark."""
    text = _BEFORE_MARK.sub("", _ENDINGS.sub("", " ".join(title.split())))
    return _MARKS.sub("?", text).strip()


def label(title: str, topic: Topic) -> str:
    """What a tidy title asks about the topic; of one that names something narrower the name, else the title.

    >>> label("What are the symptoms of asthma?", Topic(("asthma",), frozenset({"asthma"})))
    'symptoms'
    >>> label("What is allergic asthma?", Topic(("asthma",), frozenset({"asthma"})))
    'allergic asthma'
    """
    if told := facet(title, topic):
        return told
    if topic.terms.issuperset(content_terms(title)):
        return title
    return (_DEFINITION.sub("", title).strip(" ?") if is_definition(title) else title) or title


def facet(title: str, topic: Topic) -> str:
    """What a title that ends with the topic asks about it in a few words, empty for other titles.

    >>> [facet(f"{asked} asthma?", Topic(("asthma",), frozenset({"asthma"}))) for asked in ("What causes", "Why is")]
    ['causes', '']
    """
    told = title.rstrip("?!. ").split()
    head, end = told[: -len(topic.words)], told[-len(topic.words) :]
    while len(head) > 1 and head[-1].lower() in _ARTICLES:
        head.pop()
    if not head or terms(" ".join(end)) != terms(" ".join(topic.words)):
        return ""
    asked = " ".join(head)
    if does := _WHAT_DOES.fullmatch(asked):
        return does[1]
    if _HOW_TO.fullmatch(asked):
        return asked
    noun = _WHAT_IS.sub("", " ".join(head[:-1]) + " ").strip()
    short = len(noun.split()) <= LONGEST_FACET and topic.terms.isdisjoint(terms(noun))
    return noun if head[-1].lower() in _PREPOSITIONS and short and not _ASKING.match(noun) else ""


def is_definition(title: str) -> bool:
    """Whether a title only names something: "What is asthma?", "Asthma in children"."""
    if _DEFINITION.match(title):
        return _WHO_DOES.match(title) is None
    return not (title.endswith("?") or _ASKING.match(title))


def is_narrower(title: str, topic: Topic) -> bool:
    """Whether a title names something of its own that the topic is part of: "What is allergic asthma?"."""
    return is_definition(title) and not facet(title, topic)


def defines(title: str, topic: Topic) -> bool:
    """Whether a title asks what the topic is, which the turn leaves open, and does so in the topic's words."""
    told = plain_words(title)
    apart = topic.words != told and _PREPOSITIONS.isdisjoint(topic.words)  # "symptoms of asthma" asks something
    return apart and is_definition(title) and _holds(told, topic.words)


def plain_words(text: str) -> tuple[str, ...]:
    """Words without articles."""
    return tuple(word for word in words(text) if word not in _ARTICLES)


def _holds(title: Sequence[str], told: Sequence[str]) -> bool:
    """Whether the stems of some words stand in a title one after another."""
    whole, part = ([terms(word, stop=False) for word in each] for each in (title, told))
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))
