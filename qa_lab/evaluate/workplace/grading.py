"""Grades replies: are the gold texts in the lead, in the answer, or in neither?

3   every group of gold in the lead, and no wrong text there
2   every group somewhere in the answer
1   some groups, or a right document as first source
0   an answer with none of it
X   refused although the documents answer it
A   refused, rightly

Blanks, case, Markdown marks, forms of quotes and dashes, and thousands separators make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from qa_lab.evaluate.workplace.questions import GradedQuestion, Groups
from qa_lab.reference.replies import Reply

Grade = Literal["3", "2", "1", "0", "A", "X"]
GRADES: tuple[Grade, ...] = ("3", "2", "1", "0", "A", "X")
POINTS: Mapping[Grade, float] = {"3": 1.0, "A": 1.0, "2": 2 / 3, "1": 1 / 3, "0": -1 / 3, "X": 0.0}
"""The score of a set of questions is the mean of their points."""

_MARKS = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‑": "-", "*": "", "`": "", "|": " "}
)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_OUTER_UNDERSCORES = re.compile(r"(?<!\w)_+|_+(?!\w)")
_THOUSANDS = re.compile(r"(?<=\d)[,\u202f\u00a0](?=\d{3}\b)")
_PERCENT = re.compile(r"(?<=\d) %")


def grade(question: GradedQuestion, reply: Reply) -> Grade:
    """The grade of a reply; an answer without text holds nothing."""
    if not reply.answered:
        return "X" if question.gold else "A"
    if not question.gold:
        return "0"
    text = flat(reply.text)
    lead = text[: question.lead]
    if holds_all(lead, question.gold) and not any(holds(lead, wrong) for wrong in question.wrong):
        return "3"
    if holds_all(text, question.gold):
        return "2"
    some = any(holds_one(text, group) for group in question.gold)
    return "1" if some or is_first_source(question, reply) else "0"


def is_first_source(question: GradedQuestion, reply: Reply) -> bool:
    """Whether the first source is one of the question's documents."""
    return any(names(path, document) for path in question.documents for document in reply.documents[:1])


def names(path: str, document: str) -> bool:
    """Whether a document's id means the file `path`: it ends with it, before a `#section` or a `!member`."""
    return f"/{document}".split("#")[0].split("!")[0].endswith(f"/{path}")


def holds_all(flattened: str, gold: Groups) -> bool:
    """Whether a flat text holds an alternative of every group."""
    return all(holds_one(flattened, group) for group in gold)


def holds_one(flattened: str, group: Sequence[str]) -> bool:
    return any(holds(flattened, alternative) for alternative in group)


def holds(flattened: str, alternative: str) -> bool:
    """Whether a flat text holds the alternative as whole words and numbers, or its regular expression matches."""
    if alternative.startswith("re:"):
        return re.search(alternative[3:], flattened, re.IGNORECASE) is not None
    exact = re.escape(flat(alternative))
    return re.search(rf"(?<!\w)(?<!\d[.,]){exact}(?!\w|[.,]\d)", flattened) is not None


def flat(text: str) -> str:
    """Text in lower case, without links, emphasis and table borders, with single blanks and plain quotes and dashes."""
    text = _LINK.sub(r"\1", text).lower().translate(_MARKS)
    text = _THOUSANDS.sub("", _OUTER_UNDERSCORES.sub("", text))
    return _PERCENT.sub("%", " ".join(text.split()))
