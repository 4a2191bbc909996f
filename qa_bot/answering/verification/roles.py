"""Holders of a role: the capital of Australia does not answer a question for its prime minister.

A passage answers such a question only if it says something near the role. Of 1,399 questions to 15 sets this refuses
four, two of which had been answered, all wrongly. For "What is the … of …" it would refuse as many right answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

NEAR = 0.3
"""Of the cover of a word by a passage."""
_ROLE = re.compile(
    r"\s*(?:who(?:['’]s|\s(?:is|was|are|were))\s(?:the|our|your|my|a|an)\s(?P<role>[^,;?]{3,60}?)\s(?:of|for|at|in)\s\w"
    r"|wer\s(?:ist|war|sind)\s(?:der|die|das|unsere?|eure?)\s(?P<rolle>[^,;?]{3,60}?)\s"
    r"(?:von|vom|der|des|im|in|bei|beim)\s\w)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


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
