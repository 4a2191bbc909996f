"""States facts as English sentences ("The capital of Australia is Canberra."), with the span of each term."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kg_index.answers.graph_words import Vocabulary
from kg_index.answers.lookup import Lookup
from kg_index.values.literals import XSD, literal
from qa_core.types import Span

_PREPOSITIONS = frozenset("by after for in into of with from to on at as around".split())  # noqa: SIM905
_PRESENT = frozenset("known famous located situated made part member named called".split())  # noqa: SIM905
_VERBS = frozenset(
    "borders orbits measures contains has includes produces uses flows runs lies drains empties belongs leads owns "  # noqa: SIM905
    "plays speaks shares comprises consists eats lives employs governs".split()
)
_MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
_DATE = re.compile(r"(-?)0*(\d{1,9})(?:-(\d\d)(?:-(\d\d))?)?(?:T.*)?(?:Z|[+-]\d\d:\d\d)?")
_DATES = frozenset(XSD + name for name in ("date", "dateTime", "gYear", "gYearMonth"))
_NUMBERS = frozenset(XSD + name for name in ("integer", "decimal", "double", "float", "int", "long"))
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_EVENTS: Mapping[str, str] = {
    "birth": "was born",
    "death": "died",
    "burial": "was buried",
    "invention": "was invented",
    "discovery": "was discovered",
    "foundation": "was founded",
    "founding": "was founded",
    "independence": "became independent",
    "construction": "was built",
    "completion": "was completed",
    "publication": "was published",
    "release": "was released",
    "abolition": "was abolished",
    "marriage": "married",
}
_WHEN_WHERE = re.compile(r"(?:date|day|year|place|city|country) of (\w+)")
_DAY = re.compile(r"\d{1,2} [A-Z]")
SHOWN = 20  # terms of a list; of further ones the number
LONGEST = 4_000  # characters of a term
UNNAMED = "something"  # a blank node without a name


@dataclass(frozen=True, slots=True)
class SpannedText:
    """A text with the spans of its terms, by id."""

    text: str
    spans: Mapping[int, Span]


class Verbaliser:
    """Writes facts in English with the labels of one generation of a graph."""

    def __init__(self, lookup: Lookup, vocabulary: Vocabulary) -> None:
        self._lookup, self._vocabulary = lookup, vocabulary
        self.label = lru_cache(maxsize=20_000)(lookup.label)

    def value(self, number: int, predicate: int | None = None) -> str:
        """A term as people write it: a name, a date in words, or a number with the unit of its predicate."""
        term = self._lookup.triples.term(number)
        if (parts := literal(term)) is None:
            if term.startswith("_:") and not self._vocabulary.names(number).from_graph:
                return UNNAMED
            name = shortened(self.label(number))
            has_article = f"the {name}".casefold() in (text.casefold() for text in self._vocabulary.names(number).texts)
            return f"the {name}" if has_article else name
        if parts.datatype in _DATES:
            return shortened(date_text(parts.text))
        unit = "" if predicate is None else self._vocabulary.unit(predicate)
        if parts.datatype in _NUMBERS or (unit and _is_number(parts.text)):
            return shortened(f"{number_text(parts.text)} {unit}".strip())
        return shortened(parts.text)

    def predicate(self, predicate: int) -> str:
        """The best name of a predicate, with a small first letter unless it starts with an acronym."""
        name = self._vocabulary.names(predicate).texts[0]
        return name[:1].lower() + name[1:] if name[1:2].islower() or not name[1:2].isalpha() else name

    def sentence(
        self,
        subjects: Sequence[int],
        predicate: int,
        objects: Sequence[int],
        *,
        shown: int = SHOWN,
        more: bool = False,
        capital: bool = True,
    ) -> SpannedText:
        """One sentence for facts that share their subject or their object.

        Args:
            more: whether the graph has more terms than the given ones.
            capital: whether a term at the start of the sentence is capitalised.
        """
        pieces = _Pieces(capital=capital)
        name = self.predicate(predicate)
        form = form_of(name)
        event = _event(name) if len(subjects) == len(objects) == 1 and not more else ""
        if event:
            pieces.add(self.value(subjects[0]), subjects[0])
            happened = self.value(objects[0], predicate)
            pieces.add(f" {event} {'on' if _DAY.match(happened) else 'in'} ")
        elif form == "noun":
            several = len(objects) > 1
            pieces.add(f"The {plural(name) if several else name} of ")
            self._list(pieces, subjects, None, shown, more=more and len(subjects) > 1)
            pieces.add(" are " if several else " is ")
        else:
            self._list(pieces, subjects, None, shown, more=more and len(subjects) > 1)
            several = len(subjects) > 1
            verb = name if form == "verb" else f"{_to_be(form, several=several)} {name}"
            pieces.add(f" {_without_s(verb) if form == 'verb' and several else verb} ")
        self._list(pieces, objects, predicate, shown, more=more and len(objects) > 1)
        pieces.add("." if not pieces.text.endswith(".") else "")
        return pieces.worded()

    def kind(self, subject: int, kinds: Sequence[int], *, capital: bool = True) -> SpannedText:
        """The class of an entity: "Mars is one of the planets."."""
        pieces = _Pieces(capital=capital)
        pieces.add(self.value(subject), subject)
        for i, kind in enumerate(kinds):
            pieces.add(f" {'and' if i else 'is'} one of the ")
            pieces.add(plural(self.predicate(kind)), kind)
        pieces.add(".")
        return pieces.worded()

    def count(
        self, numbers: Sequence[int], predicate: int | None = None, *, shown: int = SHOWN, more: bool = False
    ) -> SpannedText:
        """The number of terms that the graph has, and the terms: "2 are known: …"."""
        pieces = _Pieces()
        pieces.add(f"{'At least ' * more}{len(numbers):,} {'is' if len(numbers) == 1 else 'are'} known: ")
        self._list(pieces, numbers, predicate, shown, more=more)
        pieces.add(".")
        return pieces.worded()

    def listed(self, numbers: Sequence[int], *, shown: int = SHOWN, more: bool = False) -> SpannedText:
        """A list of terms as a sentence."""
        pieces = _Pieces()
        self._list(pieces, numbers, None, shown, more=more)
        pieces.add(".")
        return pieces.worded()

    def _list(
        self, pieces: _Pieces, numbers: Sequence[int], predicate: int | None, shown: int, *, more: bool = False
    ) -> None:
        for position, number in enumerate(numbers[:shown], start=1):
            pieces.add("" if position == 1 else " and " if position == len(numbers) else ", ")
            pieces.add(self.value(number, predicate), number)
        if len(numbers) > shown:
            pieces.add(f" and {'at least ' * more}{len(numbers) - shown:,} more")


class _Pieces:
    """Builds a text with spans."""

    def __init__(self, *, capital: bool = True) -> None:
        self.text, self._spans, self._capital = "", dict[int, Span](), capital

    def add(self, text: str, number: int | None = None) -> None:
        start = len(self.text)
        if not start and (number is None or self._capital):
            text = capitalised(text)
        self.text += text
        if number is not None:
            self._spans.setdefault(number, (start, len(self.text)))

    def worded(self) -> SpannedText:
        return SpannedText(self.text, self._spans)


def _event(name: str) -> str:
    """What happened, as a verb, if a predicate says when or where: "was born" for "date of birth"."""
    match = _WHEN_WHERE.fullmatch(name.lower())
    return _EVENTS.get(match[1], "") if match else ""


def form_of(name: str) -> str:
    """The grammatical form of a predicate's name: "noun", "verb", or a participle after "is" ("present") or "was"."""
    first, *rest = name.lower().split()
    if first in _VERBS:
        return "verb"
    if not rest or rest[-1] not in _PREPOSITIONS:
        return "noun"
    return "present" if first in _PRESENT and rest[-1] != "after" else "past"


def capitalised(text: str) -> str:
    """With a capital first letter, unless that changes the length."""
    first = text[:1].upper()
    return first + text[1:] if len(first) == 1 else text


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def plural(name: str) -> str:
    """The plural of a noun phrase; of "place of birth", "places of birth"."""
    head, of, rest = name.partition(" of ")
    if re.search(r"(?:[^s]s|\d)$", head):
        return name
    if re.search(r"[^aeiou]y$", head):
        head = f"{head[:-1]}ies"
    else:
        head += "es" if re.search(r"(?:s|x|z|ch|sh)$", head) else "s"
    return f"{head}{of}{rest}"


def date_text(text: str) -> str:
    """A date of XML Schema in words: "1867-11-07" is "7 November 1867", "-0043" is "44 BC"."""
    parts = _DATE.fullmatch(text.strip())
    if parts is None:
        return text
    before, year, month, day = parts.groups()
    words = f"{int(year) + 1} BC" if before or not int(year) else str(int(year))
    if month and not 1 <= int(month) <= 12:
        return text
    if month:
        words = f"{_MONTHS[int(month) - 1]} {words}"
    return f"{int(day)} {words}" if day else words


def number_text(text: str) -> str:
    """A number with thousands separators; "5.972e24" is "5.972 × 10²⁴"."""
    mantissa, e, exponent = text.strip().lower().partition("e")
    if not _is_number(text):
        return text
    try:
        whole, dot, rest = mantissa.partition(".")
        formatted = f"{int(whole):,}" if len(whole.lstrip("+-")) > 4 else str(int(whole))
        formatted = "-" + formatted if whole.startswith("-") and int(whole) == 0 else formatted
        power = int(exponent) if e else 0
    except ValueError:
        return text
    digits = rest if rest.strip("0") else ""
    formatted += dot + digits if digits else ""
    return formatted if not power else f"{formatted} × 10{str(power).translate(_SUPERSCRIPT)}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _to_be(form: str, *, several: bool) -> str:
    if form == "present":
        return "are" if several else "is"
    return "were" if several else "was"


def _without_s(verb: str) -> str:
    first, blank, rest = verb.partition(" ")
    if first == "has":
        first = "have"
    elif first.endswith("ies") and len(first) > 4:
        first = f"{first[:-3]}y"
    return first.removesuffix("s") + blank + rest
