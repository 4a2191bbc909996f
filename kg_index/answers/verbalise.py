"""Facts as sentences: "The capital of Australia is Canberra.", with the places where each term stands."""

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
SHOWN = 20  # terms of a list; of further ones their number is told
LONGEST = 4_000  # characters of a term
NAMELESS = "something"  # a blank node


@dataclass(frozen=True, slots=True)
class SpannedText:
    """A text, and where terms stand in it."""

    text: str
    spans: Mapping[int, Span]


class Verbaliser:
    """Words facts in English, by the labels of one generation of a graph."""

    def __init__(self, lookup: Lookup, vocabulary: Vocabulary) -> None:
        self._lookup, self._vocabulary = lookup, vocabulary
        self.label = lru_cache(maxsize=20_000)(lookup.label)

    def value(self, number: int, predicate: int | None = None) -> str:
        """A term as people write it: a name, a date in words, a number with the unit that its predicate has."""
        term = self._lookup.triples.term(number)
        if (found := literal(term)) is None:
            if term.startswith("_:") and not self._vocabulary.names(number).from_graph:
                return NAMELESS
            name = shortened(self.label(number))
            known = f"the {name}".casefold() in (each.casefold() for each in self._vocabulary.names(number).texts)
            return f"the {name}" if known else name
        if found.datatype in _DATES:
            return shortened(date_text(found.text))
        unit = "" if predicate is None else self._vocabulary.unit(predicate)
        if found.datatype in _NUMBERS or (unit and _is_number(found.text)):
            return shortened(f"{number_text(found.text)} {unit}".strip())
        return shortened(found.text)

    def predicate(self, predicate: int) -> str:
        """The best name of a predicate, in small letters where it begins with a plain word."""
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
        """One sentence for facts that share their subject or their object, with one term at least on either side.

        Args:
            more: the graph has more of what is listed than what is given.
            capital: whether a term may begin the sentence with a large letter of its own.
        """
        pieces = _Pieces(capital=capital)
        name = self.predicate(predicate)
        form = form_of(name)
        if form == "noun":
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
        """What something is: "Mars is one of the planets."."""
        pieces = _Pieces(capital=capital)
        pieces.add(self.value(subject), subject)
        for place, kind in enumerate(kinds):
            pieces.add(f" {'and' if place else 'is'} one of the ")
            pieces.add(plural(self.predicate(kind)), kind)
        pieces.add(".")
        return pieces.worded()

    def count(
        self, numbers: Sequence[int], predicate: int | None = None, *, shown: int = SHOWN, more: bool = False
    ) -> SpannedText:
        """How many the graph knows, and which: there may be others."""
        pieces = _Pieces()
        pieces.add(f"{'At least ' * more}{len(numbers):,} {'is' if len(numbers) == 1 else 'are'} known: ")
        self._list(pieces, numbers, predicate, shown, more=more)
        pieces.add(".")
        return pieces.worded()

    def listed(self, numbers: Sequence[int], *, shown: int = SHOWN, more: bool = False) -> SpannedText:
        """Terms, with commas between."""
        pieces = _Pieces()
        self._list(pieces, numbers, None, shown, more=more)
        pieces.add(".")
        return pieces.worded()

    def _list(
        self, pieces: _Pieces, numbers: Sequence[int], predicate: int | None, shown: int, *, more: bool = False
    ) -> None:
        for place, number in enumerate(numbers[:shown], start=1):
            pieces.add("" if place == 1 else " and " if place == len(numbers) else ", ")
            pieces.add(self.value(number, predicate), number)
        if len(numbers) > shown:
            pieces.add(f" and {'at least ' * more}{len(numbers) - shown:,} more")


class _Pieces:
    """A text that grows."""

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


def form_of(name: str) -> str:
    """How a predicate's name stands in a sentence: "noun", "verb", or what "to be" goes before: "present", "past"."""
    first, *rest = name.lower().split()
    if first in _VERBS:
        return "verb"
    if not rest or rest[-1] not in _PREPOSITIONS:
        return "noun"
    return "present" if first in _PRESENT and rest[-1] != "after" else "past"


def capitalised(text: str) -> str:
    """With a large first letter, where that is one letter: the text keeps its length."""
    first = text[:1].upper()
    return first + text[1:] if len(first) == 1 else text


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def plural(name: str) -> str:
    """The plural of a noun phrase: of "place of birth" that of its first noun."""
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
    told = f"{int(year) + 1} BC" if before or not int(year) else str(int(year))
    if month and not 1 <= int(month) <= 12:
        return text
    if month:
        told = f"{_MONTHS[int(month) - 1]} {told}"
    return f"{int(day)} {told}" if day else told


def number_text(text: str) -> str:
    """A number with its thousands apart: "5.972e24" is "5.972 × 10²⁴"."""
    mantissa, e, exponent = text.strip().lower().partition("e")
    if not _is_number(text):
        return text
    try:
        whole, dot, rest = mantissa.partition(".")
        told = f"{int(whole):,}" if len(whole.lstrip("+-")) > 4 else str(int(whole))
        told = "-" + told if whole.startswith("-") and int(whole) == 0 else told
        power = int(exponent) if e else 0
    except ValueError:
        return text
    digits = rest if rest.strip("0") else ""
    told += dot + digits if digits else ""
    return told if not power else f"{told} × 10{str(power).translate(_SUPERSCRIPT)}"


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
