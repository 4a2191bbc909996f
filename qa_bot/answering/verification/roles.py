"""Holders of a role: questions for them, and the passages that name them.

The capital of Australia does not answer a question for its prime minister.
A passage answers such a question only if it says something near the role. Of 1,399 questions to 15 sets this refuses
four, two of which had been answered, all wrongly. For "What is the … of …" it would refuse as many right answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import NamedTuple

from qa_core.text.analysis import terms

NEAR = 0.3
"""Of the cover of a word by a passage."""
LONGER = 2
"""Further words of the cell with the role."""
_ROLE = re.compile(
    r"\s*(?:who(?:['’]s|\s(?:is|was|are|were))\s(?:the|our|your|my|a|an)\s(?P<role>[^,;?]{3,60}?)\s(?:of|for|at|in)\s\w"
    r"|wer\s(?:ist|war|sind)\s(?:der|die|das|unsere?|eure?)\s(?P<rolle>[^,;?]{3,60}?)\s"
    r"(?:von|vom|der|des|im|in|bei|beim)\s\w)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_HOLDER = re.compile(
    r"\W*(?:who(?:['’]s|\s(?:is|are))\s(?:(?:the|our|your|my)\s)?|wer\s(?:ist|sind)\s(?:(?:der|die|unsere?|eure?)\s)?)"
    r"(?P<role>[^,;?.]{3,60})\W*$",
    re.IGNORECASE,
)
_TITLE = r"(?:(?:Dr|Prof|Mr|Mrs|Ms|Herrn?|Frau|Mme|M)\.?\s)"
_NAME = r"[A-ZÄÖÜ][\w'’-]+(?:\s(?:[A-Z]\.|van|von|de|der|di|da|zu|[A-ZÄÖÜ][\w'’-]+)){0,2}\s[A-ZÄÖÜ][\w'’-]+"
_FULL_NAME = re.compile(rf"{_TITLE}*(?:{_NAME}|(?<=\s)[A-ZÄÖÜ][\w'’-]+)")
"""The cell of a person: "Petra Lang", "Dr. K. Weiss"."""
_NAMED = re.compile(rf"{_TITLE}+(?:{_NAME}|[A-ZÄÖÜ][\w'’-]+)|(?<=: )\*{{0,2}}{_NAME}")
"""A person in running text, where nouns have capitals, too: behind a title or a colon."""


def lacks_role(question: str, cover: Mapping[str, float]) -> bool:
    """Whether a question asks who holds a role that a passage says nothing near to.

    Args:
        cover: how far the passage covers each content word of the question, in [0, 1].
    """
    match = _ROLE.match(question)
    if not match:
        return False
    role = [cover[word] for word in _WORD.findall(match["role"] or match["rolle"]) if word in cover]
    return bool(role) and max(role) < NEAR


class AskedRole(NamedTuple):
    """The role whose holder a question asks for, such as "head of quality"; none by default."""

    role: str = ""

    @classmethod
    def of(cls, question: str) -> AskedRole:
        match = _HOLDER.match(question)
        return cls(match["role"].strip()) if match else NO_ROLE

    def is_held(self, text: str, language: str) -> bool:
        """Whether a line of Markdown has all words of the role and names a person, a row in another cell."""
        role = set(terms(self.role, language))
        return bool(role) and any(_names_holder(line, role, language) for line in text.splitlines())


NO_ROLE = AskedRole()


def _names_holder(line: str, role: Set[str], language: str) -> bool:
    if not role <= {*terms(line, language)}:
        return False
    if not line.startswith("|"):
        return any(role.isdisjoint(terms(match[0], language)) for match in _NAMED.finditer(line))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    analysed = [{*terms(cell, language)} for cell in cells]
    has_role = any(role <= of_cell and len(of_cell) <= len(role) + LONGER for of_cell in analysed)
    return has_role and any(
        _FULL_NAME.fullmatch(cell) and role.isdisjoint(of_cell) for cell, of_cell in zip(cells, analysed, strict=True)
    )
