"""The command `compare`: makes a comparison, has it judged in the terminal, and shows the table of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qa_bot.cli.context import Json, open_home, print_json, read_line, say

if TYPE_CHECKING:
    from qa_bot.home.folder import Home
    from qa_bot.learning.comparing.comparison import Comparison
    from qa_bot.learning.comparing.judgements import Judgements
    from qa_bot.learning.comparing.sides import Side
    from qa_bot.learning.comparing.tables import Table

SHOWN = 20
"""Invalid lines that are shown."""


def compare(
    context: typer.Context,
    a: Annotated[str, typer.Argument(help="Answers (JSONL), a configuration (TOML), a home, or `home` for this one.")],
    b: Annotated[
        Path | None, typer.Argument(help="The same; without it, A is the name of an earlier comparison.")
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(help="Questions for configurations, as in ask --batch.", show_default="the other's"),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Number of questions at most.", min=1)] = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Grades (0-3) of documents, for rows by the grade of an answer's first source.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the comparison.", show_default="the names of both sides")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the order in which a judge sees two answers.", min=0)] = 0,
    prepare: Annotated[bool, typer.Option("--prepare", help="Only save it, to be judged on the owner's page.")] = False,
    table: Annotated[bool, typer.Option("--table", help="Only show the table, without judging.")] = False,
    judge: Annotated[str, typer.Option(help="Name of the judge, whose last judgement of a question counts.")] = "me",
    out: Annotated[
        Path | None, typer.Option(help="File to which judgements are added.", show_default="beside the comparison")
    ] = None,
    judgements: Annotated[
        list[Path] | None, typer.Option(help="Further judgements to count; may be given again.", exists=True)
    ] = None,
    json: Json = False,
) -> None:
    """Judge two configurations or answer files blindly, question by question: which answers are preferred?

    Both answers are shown side by side in random order, without any mark of their origin. Type 1 or 2 for the better
    one, 0 for a tie, s to skip, q to stop; add the grades of both from 0 (bad) to 3 (excellent) if you like: 1 3 2.
    At the end a table shows the shares and whether they may be chance, by grade and over all.

    The pairs are saved in the home, so that `qa-bot compare NAME` and the owner's page can continue, and the votes of
    several judges are counted together. Without a terminal, lines are read from standard input.
    """
    from qa_bot.learning.comparing.comparison import load

    home, _ = open_home(context)
    if b is None:
        if questions or limit or qrels or name or prepare:
            raise typer.BadParameter("Expected B beside A, or only the name of an earlier comparison.")
        comparison = load(home, a)
    else:
        sides = _open_sides(home, Path(a), b, questions=questions, limit=limit, qrels=qrels)
        comparison = _make(home, *sides, name=name, seed=seed, limit=limit)
    session = JudgingSession(home, comparison, judge, out, tuple(judgements or ()))
    if not (prepare or table):
        session.judge_all(on_stderr=json)
    _show_results(session.results(), as_json=json, prepared=prepare)


@dataclass(frozen=True, slots=True)
class JudgingSession:
    """A comparison, its current judge, and the files of judgements; new ones are added to `out`, else to the home's."""

    home: Home
    comparison: Comparison
    judge: str
    out: Path | None = None
    further: tuple[Path, ...] = ()

    @property
    def file(self) -> Path:
        """The file to which judgements are added."""
        from qa_bot.learning.comparing.comparison import judgements_of

        return self.out or judgements_of(self.home, self.comparison.name)

    def judge_all(self, *, on_stderr: bool = False) -> None:
        """Have the judge decide on every remaining pair; each judgement is saved at once.

        Args:
            on_stderr: show the pairs on stderr, because stdout is for JSON.

        Raises:
            ComparisonError: the name of the judge is invalid.
        """
        from qa_bot.learning.comparing.judgements import append, check_judge
        from qa_bot.learning.comparing.judging import HELP, judge_all
        from qa_bot.terminal.comparison import render_pair
        from qa_bot.terminal.output import notify, show

        check_judge(self.judge)
        done = self._read().done(self.judge)
        if done:
            notify(f"{len(done):,} of {len(self.comparison.judged):,} were judged by {self.judge} before.")
        notify(HELP)
        judge_all(
            self.comparison,
            self.judge,
            done,
            lambda: read_line("better: "),
            show=lambda pair, total: show(render_pair(pair, total), error=on_stderr),
            notify=notify,
            save=lambda judgement: append(self.file, judgement),
        )

    def results(self) -> Table:
        """The table of all judgements; unusable ones are reported on stderr."""
        from qa_bot.learning.comparing.tables import table_of
        from qa_bot.terminal.output import notify

        judgements = self._read()
        _show_wrong(judgements.wrong)
        questions, answers = judgements.other_questions, judgements.other_answers
        if questions or answers:
            notify(f"{questions:,} judgements are of other questions, {answers:,} of other answers; they do not count.")
        return table_of(self.comparison, judgements)

    def _read(self) -> Judgements:
        from qa_bot.learning.comparing.judgements import read_judgements

        return read_judgements(self.comparison, dict.fromkeys((self.file, *self.further)))


def _open_sides(
    home: Home, a: Path, b: Path, *, questions: Path | None, limit: int | None, qrels: Path | None
) -> tuple[Side, Side]:
    from qa_bot.learning.comparing.sides import open_sides, with_grades
    from qa_bot.terminal.output import counting
    from qa_core.measures.runs import read_qrels

    with counting("Answering") as progress:
        sides = open_sides(a, b, home=home.path, questions=questions, limit=limit, progress=progress)
    if qrels is None:
        return sides
    grades = read_qrels(qrels)
    return with_grades(sides[0], grades), with_grades(sides[1], grades)


def _make(home: Home, a: Side, b: Side, *, name: str | None, seed: int, limit: int | None) -> Comparison:
    """Save the comparison of two sides in the home; unusable lines are reported on stderr."""
    from qa_bot.learning.comparing.comparison import compare as pair_up
    from qa_bot.learning.comparing.comparison import name_of, save
    from qa_bot.terminal.output import notify

    _show_wrong((*a.wrong, *b.wrong))
    comparison = pair_up(a, b, name=name or name_of(a, b), seed=seed, limit=limit)
    for side, count in ((comparison.a, comparison.only_a), (comparison.b, comparison.only_b)):
        if count:
            notify(f"{count:,} questions only {side} has; they are left out.")
    if comparison.reworded:
        notify(
            f"{comparison.reworded:,} questions have the same id but other words in {comparison.b}; is it their file?"
        )
    save(home, comparison)
    return comparison


def _show_wrong(lines: Sequence[str]) -> None:
    from qa_bot.terminal.output import notify

    for line in lines[:SHOWN]:
        notify(line)
    if len(lines) > SHOWN:
        notify(f"… and {len(lines) - SHOWN:,} more")


def _show_results(results: Table, *, as_json: bool, prepared: bool) -> None:
    from qa_bot.terminal.comparison import render_table
    from qa_bot.terminal.output import show

    comparison = results.comparison
    if as_json:
        print_json(results.as_dict())
    elif prepared:
        counts = f"{len(comparison.judged):,} questions to judge, {comparison.identical:,} with identical answers"
        say(f"{comparison.name}: {counts}; judge them by `qa-bot compare {comparison.name}`, or on /owner")
    else:
        show(render_table(results))
