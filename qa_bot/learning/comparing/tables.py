"""The table of a comparison: how often each side was preferred, and whether that may be chance, by grade and over all.

It follows the study of machine against human answers in Wang (2018), ch. 7.3.3, tables 7.5 and 7.6: judges choose the
better of two answers or a tie, and each grade has a row. A question belongs to the row of its better answer, or of its
only graded answer. Grades from a file or from qrels take precedence over those of judges, whose mean is rounded half
up.

Judges of one question are not independent, so all figures are computed over questions. A share is the mean over
questions of the judges' shares. The difference is A's share − B's, with a 95 % bootstrap interval over questions. The
side that most judges of a question chose wins it; without such a side it is a tie, which the sign test leaves out. The
randomisation test uses the differences of all questions.

Identical answers are ties without judges. Questions without a judgement are left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from qa_bot.learning.comparing.blind import Choice
from qa_bot.learning.comparing.comparison import Comparison, Pair
from qa_bot.learning.comparing.judgements import Judgement, Judgements
from qa_bot.learning.comparing.sides import GRADES
from qa_core.measures.agreement import krippendorff_alpha
from qa_core.measures.metrics import Difference, paired_bootstrap
from qa_core.measures.significance import LEAST_P, SEED, randomisation_test, sign_test

ALL, UNGRADED = "all", "ungraded"
LABELS = ("0 bad", "1 fair", "2 good", "3 excellent")
LEVEL = 0.05
"""A difference with a smaller p is called significant."""


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of the questions of one grade; the shares are 0 without judgements."""

    grade: str
    questions: int
    judgements: int
    prefer_a: float
    tie: float
    prefer_b: float
    won_a: int
    """Questions that A won; the questions that neither side won are ties."""
    won_b: int
    p: float
    """Of the sign test, two-sided."""
    p_randomised: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Table:
    """Rows by grade if grades are known, then the row over all; `alpha` is NaN if it is undefined."""

    comparison: Comparison
    rows: tuple[Row, ...]
    judges: Mapping[str, int]
    alpha: float
    waiting: int
    """Questions without a judgement."""

    @property
    def all(self) -> Row:
        return self.rows[-1]

    def conclusion(self, a: str = "A", b: str = "B") -> str:
        """The row over all in words."""
        row = self.all
        if not row.judgements:
            return "Nothing was judged yet." if self.waiting else "All answers are identical."
        if row.won_a == row.won_b:
            return f"{a} and {b} were preferred as often: {_questions(row.won_a)} each."
        better, worse = (a, b) if row.won_a > row.won_b else (b, a)
        won, lost = max(row.won_a, row.won_b), min(row.won_a, row.won_b)
        sentence = f"{better} was preferred more often than {worse}: {_questions(won)} to {lost}, {format_p(row.p)}"
        return sentence + ("." if row.p < LEVEL else ", which may be chance.")

    def as_dict(self, *, reveal: bool = True) -> dict[str, Any]:
        """The JSON object, with the names of the sides if `reveal`."""
        comparison = self.comparison
        names = {"a": comparison.a, "b": comparison.b} if reveal else {}
        return {
            "comparison": comparison.name,
            **names,
            "questions": len(comparison.pairs),
            "identical": comparison.identical,
            "waiting": self.waiting,
            "only_a": comparison.only_a,
            "only_b": comparison.only_b,
            "judges": dict(self.judges),
            "alpha": None if math.isnan(self.alpha) else round(self.alpha, 6),
            "conclusion": self.conclusion(*names.values()),
            "rows": [{name: _rounded(value) for name, value in asdict(row).items()} for row in self.rows],
        }


def format_p(p: float) -> str:
    """`p = .021`, as tables of papers write it."""
    if p < LEAST_P:
        return f"p < {LEAST_P:g}".replace("0.", ".")
    return f"p = {p:.3f}".replace("0.", ".") if p < 1 else "p = 1"


def table_of(comparison: Comparison, judgements: Judgements) -> Table:
    """The table of all judgements so far."""
    by_question = judgements.by_question
    questions = {pair.qid: _Question.of(pair, by_question.get(pair.qid, {})) for pair in comparison.pairs}
    decided = {qid: question for qid, question in questions.items() if question.choices or question.identical}
    grades = {question.grade for question in decided.values()}
    levels = [grade for grade in (*GRADES, None) if grade in grades] if grades - {None} else []
    rows = [_row(_label(level), {q: row for q, row in decided.items() if row.grade == level}) for level in levels]
    alpha = krippendorff_alpha([question.choices for question in decided.values()])
    waiting = len(questions) - len(decided)
    return Table(comparison, (*rows, _row(ALL, decided)), judgements.judges, alpha, waiting)


@dataclass(frozen=True, slots=True)
class _Question:
    """The choices of a question's judges, and the grade of its better answer."""

    choices: tuple[Choice, ...]
    identical: bool
    grade: int | None

    @classmethod
    def of(cls, pair: Pair, judges: Mapping[str, Judgement]) -> _Question:
        judgements = list(judges.values())
        grades = [_grade(pair.grade_a, "A", judgements), _grade(pair.grade_b, "B", judgements)]
        best = max((grade for grade in grades if grade is not None), default=None)
        return cls(tuple(judgement.choice for judgement in judgements), pair.identical, best)

    def share(self, choice: Choice) -> float:
        if self.identical:
            return float(choice == "tie")
        return self.choices.count(choice) / len(self.choices)

    @property
    def winner(self) -> Choice:
        """The most frequent choice; a tie if two are equally frequent."""
        first, *others = Counter(self.choices).most_common(2) or [("tie", 0)]
        return "tie" if others and others[0][1] == first[1] else first[0]


def _grade(known: int | None, side: Literal["A", "B"], judgements: Sequence[Judgement]) -> int | None:
    """The known grade, or else the mean of the judges' grades."""
    if known is not None:
        return known
    grades = [judgement.grade[side] for judgement in judgements if side in judgement.grade]
    return math.floor(sum(grades) / len(grades) + 0.5) if grades else None


def _row(grade: str, questions: Mapping[str, _Question]) -> Row:
    a, tie, b = ({qid: question.share(choice) for qid, question in questions.items()} for choice in _CHOICES)
    winners = Counter(question.winner for question in questions.values())
    spread = paired_bootstrap(a, b, seed=SEED) if questions else Difference(0.0, 0.0, 0.0, 1.0)
    return Row(
        grade=grade,
        questions=len(questions),
        judgements=sum(len(question.choices) for question in questions.values()),
        prefer_a=_mean(a),
        tie=_mean(tie),
        prefer_b=_mean(b),
        won_a=winners["A"],
        won_b=winners["B"],
        p=sign_test(winners["A"], winners["B"]),
        p_randomised=randomisation_test([a[qid] - b[qid] for qid in questions], seed=SEED),
        difference=spread.difference,
        low=spread.low,
        high=spread.high,
    )


def _mean(shares: Mapping[str, float]) -> float:
    return sum(shares.values()) / max(1, len(shares))


def _questions(count: int) -> str:
    return f"{count:,} question" + "s" * (count != 1)


def _label(grade: int | None) -> str:
    return UNGRADED if grade is None else LABELS[grade]


def _rounded(value: object) -> object:
    return round(value, 6) if isinstance(value, float) else value


_CHOICES: tuple[Choice, ...] = ("A", "tie", "B")
