"""The latest of a series: minutes, mails and notes whose names have dates, of which the newest that answers holds.

"When is the work day?" is answered by the mail of 29 October, not by the minutes of September. A question that names a
month or a year asks for that one.
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
_DATED = re.compile(
    r"(?<!\d)(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])[-_.]?[0-3]\d(?!\d)"
    r"|\b\d{1,2}(?:\.|st|nd|rd|th)? [^\W\d_]{3,9} (?:19|20)\d\d\b"
    r"|\b\d{1,2}\.\d{1,2}\.(?:19|20)\d\d\b|\b[^\W\d_]{3,9} \d{1,2}(?:st|nd|rd|th)?,? (?:19|20)\d\d\b"
    r"|\.(?:eml|mbox|msg)\b"
)
"""A date in a title or in the name of a file, or a mail."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"\w+")


def latest_first(question: str, order: Sequence[int], head: Sequence[Candidate], covers: Sequence[float]) -> list[int]:
    """The rows of passages with the latest of the first one's series in front.

    Args:
        order: rows of the passages, best first.
        head: the passages, (P,).
        covers: how far each covers the question, (P,).
    """
    best = order[0]
    if not _date_in_series(head[best].passage) or _names_month_or_year(question):
        return [*order]
    least = NEAR * head[best].score, covers[best] - LESS_COVERED
    near = [at for at in order if head[at].score >= least[0] and covers[at] >= least[1]]
    latest = max(near, key=lambda at: (_date_in_series(head[at].passage), at == best))
    return [latest, *(at for at in order if at != latest)]


def _date_in_series(passage: Passage) -> str:
    """The date of a document that has one in its name; "" for others."""
    source = passage.source
    is_dated = _DATED.search(f"{source.title}\n{source.document}") is not None
    return source.details.date[:10] if is_dated else ""


def _names_month_or_year(question: str) -> bool:
    words = _WORD.findall(question)
    months = (word for word in words if month_of(word) and (len(word) > 3 or word in {"May", "Mai"}))
    return _YEAR.search(question) is not None or any(months)
