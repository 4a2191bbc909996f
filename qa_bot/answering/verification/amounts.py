"""Amounts that questions ask for: what something costs, how much, how many, how long, and when.

A passage with an amount of money says what something costs, whatever its words are: tables of fees have the figures and
the names of what is paid for, but seldom the word "cost".

No passage without an amount answers such a question: "The fees are in the scale of fees". Nor does one that names what
is counted, but no number near it. One that says nothing near what is counted is no sure answer. The first raises the
mean score of nine sets in German by .010. "How long" wants a time or a length, and "when" a time or a condition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from qa_bot.answering.verification.calendar_names import month_of, weekday_of
from qa_bot.documents.ingest.dates import MONTHS
from qa_core.text.analysis import terms, words
from qa_core.text.stop_words import word_set
from retrievers.question_terms import content_terms

PRICE_WORDS = word_set(
    "cost costs price prices priced expensive pay kostet kosten teuer preis preise bezahlen bezahle zahlen zahle zahlt "
    "coûte coûtent coût prix cher payer"
)
"""Words that ask for an amount of money."""
_UNIT = r"(?:€|\$|£|¥|EUR|USD|GBP|CHF|Euro|Euros|Cent|Cents|dollars?|pounds?|pence|francs?|Franken)"
_OTHER_UNIT = (
    r"(?:NOK|SEK|DKK|PLN|CZK|HUF|JPY|CNY|INR|AUD|CAD|NZD|kr|zł|yen|yuan|rupees?|pesos?|rubles?|kron(?:e[nr]?|or)|crowns?"
    r"|marks?|shillings?|guilders?|gulden|florins?|ducats?|thalers?|talern?)"
)
_NUMBER = (
    r"(?:\d|(?<!\w)(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty"
    r"|ninety|(?:ein)?hundert|hundred|(?:ein)?tausend|thousand|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|zwanzig"
    r"|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig))"
)
_AMOUNT = re.compile(
    rf"{_NUMBER}\s?(?:(?:silver|gold|swiss|danish|norwegian|swedish|canadian|australian|us)\s)?(?:{_UNIT}|{_OTHER_UNIT})(?!\w)"
    rf"|(?<!\w){_UNIT}\s?\d",
    re.IGNORECASE,
)

_PRICE_NAME = (
    r"(?:costs?|priced?|prices?|fees?|charges?|charged|fares?|rates?|rent|deposit|kostet|kosten|preise?|gebühr(?:en)?"
    r"|entgelte?|beitr[aä]ge?|miete|pfand|prix|tarifs?)"
)
_PRICED = re.compile(
    rf"(?<!\w){_PRICE_NAME}(?!\w)[^.\n|]{{0,20}}?\d|^(?=[^\n]*\|)[^\d\n]*(?<!\w){_PRICE_NAME}(?!\w)[^\d\n]*\n(?=[^\n]*\d)",
    re.IGNORECASE | re.MULTILINE,
)
"""A number without a currency behind the name of a price, or in a column with that name: "costs 850", "Price"."""
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


_HOW_MANY = re.compile(r"\b(?P<how>how many|wie ?viele) (?P<counted>[^,;?]{2,60})", re.IGNORECASE)
_BEHIND = re.compile(
    r"\b(?:do|does|did|is|are|was|were|can|could|may|will|would|should|have|has|must|in|on|at|per|of|for|to|with|a|the"
    r"|hat|haben|sind|ist|gibt|kann|darf|muss|wird|werden|am|im|pro|der|die|das|den|von)\b",
    re.IGNORECASE,
)
"""What follows the name of what is counted: "how many seats does …"."""
_NOUN = re.compile(r"\b[A-ZÄÖÜ]\w+")
"""In German: "wie viele Delegierte schickt …"."""
_MEASURE = re.compile(
    r"\b(?:how (?:much|long|often|far|old|high|soon|tall|heavy|large|big|deep|wide)"
    r"|wie ?(?:viel|viele|vieles|hoch|lang|lange|oft|häufig|schnell|weit|alt|tief|schwer|groß|breit)"
    r"|(?:ab|bis) wann)\b",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"(?:§+|\$(?=\s?\d+[a-z]?\s(?:Abs|Satz|Nr|Nummer)\b)|\b(?:Abs|Absatz|Absätze|Absätzen|Satz|Nrn?|Nummern?|Anlage|Anlagen"
    r"|Art|Artikel|Ziff|Ziffer|Seite|section|article|no|page)\b\.?)\s*\d+(?:\s*(?:,|und|bis|oder|and|to)\s*\d+)*"
    r"|\[\d{1,3}\]|(?:^\s*|› )\d{1,2}[.)]\s|› \d{1,2}(?:\.\d{1,2})+\s|\(\d{1,2}[a-z]?\)",
    re.IGNORECASE | re.MULTILINE,
)
"""Numbers that count nothing: of sections (the "§" of some PDF files is a "$"), of notes ("[1]"), of headings behind
"›", and of items."""
_QUANTITY = re.compile(
    r"\d|\b(?:no|none|all|every|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty"
    r"|forty|fifty|hundred|thousand|half|once|twice|double|daily|weekly|monthly|yearly|annually|free|unlimited"
    r"|kein\w*|ein(?:e[rmns]?)?(?= (?:Tag|Woche|Monat|Jahr|Stunde|Minute|Euro|Mal|Semester|Quartal)\w*)"
    r"|\w*mal|zwei\w*|drei\w*|vier\w*|fünf\w*|sechs\w*|sieben\w*|acht(?!et|ung|en\b)\w*|neun\w*|zehn\w*|elf\w*|zwölf\w*"
    r"|zwanzig\w*|fünfzig\w*|hundert\w*|tausend\w*|halbe\w*|hälfte|täglich|wöchentlich|monatlich|jährlich|kostenlos\w*"
    r"|kostenfrei\w*|gratis|frei|unentgeltlich\w*|unbegrenzt\w*|beliebig\w*)\b",
    re.IGNORECASE,
)
_WHENEVER = re.compile(
    r"\b(?:never|always|immediately|at any time|anytime|nie|niemals|stets|immer|jederzeit|sofort|unverzüglich\w*)\b",
    re.IGNORECASE,
)
"""Quantities of time alone: "they may resign at any time" does not say how many members there are."""
_MONTHS = "|".join([*sorted(MONTHS.keys() - {"may"}, key=len, reverse=True), "(?-i:May)"])
_DATE = re.compile(
    rf"(?<![\d.])(?:\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:{_MONTHS})(?!\w)|(?:{_MONTHS})\s\d{{1,2}}(?!\w)"
    r"|(?:19|20)\d\d-\d\d-\d\d|\d{1,2}\.\s?\d{1,2}\.(?:\d{2,4})?"
    r"|\d{1,2}:\d\d(?!\.?\d)|\d{1,2}\.\d\d(?=\s?(?:Uhr|[ap]\.?m\b)))|(?<![\w.,])(?:19|20)\d\d(?![\w%])",
    re.IGNORECASE,
)
"""Days, years and times of day, which count nothing; "20 may come" is no day."""
_TIME = re.compile(r"\b(?:how (?:long|often|old|soon)|wie ?(?:lange?|oft|häufig|alt)|(?:ab|bis) wann)\b", re.IGNORECASE)
"""Measures that a date can answer."""
_HOW_LONG = re.compile(r"\b(?:how long|wie lange)\b", re.IGNORECASE)
_PERIOD = (
    r"\bseconds?\b|minute|hour|day|week|month|year|decade|semester|sekunde|stunde|täg|woche|wöch|monat|jahr|jähr|quartal"
    r"|nacht(?!eil)|nächte|night|(?<!\be)tag(?:e[ns]?|s)?\b|\b(?:an?|one|two|three|per|each|every|\d+) terms?\b"
    r"|\d\s?(?:h|hrs?|min|s|sec|sek|std)\b|\d\s?(?:Uhr|[ap]\.?m\b)|(?<!\d)\d{1,2}\s?[-–]\s?\d{1,2}(?!\d|[.,]\d)"
)
"""Units of time, clock times and spans of them ("8–18")."""
_LASTS = re.compile(
    rf"{_PERIOD}|\b(?:until|till|since|while|as long as|forever|permanent\w*|indefinite\w*|unlimited|lifelong|lifetime"
    r"|bis|seit|solange|während|dauerhaft\w*|auf dauer|unbefristet\w*|unbegrenzt\w*|lebenslang\w*|lebenszeit)\b",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"\b(?:cm|mm|km|m|ft|met(?:er|re)s?|feet|foot|inch(?:es)?|miles?|yards?|characters?|letters?|digits?|words?|lines?"
    r"|pages?|sentences?|bytes?|bits?)\b",
    re.IGNORECASE,
)
"""Units that can answer "how long" in English, where "wie lange" asks for a time."""
_WHEN = re.compile(
    r"^\W*(?:(?:und|and|seit|since) )?(?:wann"
    r"|when(?: (?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have|had)\b|['’]s\b|\W*$))",
    re.IGNORECASE,
)
""""When I print …" asks nothing."""
_SAYS_WHEN = re.compile(
    rf"\d|{_PERIOD}|{_WHENEVER.pattern}"
    r"|\bat (?:half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
    r"|\bum (?:halb|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)\b"
    r"|\b(?:when\w*|if|unless|once|after|before|until|till|during|as soon as|soon|upon"
    r"|within|from|while|following|next|on (?:request|demand|leaving|arrival)|at the|by the|in the|noon|midnight"
    r"|mornings?|evenings?|afternoons?|weekends?|spring|summer|autumn|winter|season|easter|christmas|today|tomorrow|now"
    r"|late\w*|earl\w*|regular\w*|occasion\w*|every|each|wann|wenn|sobald|falls|sofern|soweit|solange|nach\w*|vor\w*"
    r"|bei\w*|während|bis|ab|seit|zum|zur|im|am|innerhalb|binnen|spätestens|frühestens|rechtzeitig|früh\w*|spät\w*"
    r"|morgens?|mittags?|abends?|heute|jetzt|künftig|frühling|sommer|herbst|winter|ostern|weihnachten|ferien|regelmäßig\w*"
    r"|jede\w*|in de[rnm])\b",
    re.IGNORECASE,
)
"""A time, or a condition; prepositions are enough, since they may begin either."""
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|\w+")
_PART = re.compile(r"\n|(?<=[.;!?])\s")
NEAREST = 4
"""Words from what is counted to its number: over 31 sets this refuses nine of 36 wrong answers to questions without
answer, and three right ones; with three words ten and five, with five eight and three."""
_THERE_ARE = re.compile(r"\W*(?:there (?:is|are)|(?:these|they|those) are|es (?:gibt|sind)|das sind)\b", re.IGNORECASE)
"""How a sentence goes on to count what the one before it names: "may apply for the course. There are six places"."""
_COUNTS = word_set(
    "any not both several many alle jede jeder jedes ein eine einen einer einem beide beiden mehrere viele"
)
"""Further words that say how many there are."""
_FREE = re.compile(
    r"\b(?:kost\w* nichts|costs? nothing|frei|free|no charge|without charge|gratis|percent|per cent|prozent)\b"
    r"|%|(?<![\d.,])\d+[.,]\d\d(?![.,]?\d)|kostenlos|kostenfrei|unentgeltlich|gebührenfrei|mietfrei",
    re.IGNORECASE,
)
"""A price that is no amount of money, or has no currency."""
_MONEY = (
    r"(?:steuer|gebühr|beitr[aä]g|entgelt|preis|miete|kaution|pfand|bußgeld|geldstrafe|geldbuße|honorar|gehalt"
    r"|(?<!\w)(?:fee|fine|rent|deposit|tax|price|fare|salary|surcharge|dues|fees|taxes|fares))(?:e[nrs]?|s)?(?!\w)"
)
"""Nouns that are amounts of money, also as the last part of a German compound."""
_PRICE = re.compile(
    r"\bwas kost|\bkostet\b|\bwie teuer\b|\bhow expensive\b"
    r"|\b(?:what|how much) (?:does|do|did|will|would) [^?]{1,60} cost\b",
    re.IGNORECASE,
)
_SUM = re.compile(
    r"\b(?:how (?:much|high)|wie ?hoch) (?:is|are|was|were|ist|sind|war|waren|wäre) (?:[\w-]+ ){0,3}?[\w-]*?" + _MONEY,
    re.IGNORECASE,
)
"""Asks how high an amount of money is."""
_BARE_NUMBER = re.compile(
    r"\d(?![\w.,]*\d)(?!\s?(?!(?:for|on|per|a|an|each|if|in|and|or|from|für|pro|je|im|am|bei|auf|und|oder|jährlich\w*"
    r"|monatlich\w*|einmalig\w*)\b)\w)",
    re.IGNORECASE,
)
"""A number that counts nothing that is named behind it: "300 for the boat", but not "5 dogs"."""
_HOW_MUCH = re.compile(r"\b(?:how (?:much|high)|wie ?(?:viel|hoch|teuer)\b|was kost|kostet|cost)", re.IGNORECASE)
NEAR = 0.3
"""Of the cover of what is counted by a passage."""


def asks_how_much(question: str) -> bool:
    """Whether a question asks how much something is, which may be an amount of money or another one."""
    return _HOW_MUCH.search(question) is not None


def lacks_amount(question: str, text: str) -> bool:
    """Whether a question asks for a price, a number, a measure or a time, and a plain text has none."""
    if _PRICE.search(question):
        return not (has_amount(text) or _FREE.search(text) or _PRICED.search(text))
    if _WHEN.search(question):
        return not (_names_day(text) or _SAYS_WHEN.search(_REFERENCE.sub(" ", text)))
    if _SUM.search(question):
        text = _DATE.sub(" ", _REFERENCE.sub(" ", text))
        return not any(pattern.search(text) for pattern in (_AMOUNT, _COLUMN, _FREE, _PRICED, _BARE_NUMBER))
    asks_how_many = _HOW_MANY.search(question) is not None
    if not asks_how_many and not _MEASURE.search(question):
        return False
    text = _REFERENCE.sub(" ", text)
    if _TIME.search(question):
        if _names_day(text) or _WHENEVER.search(text):
            return False
        if how_long := _HOW_LONG.search(question):
            is_length = how_long[0].casefold() == "how long" and _LENGTH.search(text)
            return not (is_length or _DATE.search(text) or _LASTS.search(text))
    else:
        text = _DATE.sub(" ", text)
    return not _QUANTITY.search(text) and (not asks_how_many or _COUNTS.isdisjoint(words(text)))


def _names_day(text: str) -> bool:
    """Whether a text has the name of a month or of a day of the week."""
    return any(month_of(word) or weekday_of(word) is not None for word in words(text))


def lacks_count(
    question: str, text: str, language: str, question_language: str = "", headings: Sequence[str] = ()
) -> bool:
    """Whether a question asks how many of something there are, and a plain text names it without a number near it.

    Args:
        language: of the analysis of the text.
        question_language: by default the same.
        headings: above the text, outermost first; one that asks the same is answered by a text with a number.
    """
    match = _HOW_MANY.search(question)
    phrase = _BEHIND.split(match["counted"])[0] if match else ""
    named = set(content_terms(phrase, language, question_language)) if phrase else set()
    if not named or not named.issubset(terms(text, language)):
        return False
    text = _DATE.sub(" ", _REFERENCE.sub(" ", text))
    if any(_HOW_MANY.search(heading) and named.issubset(terms(heading, language)) for heading in headings):
        return not _QUANTITY.search(text)
    return not (_is_counted(text, named, language) or _is_column(text, named, language))


def _is_counted(text: str, named: Set[str], language: str) -> bool:
    """Whether a sentence or line has a number near one of the terms, or the next one says how many there are."""
    is_named = False
    for part in _PART.split(text):
        tokens = _TOKEN.findall(part)
        numbers = [at for at, token in enumerate(tokens) if _is_number(token)]
        if is_named and _THERE_ARE.match(part) and any(at <= NEAREST for at in numbers):
            return True
        places = [at for at, token in enumerate(tokens) if not named.isdisjoint(terms(token, language))]
        if any(0 < abs(place - number) <= NEAREST for place in places for number in numbers):
            return True
        is_named = bool(places)
    return False


def _is_number(token: str) -> bool:
    return _QUANTITY.match(token) is not None or token.casefold() in _COUNTS


def _is_column(text: str, named: Set[str], language: str) -> bool:
    """Whether a row of a plain table names one of the terms above a row with a number."""
    rows = [line for line in text.splitlines() if "|" in line]
    heads = [at for at, row in enumerate(rows) if not named.isdisjoint(terms(row, language))]
    return bool(heads) and any(_QUANTITY.search(row) for row in rows[heads[0] + 1 :])


def lacks_counted(question: str, text: str, language: str, cover: Mapping[str, float]) -> bool:
    """Whether a question asks how many of something there are, and a text says nothing near it.

    Args:
        language: of the analysis of the text.
        cover: how far the text covers each content word of the question, in [0, 1].
    """
    match = _HOW_MANY.search(question)
    phrase = _BEHIND.split(match["counted"])[0] if match else ""
    if match and match["how"].casefold().startswith("wie"):
        phrase = " ".join(_NOUN.findall(phrase))
    named = words(phrase)
    shares = {word.casefold(): share for word, share in cover.items()}
    return (
        bool(named)
        and shares.get(named[-1], 1.0) < NEAR
        and set(terms(named[-1], language)).isdisjoint(terms(text, language))
    )
