"""`qa-bot compare`: a comparison is made and kept, judged in the terminal, and told as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qa_bot.home.folder import Home
from qa_bot.learning.comparing.blind import Shown
from qa_bot.learning.comparing.comparison import Comparison, compare, judgements_of, keep, name_of
from qa_bot.learning.comparing.comparison import load as load
from qa_bot.learning.comparing.display import pair
from qa_bot.learning.comparing.judgements import Judged, append, expect_judge, read_judgements
from qa_bot.learning.comparing.judging import HELP, Read, judge_all
from qa_bot.learning.comparing.sides import Progress, graded, open_sides
from qa_bot.learning.comparing.tables import Table, table_of
from qa_bot.terminal.output import show, tell
from qa_core.measures.runs import read_qrels

MOST = 20
"""Lines that are told one by one."""


@dataclass(frozen=True, slots=True)
class Task:
    """A comparison, who judges it now, and where judgements stand: they are added to `out`, by default the home's."""

    home: Home
    comparison: Comparison
    judge: str
    out: Path | None = None
    further: tuple[Path, ...] = ()

    @property
    def file(self) -> Path:
        return self.out or judgements_of(self.home, self.comparison.name)


def make(
    home: Home,
    a: Path,
    b: Path,
    *,
    name: str | None = None,
    seed: int = 0,
    questions: Path | None = None,
    limit: int | None = None,
    qrels: Path | None = None,
    progress: Progress = lambda _: None,
) -> Comparison:
    """The comparison of two sides, kept in the home; what could not be used is told on stderr.

    Raises:
        ComparisonError and whatever `open_sides`, `compare`, `keep` and `read_qrels` raise.
    """
    one, other = open_sides(a, b, home=home.path, questions=questions, limit=limit, progress=progress)
    if qrels is not None:
        grades = read_qrels(qrels)
        one, other = graded(one, grades), graded(other, grades)
    _told((*one.wrong, *other.wrong))
    comparison = compare(one, other, name=name or name_of(one, other), seed=seed, limit=limit)
    for side, count in ((comparison.a, comparison.only_a), (comparison.b, comparison.only_b)):
        if count:
            tell(f"{count:,} questions only {side} has; they are left out.")
    if comparison.reworded:
        tell(f"{comparison.reworded:,} questions have the same id but other words in {comparison.b}; is it their file?")
    keep(home, comparison)
    return comparison


def judge(task: Task, read: Read, *, error: bool = False) -> None:
    """Have the judge look at every pair that is left; each judgement is kept at once.

    Args:
        error: show the pairs on stderr, since stdout is for something else.

    Raises:
        ComparisonError: a name that no judge can have.
    """
    expect_judge(task.judge)
    done = _read(task).done(task.judge)
    if done:
        tell(f"{len(done):,} of {len(task.comparison.judged):,} were judged by {task.judge} before.")
    tell(HELP)

    def shown(each: Shown, of: int) -> None:
        show(pair(each, of), error=error)

    judge_all(task.comparison, task.judge, done, read, show=shown, tell=tell, save=lambda each: append(task.file, each))


def told(task: Task) -> Table:
    """The table of all judgements; what could not be used of them is told on stderr."""
    judged = _read(task)
    _told(judged.wrong)
    if judged.other_questions or judged.other_answers:
        tell(
            f"{judged.other_questions:,} judgements are of other questions, {judged.other_answers:,} of other answers; "
            "they do not count."
        )
    return table_of(task.comparison, judged)


def _read(task: Task) -> Judged:
    return read_judgements(task.comparison, dict.fromkeys((task.file, *task.further)))


def _told(wrong: Sequence[str]) -> None:
    for line in wrong[:MOST]:
        tell(line)
    if len(wrong) > MOST:
        tell(f"… and {len(wrong) - MOST:,} more")
