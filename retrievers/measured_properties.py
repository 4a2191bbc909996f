"""Properties that a question asks for by other words: "How heavy is it?" asks for a weight, "Was kostet es?" for a fee.

Tables name the property and never the adjective, so its name is searched, too, with half a word's weight. Over 55 sets
of questions and dialogues 5 answers are better and 3 worse (dialogues of German pages +.031, of rules +.042, a manual
+.014; none loses more than .007); with a whole word's weight 11 are better and 6 worse.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from qa_core.text.analysis import terms
from retrievers.question_terms import SearchLanguages

WEIGHT = 0.5

_NAMES = {
    "en": {
        r"how heavy|weighs?|weighed|heavier|lighter than": "weight",
        r"how (?:loud|noisy|quiet)|louder|quieter|noisier": "noise sound",
        r"how wide|wider": "width",
        r"how (?:tall|high)|taller": "height",
        r"how deep": "depth",
        r"how thick": "thickness",
        r"how fast|faster": "speed",
        r"how (?:hot|cold|warm)": "temperature",
        r"how far": "distance range",
        r"how (?:big|large|small)|bigger|smaller|larger": "size",
        r"costs?|expensive|cheap(?:er)?|how much (?:is|are|do|does|for)": "price fee",
        r"how old": "age",
    },
    "de": {
        r"wie schwer|wiegt|wiegen|schwerer|leichter als": "gewicht",
        r"wie (?:laut|leise)|lauter|leiser": "geräusch lautstärke",
        r"wie breit|breiter|schmaler": "breite",
        r"wie hoch|höher|niedriger": "höhe",
        r"wie lang|länger als": "länge",
        r"wie tief": "tiefe",
        r"wie dick|dicker|dünner": "dicke",
        r"wie schnell|schneller|langsamer": "geschwindigkeit",
        r"wie (?:warm|heiß|kalt)": "temperatur",
        r"wie weit": "entfernung reichweite",
        r"wie (?:groß|klein)|größer|kleiner": "größe",
        r"kostet|kosten|teuer\w*|teurer|billig\w*|günstiger|wie ?viel zahl\w*": "preis gebühr kosten entgelt",
        r"wie alt": "alter",
    },
}
_PATTERNS = {
    language: [(re.compile(rf"\b(?:{asking})\b", re.IGNORECASE), names) for asking, names in table.items()]
    for language, table in _NAMES.items()
}


def property_terms(text: str, languages: SearchLanguages) -> list[str]:
    """The distinct index terms of the properties that a question asks for, in the analyses that are searched."""
    properties = _properties(text, languages.analyses)
    return list(dict.fromkeys(term for language, _, names in properties for term in terms(names, language)))


def asking_terms(text: str, language: str) -> frozenset[str]:
    """The index terms of the words that ask for properties, which no table has: "big" of "How big is it?"."""
    return frozenset(term for _, words, _ in _properties(text, (language,)) for term in terms(words, language))


def _properties(text: str, languages: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """The language, the words that ask, and the names of each property that a text asks for."""
    for language, patterns in _PATTERNS.items():
        if language in languages:
            matches = ((asking.search(text), names) for asking, names in patterns)
            yield from ((language, match[0], names) for match, names in matches if match)
