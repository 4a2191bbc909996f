"""Which short lines are headings: one in bold type that states something is text, and so is a heading of sentences."""

from __future__ import annotations

import re

from qa_bot.documents.ingest.dates import MONTHS
from qa_core.text.stop_words import word_set

_BOLD_LINE = re.compile(r"\*\*([^*\n]*[^*\n.;,!])\*\*:?|__([^_\n]*[^_\n.;,!])__:?")
_NUMBERED = re.compile(
    r"§|\d{1,3}(?:\.\d{1,3})*[.):]|\d{1,3}(?:\.\d{1,3})+\s|[a-zA-Z][.)]\s"
    r"|(?:step|schritt|étape|version|release|art(?:ikel|icle)?|section|abschnitt|kapitel|chapter|anlage|anhang|appendix"
    r"|teil|part|phase|stufe|level|tag|day|woche|week|option|variante|frage|question|top|nr|no|example|beispiel"
    r"|table|tabelle|figure|abbildung)\b\.?\s?[\dA-ZIVX]",
    re.IGNORECASE,
)
_MONTH = rf"(?:{'|'.join(sorted(map(re.escape, MONTHS), key=len, reverse=True))})"
_DATE = (
    rf"(?:\d{{1,2}}\.\s?(?:\d{{1,2}}\.|{_MONTH}\b\.?)\s?\d{{4}}|\d{{1,2}}\s{_MONTH}\b,?\s\d{{4}}"
    rf"|{_MONTH}\s\d{{1,2}},?\s\d{{4}}|\d{{4}}-\d\d-\d\d|\d{{1,2}}/\d{{1,2}}/\d{{4}})"
)
_DATED = re.compile(rf"(?:[^\W\d_]{{2,10}},?\s)?{_DATE}", re.IGNORECASE)
"""Begins the heading of an entry, as of news: "Friday, 3 May 2024: New kiln"."""
_DAY = re.compile(rf"(?<![(\w]){_DATE}", re.IGNORECASE)
_AFTER_TITLE = re.compile(r"\b(?:vom|von|of|from|ab|seit|since|stand|per|as of|du|le)\s*:?\s*$", re.IGNORECASE)
"""Words between a title and its date: "Fees from 1 May 2024"."""
_CURRENCY = r"(?:€|\$|£|¥|EUR|USD|GBP|CHF|Euros?|Cents?|dollars?|pounds?|pence|Franken|Fr\.)"
_PRICE = re.compile(
    rf"(?<![\w.,-])\d[\d.,']*(?:,-)?\s?(?:{_CURRENCY}|%|Prozent|per cent|percent)(?!\w)|[€$£¥]\s?\d", re.IGNORECASE
)
_TIME = re.compile(
    r"(?<![\w.,:])(?:[01]?\d|2[0-4])(?:[:.][0-5]\d)?\s?(?:Uhr|o'clock|[ap]\.?m\.?(?=\Z|[,;)–-]|\s(?:[–-]|to|until|and|on)\b))"
    r"|(?<![\w.,:])(?:[01]?\d|2[0-4]):[0-5]\d(?![\w:])",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"(?P<before>[^\W\d_][\w-]*:?|[:–-])\s(?:(?:max|min|ca|mindestens|höchstens|about|up to)\.?\s)?\d[\d.,]*\s?"
    r"(?:(?-i:[kcm]?m[²³]?|k?g|mg|[mc]?l|k?Wh?|k?V|mA|bar|°\s?C)|Liter|litres?|liters?|Grad|degrees|Zentimeter|Meter|Kilo"
    r"|Minuten?|minutes?|Stunden?|hours?|Tagen?|days?|Wochen?|weeks?|Monaten?|months?|Jahren?|years?|Werktagen?)\Z",
    re.IGNORECASE,
)
_RANGE_WORDS = word_set(
    "unter über bis ab nach vor in innerhalb von der die den ersten erste letzten nächsten für mit alle first last "
    "next under over until to from after before within for of the per with every age ages alter typ type model modell "
    "serie series"
)
"""Before an amount, they make a name of what it limits: "Children under 6 years"."""
_FINITE = re.compile(
    r"(?<![\w-])(?:muss|müssen|darf|dürfen|kann|können|wird|ist|sind|gilt|gelten|beträgt|betragen|kostet|entfällt"
    r"|entfallen|bleibt|bleiben|erfolgt|bitten|[a-zäöü]{3,}en wir)(?![\w-])"
)
_MAIN_CLAUSE = re.compile(
    r"(?:we|you|it|there|all\s\w+|no\s\w+|every\s\w+|each\s\w+|(?:the|our|your)\s\w+(?:\s\w+)?)\s(?:\w+ly\s)?"
    r"(?:is|are|must|may|can|cannot|will|has to|have to|does not|do not)\s",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"(?:wer|wie|was|wann|wo|woher|wohin|womit|warum|wieso|welche[rsnm]?|wenn|falls|sobald|ob|dass"
    r"|who|how|what|when|where|why|which|if|whether)\b",
    re.IGNORECASE,
)
"""Begins a question or a clause: "How it is done"."""
_ANNOUNCED = re.compile(r"(?:so|das|hier|darum|dies|that|things|before|after|once)\b", re.IGNORECASE)
"""Begins what announces the text below it: "So kann ich buchen"."""
_MEETING = re.compile(
    r"protokoll|niederschrift|einladung|sitzung|versammlung|tagesordnung|bericht|beschluss|satzung|rundschreiben|fassung"
    r"|minutes|meeting|agenda|report|notes|newsletter|invitation|statutes",
    re.IGNORECASE,
)
"""What a title with a date names."""
_RELATIVE = re.compile(r",\s(?:die|der|das|den|dem|wenn|dass|weil|ob|was|wie|wer|falls)\s", re.IGNORECASE)
FEWEST_WORDS = 5  # of a statement that only its verb shows
SENTENCE_WORDS = 6
SENTENCES_WORDS = 12
_INNER_END = re.compile(r"[^\W\d_]{4}[.!]\s+(?=[A-ZÄÖÜ])")


def bold_heading(line: str) -> str:
    """The words of a line in bold type that is used as a heading; "" for any other line.

    A line that ends as a sentence does, or states something, is text.
    """
    match = _BOLD_LINE.fullmatch(line)
    if match is None:
        return ""
    words: str = match[1] or match[2]
    return "" if not line.endswith(":") and states_something(words) else words


def divided_at_headings(text: str) -> str:
    """A paragraph that begins with a line used as a heading, with an empty line before each further one of those.

    Such a line has another line below it.
    """
    lines = text.split("\n")
    heads = [bool(bold_heading(line.strip())) for line in lines]
    if not heads[0] or sum(heads) < 2:
        return text
    nexts = [*heads[1:], True]
    parts = [
        f"\n{line}" if number and heads[number] and not nexts[number] else line for number, line in enumerate(lines)
    ]
    return "\n".join(parts)


def states_something(words: str) -> bool:
    """Whether a line has a price, a time, a day, a measure or a verb that makes it a statement rather than a title."""
    words = words.strip()
    if words.endswith((":", "?")) or any(title.match(words) for title in (_NUMBERED, _DATED, _SUBORDINATE)):
        return False
    if _PRICE.search(words) or _TIME.search(words):
        return True
    day = None if _MEETING.search(words) else _DAY.search(words)
    if day and not _AFTER_TITLE.search(words, 0, day.start()):
        return True
    return _ends_with_measure(words) or _is_clause(words)


def _ends_with_measure(words: str) -> bool:
    measure = _MEASURE.search(words)
    return measure is not None and measure["before"].casefold() not in _RANGE_WORDS


def _is_clause(words: str) -> bool:
    if len(words.split()) < FEWEST_WORDS or _ANNOUNCED.match(words) or _RELATIVE.search(words):
        return False
    return _FINITE.search(words) is not None or _MAIN_CLAUSE.match(words) is not None


def is_sentence(words: str) -> bool:
    """Whether a heading is a whole sentence without a number: it is read as text if nothing is below it."""
    return (
        words.endswith((".", "!"))
        and words[-2:] != ".."
        and len(words.split()) >= SENTENCE_WORDS
        and not _NUMBERED.match(words)
    )


def is_sentences(words: str) -> bool:
    """Whether a heading is a text of several sentences, none of which is a question."""
    is_long = len(words.split()) >= SENTENCES_WORDS and "?" not in words
    return is_long and is_sentence(words) and _INNER_END.search(words) is not None


def balanced(text: str) -> str:
    """The text without the sign of emphasis that it begins with, if nothing ends it."""
    for sign in ("**", "*", "__", "_"):
        if text.startswith(sign) and text.count(sign) % 2:
            return text.removeprefix(sign).lstrip()
    return text
