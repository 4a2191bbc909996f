"""Contacts: whether a question asks whom to contact or how to reach a person, and whether a text says it.

"Who do I ask about leave?" is answered by "Leave team: extension 3110", which has no word of the question.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_VERB = (
    r"(?:ask|call|contact|phone|telephone|ring|text|e-?mail|mail|message|write|speak|talk|turn|go|reach|approach|inform"
    r"|notify|tell|report|complain|send|get in touch)"
)
_DO_I = r"(?:do|does|can|could|should|would|must|may|shall|will) (?:i|we|you|one|people|staff|they|he|she)"
_BY_NAME = (
    r"\b(?:phone|telephone|mobile|fax|extension) numbers?\b",
    r"\be-?mail address\b",
    r"\bcontact (?:details?|address|number)\b",
    r"\b(?:telefon|handy|fax)nummer\b",
    r"\be-?mail-?adresse\b",
    r"\bkontaktdaten\b",
    r"\bnuméro de téléphone\b",
    r"\badresse (?:e-?mail|électronique)\b",
)
_BY_VERB = (
    rf"\bwhom? {_DO_I} (?:\w+ )?(?:to )?{_VERB}\b",
    rf"\bwhom? to {_VERB}\b",
    r"\bwhom? can help\b",
    rf"\bhow {_DO_I} (?:contact|reach|phone|ring|get (?:hold of|in touch with|through to))\b",
    r"\bnumber (?:do|can|should|must) (?:i|we|you) (?:call|ring)\b",
    r"\bcontact (?:persons?|information)\b",
    r"\b(?:an wen|bei wem|mit wem) (?:wende|melde|schreibe|spreche|rede|kann|muss|soll|sollte|darf)\b",
    r"\bwen (?:rufe|frage|kontaktiere|informiere|kann|muss|soll|sollte) (?:ich|man|wir)\b",
    r"\bansprechpartner\w*",
    r"\bwie erreiche(?: ich|n wir)\b",
    r"\bqui (?:contacter|appeler|prévenir)\b",
    r"\b(?:à )?qui (?:dois-je|puis-je|peut-on|faut-il)\b",
)
_NAMED = re.compile("|".join(_BY_NAME), re.IGNORECASE)
_ASKS = re.compile("|".join((*_BY_NAME, *_BY_VERB)), re.IGNORECASE)
_FAX = re.compile("fax", re.IGNORECASE)
_NO_NUMBER_BEFORE = r"(?<![\w.,£$€/-])"
_ADDRESS = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    rf"|{_NO_NUMBER_BEFORE}(?:\+\d{{1,3}}[ ()-]*|\(?0)\d[\d ()/-]{{5,}}\d(?![\w%])"
    rf"|{_NO_NUMBER_BEFORE}(?:1-)?\(?\d{{3}}\)?[ -]\d{{3}}[ -]\d{{4}}\b"
    r"|\b(?:ext\.?|extension|tel\.?|phone|telephone|call|dial|durchwahl|telefon|nebenstelle)[:\s]+\d[\d -]+\d\b"
    r"|(?<![\w&/#])#[a-z][a-z0-9_-]{2,}\b",
    re.IGNORECASE,
)
"""An address of e-mail, a telephone number, an extension, or a channel of a chat."""
_MARKS = str.maketrans("", "", "*`")
_WORD = re.compile(r"\w+")
_WAYS = """
address addresses call concern concerns contact details e mail email emails extension fax issue issues message mobile
number numbers person phone problem problems query question questions reach ring speak talk telephone trouble turn write
adresse anrufen anschrift ansprechpartner ansprechpartnerin durchwahl erreiche erreichen faxnummer frage fragen
handynummer kontakt kontaktdaten kontaktiere mailadresse melde melden nummer problem probleme rufe schreibe schreiben
spreche sprechen telefon telefonnummer wende wenden
adresse appeler contacter numéro téléphone
"""
WAYS = frozenset(_WAYS.split())
"""Words that a number or an address answers: a text with "extension 3110" need not say "phone"."""


class AskedContact(NamedTuple):
    """What a question says about the contact that it asks for; nothing by default.

    `words` are those that ask, in lower case; `by_name` if it names a number or an address, without which no text
    answers it; `by_fax` if that is the number of a fax, which no telephone number answers.
    """

    words: frozenset[str] = frozenset()
    by_name: bool = False
    by_fax: bool = False

    @classmethod
    def of(cls, question: str) -> AskedContact:
        """The contact that a question asks for."""
        asking = frozenset(word.casefold() for match in _ASKS.finditer(question) for word in _WORD.findall(match[0]))
        named = _NAMED.search(question)
        by_fax = named is not None and _FAX.search(named[0]) is not None
        return cls(asking | WAYS, named is not None, by_fax) if asking else NO_CONTACT

    def is_in(self, text: str) -> bool:
        """Whether the question asks for a contact, and the text names a number, an address of e-mail or a channel."""
        if not self.words or (self.by_fax and not _FAX.search(text)):
            return False
        return _ADDRESS.search(text.translate(_MARKS)) is not None


NO_CONTACT = AskedContact()
