"""The table of a comparison: who was preferred how often, and whether that may be chance, by grade and over all.

It follows the study of machine against human answers in ch. 7.3.3 of the thesis (tables 7.5 and 7.6): judges choose the
better of two answers or a tie, and there is a row for each grade of an answer. “By grade” is read so: a question stands
in the row of the better of its two answers, as far as their grades are known; where only one side was graded, as there,
the row is that side's grade. Grades of a file or of qrels count before those of judges, whose mean is rounded up from
a half.

Judges of one question are not independent, so everything is computed over questions. Shares are means over questions
of the judges' shares, the difference is A's share − B's, with a 95 % interval from questions drawn with replacement. A
question is won by the side that more of its judges chose than anything else, and is a tie where nothing leads; the sign
test leaves ties out. The randomisation test is of the differences of all questions, which it takes as they are.

Identical answers are ties without judges. Questions that nobody has judged yet are left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from qa_bot.learning.comparing.blind import Choice
from qa_bot.learning.comparing.comparison import Comparison, Pair
from qa_bot.learning.comparing.judgements import Judged, Judgement
from qa_bot.learning.comparing.sides import GRADES
from qa_core.measures.agreement import krippendorff_alpha
from qa_core.measures.metrics import Difference, paired_bootstrap
from qa_core.measures.significance import LEAST_P, SEED, randomisation_test, sign_test

ALL, UNGRADED = "all", "ungraded"
LABELS = ("0 bad", "1 fair", "2 good", "3 excellent")
LEVEL = 0.05
"""Of p under which a difference is called one."""


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of the questions of one grade; the shares are 0 where nothing was judged."""

    grade: str
    questions: int
    judgements: int
    prefer_a: float
    tie: float
    prefer_b: float
    won_a: int
    """Questions that A won; `won_b` those that B did, the rest are ties."""
    won_b: int
    p: float
    """Of the sign test, two-sided."""
    p_randomised: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Table:
    """Rows by grade where grades are known, the row over all last; `alpha` is NaN where it has no value."""

    comparison: Comparison
    rows: tuple[Row, ...]
    judges: Mapping[str, int]
    alpha: float
    waiting: int
    """Questions that nobody has judged yet."""

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
        told = f"{better} was preferred more often than {worse}: {_questions(won)} to {lost}, {shown_p(row.p)}"
        return told + ("." if row.p < LEVEL else ", which may be chance.")

    def as_dict(self, *, reveal: bool = True) -> dict[str, Any]:
        """For JSON; the names of the sides only where they are to be revealed."""
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


def shown_p(p: float) -> str:
    """`p = .021`, as in the field's tables."""
    if p < LEAST_P:
        return f"p < {LEAST_P:g}".replace("0.", ".")
    return f"p = {p:.3f}".replace("0.", ".") if p < 1 else "p = 1"


def table_of(comparison: Comparison, judged: Judged) -> Table:
    """The table of what was judged so far."""
    known = {pair.qid: _Question.of(pair, judged.by_question.get(pair.qid, {})) for pair in comparison.pairs}
    told = {qid: each for qid, each in known.items() if each.choices or each.identical}
    grades = {each.grade for each in told.values()}
    levels = [grade for grade in (*GRADES, None) if grade in grades] if grades - {None} else []
    rows = [_row(_label(grade), {q: each for q, each in told.items() if each.grade == grade}) for grade in levels]
    alpha = krippendorff_alpha([each.choices for each in told.values()])
    return Table(comparison, (*rows, _row(ALL, told)), judged.judges, alpha, len(known) - len(told))


@dataclass(frozen=True, slots=True)
class _Question:
    """What is known of one question: what its judges chose, and how good the better answer is."""

    choices: tuple[Choice, ...]
    identical: bool
    grade: int | None

    @classmethod
    def of(cls, pair: Pair, judges: Mapping[str, Judgement]) -> _Question:
        said = list(judges.values())
        grades = [_grade(pair.grade_a, "A", said), _grade(pair.grade_b, "B", said)]
        best = max((grade for grade in grades if grade is not None), default=None)
        return cls(tuple(each.choice for each in said), pair.identical, best)

    def share(self, choice: Choice) -> float:
        if self.identical:
            return float(choice == "tie")
        return self.choices.count(choice) / len(self.choices)

    @property
    def winner(self) -> Choice:
        """What more judges chose than anything else; a tie where nothing leads."""
        first, *others = Counter(self.choices).most_common(2) or [("tie", 0)]
        return "tie" if others and others[0][1] == first[1] else first[0]


def _grade(given: int | None, side: Literal["A", "B"], said: Sequence[Judgement]) -> int | None:
    if given is not None:
        return given
    grades = [each.grade[side] for each in said if side in each.grade]
    return math.floor(sum(grades) / len(grades) + 0.5) if grades else None


def _row(grade: str, questions: Mapping[str, _Question]) -> Row:
    a, tie, b = ({qid: each.share(choice) for qid, each in questions.items()} for choice in _CHOICES)
    winners = Counter(each.winner for each in questions.values())
    spread = paired_bootstrap(a, b, seed=SEED) if questions else Difference(0.0, 0.0, 0.0, 1.0)
    return Row(
        grade=grade,
        questions=len(questions),
        judgements=sum(len(each.choices) for each in questions.values()),
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
