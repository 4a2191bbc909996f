"""Prices: a passage with an amount of money says what something costs, whatever its words are.

Tables of fees have the figures and the names of what is paid for, but seldom the word "cost".
"""

from __future__ import annotations

import re

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
