"""What precedes a figure that no longer holds, in the language of the question."""

from __future__ import annotations

from typing import NamedTuple

from qa_core.text.language_detection import language_of


class Former(NamedTuple):
    """With the year until which it held, with the date of its document, or without either."""

    until: str
    dated: str
    undated: str


ENGLISH = Former("Until {year}: ", "Formerly ({date}): ", "Formerly: ")
FORMER = {
    "en": ENGLISH,
    "de": Former("Bis {year}: ", "Früher ({date}): ", "Früher: "),
    "fr": Former("Jusqu'en {year} : ", "Auparavant ({date}) : ", "Auparavant : "),
    "es": Former("Hasta {year}: ", "Antes ({date}): ", "Antes: "),
    "it": Former("Fino al {year}: ", "In precedenza ({date}): ", "In precedenza: "),
}
"""By the code of the language."""


def formerly(question: str, *, year: str, date: str) -> str:
    """The words in front of a former figure.

    Args:
        year: until which it held, "" if unknown.
        date: of its document (ISO 8601), "" if unknown.
    """
    wording = FORMER.get(language_of(question, "en", is_question=True), ENGLISH)
    if year:
        return wording.until.format(year=year)
    return wording.dated.format(date=date[:10]) if date else wording.undated
