"""Titles that are questions, with a question mark or without one: "Do you have information about iron".

Labels that begin with a question word are none: "How we collaborate", "What to see", "Who to call". In a question a
verb stands before its subject, or "is" follows "what".
"""

from __future__ import annotations

import re

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


def is_question(title: str) -> bool:
    """Whether a title of a document asks something."""
    words = title.strip()
    return words.endswith("?") or _QUESTION.match(words) is not None
