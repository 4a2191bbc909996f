"""The latest of a series: minutes, mails and notes whose names have dates, of which the newest that answers holds.

"When is the work day?" is answered by the mail of 29 October, not by the minutes of September. A question that names a
month or a year asks for that one: "what was decided in March?" by the minutes of 11 March, though they do not say
"March". "The last meeting" is the one of the newest minutes, however near the others are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from qa_bot.answering.verification.calendar_names import month_of
from qa_core.types import Candidate, Passage

NEAR = 0.72
"""Share of the first passage's evidence that a later one has at least."""
LESS_COVERED = 0.1
"""What a later passage may cover less of the question than the first."""
SHARED = 0.5
"""Share of the words of the shorter title that two documents of a series with years have in common."""
_DATED = re.compile(
    r"(?<!\d)(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])[-_.]?[0-3]\d(?!\d)"
    r"|\b\d{1,2}(?:\.|st|nd|rd|th)? [^\W\d_]{3,9} (?:19|20)\d\d\b"
    r"|\b\d{1,2}\.\d{1,2}\.(?:19|20)\d\d\b|\b[^\W\d_]{3,9} \d{1,2}(?:st|nd|rd|th)?,? (?:19|20)\d\d\b"
    r"|\.(?:eml|mbox|msg)\b"
)
"""A date in a title or in the name of a file, or a mail."""
_MONTH = re.compile(
    r"(?<![^\W_])(?:\d{1,2}[\s_.-]{0,2})?(?P<month>[^\W\d_]{3,9})[\s_.-]{0,2}(?P<year>(?:19|20)\d\d|\d\d)(?!\d)"
)
"""Perhaps a month and its year, as in "minutes_march_2025" and "8APR25"."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^\W\d_]+")

_LATEST = re.compile(
    r"\b(?:(?:the|our|your|its|this|der|die|das|dem|den|des|unsere\w*|la|le|les|du)\s"
    r"(?:very\s)?(?P<word>last|latest|newest|most\srecent|letzte[nrsm]?|neu[e]?ste[nrsm]?|jüngste[nrsm]?|aktuellste[nrsm]?"
    r"|dernière?s?|derniers?))\b",
    re.IGNORECASE,
)
"""Words for the newest of a series."""


def latest_first(question: str, order: Sequence[int], head: Sequence[Candidate], covers: Sequence[float]) -> list[int]:
    """The rows of passages with the latest of the first one's series in front, or those of the month asked for.

    Args:
        order: rows of the passages, best first.
        head: the passages, (P,).
        covers: how far each covers the question, (P,).
    """
    best = order[0]
    dates = [date_in_series(candidate.passage) for candidate in head]
    if not dates[best]:
        return [*order]
    in_series = [_is_same_series(head[best].passage, candidate.passage) for candidate in head]
    years, months = set(_YEAR.findall(question)), months_of(question)
    if years or months:
        is_meant = [
            is_one and bool(date) and int(date[5:7]) in months and (not years or date[:4] in years)
            for is_one, date in zip(in_series, dates, strict=True)
        ]
        return sorted(order, key=lambda at: not is_meant[at])
    if _LATEST.search(question):
        newest = max(date for is_one, date in zip(in_series, dates, strict=True) if is_one)
        return sorted(order, key=lambda at: not (in_series[at] and dates[at] == newest))
    least = NEAR * head[best].score, covers[best] - LESS_COVERED
    are_days = _is_day(dates[best])
    is_alike = [is_one or (are_days and _is_day(date)) for is_one, date in zip(in_series, dates, strict=True)]
    near = [at for at in order if is_alike[at] and head[at].score >= least[0] and covers[at] >= least[1]]
    latest = max(near, key=lambda at: (dates[at], at == best))
    return [latest, *(at for at in order if at != latest)]


def date_in_series(passage: Passage) -> str:
    """The date of a document that has one, or its month and year, in its title or name; "" for others.

    It may be only a year, which the folder may have ("fees 2019/caravans.html").
    """
    date, name = passage.source.details.date, f"{passage.source.title}\n{passage.source.document}"
    if _DATED.search(name) or _has_month_of(date, name):
        return date[:10]
    years = {*_YEAR.findall(passage.source.title), *_YEAR.findall(_file_name(passage))} or _years_of_folder(passage)
    return f"{years.pop()}-00" if len(years) == 1 else ""


def _is_day(date: str) -> bool:
    """Whether a date is one of a day: minutes and mails of different names are one series, prices of years are not."""
    return len(date) > len("2025-00")


def months_of(question: str) -> set[int]:
    """The months that a question names."""
    words = _WORD.findall(question)
    return {month_of(word) for word in words if len(word) > 3 or word in {"May", "Mai"}} - {0}


def words_of_date(question: str, passage: Passage) -> frozenset[str]:
    """The words of a question, in lower case, that the date of a document answers: its month, and "last"."""
    date = date_in_series(passage)
    if not date:
        return frozenset()
    month = int(date[5:7])
    months = (word.casefold() for word in _WORD.findall(question) if month and month_of(word) == month)
    latest = (word.casefold() for match in _LATEST.finditer(question) for word in _WORD.findall(match["word"]))
    return frozenset((*months, *latest))


def _has_month_of(date: str, name: str) -> bool:
    """Whether a name has the month and the year of a date (ISO 8601), with at least two figures of the year."""
    return any(
        f"{month_of(match['month']):02}" == date[5:7] and date[:4].endswith(match["year"])
        for match in _MONTH.finditer(name)
    )


def _is_same_series(one: Passage, other: Passage) -> bool:
    """Whether documents have one title, or one file name, without dates; one name may have further words.

    Titles with a year need half of their words in common: "Prices 2023", "Prices and hours 2025". In folders of years
    they have the same name.
    """
    title, its_title = _words(one.source.title), _words(other.source.title)
    if title == its_title:
        return True
    if _years_of_folder(one) and _years_of_folder(other):
        return _file_name(one) == _file_name(other)
    if _YEAR.search(one.source.title) and _YEAR.search(other.source.title):
        return len(title & its_title) >= max(1, SHARED * min(len(title), len(its_title)))
    name, its_name = (_words(_file_name(passage).partition(".")[0]) for passage in (one, other))
    return bool(name and its_name) and (name <= its_name or its_name <= name)


def _file_name(passage: Passage) -> str:
    return passage.source.document.rpartition("/")[2]


def _years_of_folder(passage: Passage) -> set[str]:
    return {*_YEAR.findall(passage.source.document.rpartition("/")[0])}


def _words(name: str) -> frozenset[str]:
    """The words of a name without its date."""
    return frozenset(word for word in _PART.findall(name.casefold()) if not month_of(word))
