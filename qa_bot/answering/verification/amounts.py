"""Prices: a passage with an amount of money says what something costs, whatever its words are.

Tables of fees have the figures and the names of what is paid for, but seldom the word "cost".

No passage without a number says how many there are, and one that says nothing near what is counted is no sure answer:
over 27 sets two wrong answers to 152 such questions, and five wrong and two right ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from qa_core.text.analysis import terms, words
from qa_core.text.stop_words import word_set

PRICE_WORDS = word_set(
    "cost costs price prices priced expensive pay kostet kosten teuer preis preise bezahlen bezahle zahlen zahle zahlt "
    "coûte coûtent coût prix cher payer"
)
"""Words that ask for an amount of money."""
_UNIT = r"(?:€|\$|£|¥|EUR|USD|GBP|CHF|Euro|Euros|Cent|Cents|dollars?|pounds?|pence|francs?|Franken)"
_AMOUNT = re.compile(rf"\d\s?{_UNIT}(?!\w)|(?<!\w){_UNIT}\s?\d", re.IGNORECASE)

_COLUMN = re.compile(
    rf"^(?=[^\n]*\|)[^\d\n]*(?<![^\W_]){_UNIT}(?![^\W_])[^\d\n]*\n(?=[^\n]*\d)", re.IGNORECASE | re.MULTILINE
)
"""A row of names with a currency above a row with digits, in the plain text of a table: "price_eur", "Fee (€)"."""


def asks_for_price(word: str) -> bool:
    """Whether a word of a question asks what something costs."""
    return word.casefold() in PRICE_WORDS


def has_amount(text: str) -> bool:
    """Whether a plain text has an amount of money: "1.200,50 €", "EUR 30", "$5", or a column of them."""
    return _AMOUNT.search(text) is not None or _COLUMN.search(text) is not None


_HOW_MANY = re.compile(r"\b(?:how many|wie ?viele) (?P<counted>[^,;?]{2,60})", re.IGNORECASE)
_BEHIND = re.compile(
    r"\b(?:do|does|did|is|are|was|were|can|could|may|will|would|should|have|has|must|in|on|at|per|of|for|to|with|a|the"
    r"|hat|haben|sind|ist|gibt|kann|darf|muss|wird|werden|am|im|pro|der|die|das|den|von)\b",
    re.IGNORECASE,
)
"""What follows the name of what is counted: "how many seats does …"."""
_NUMBERS = word_set(
    "no none not any every all one two three four five six seven eight nine ten eleven twelve twenty thirty forty "
    "fifty hundred thousand half once twice single both double unlimited several "
    "kein keine keinen alle jede jeder jedes ein eine einen einer einem zwei drei vier fünf sechs sieben acht neun "
    "zehn elf zwölf zwanzig dreißig fünfzig hundert tausend halb halbe beide beiden unbegrenzt mehrere"
)
NEAR = 0.3
"""Of the cover of what is counted by a passage."""


def lacks_number(question: str, text: str) -> bool:
    """Whether a question asks how many there are, and a text has no number."""
    asks = _HOW_MANY.search(question) is not None
    return asks and not any(word[0].isdigit() or word in _NUMBERS for word in words(text))


def lacks_counted(question: str, text: str, language: str, cover: Mapping[str, float]) -> bool:
    """Whether a question asks how many of something there are, and a text says nothing near it.

    Args:
        language: of the analysis of the text.
        cover: how far the text covers each content word of the question, in [0, 1].
    """
    match = _HOW_MANY.search(question)
    named = words(_BEHIND.split(match["counted"])[0]) if match else []
    shares = {word.casefold(): share for word, share in cover.items()}
    return (
        bool(named)
        and shares.get(named[-1], 1.0) < NEAR
        and set(terms(named[-1], language)).isdisjoint(terms(text, language))
    )
