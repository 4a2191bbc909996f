"""The command `compare`: which of two configurations gives the better answers?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qa_bot.cli.context import Json, open_home, print_json, read_line

if TYPE_CHECKING:
    from qa_bot.learning.comparing.comparison import Comparison


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
    from qa_bot.learning.comparing import command
    from qa_bot.learning.comparing.display import table as build_table
    from qa_bot.terminal.output import counting, show

    home, _ = open_home(context)
    if b is None:
        if questions or limit or qrels or name or prepare:
            raise typer.BadParameter("Expected B beside A, or only the name of an earlier comparison.")
        comparison = command.load(home, a)
    else:
        with counting("Answering") as progress:
            options: dict[str, Any] = {"questions": questions, "limit": limit, "qrels": qrels}
            comparison = command.make(home, Path(a), b, name=name, seed=seed, progress=progress, **options)
    task = command.Task(home, comparison, judge, out, tuple(judgements or ()))
    if not (prepare or table):
        command.judge(task, lambda: read_line("better: "), error=json)
    results = command.told(task)
    if json:
        print_json(results.as_dict())
    elif prepare:
        typer.echo(_invitation(comparison))
    else:
        show(build_table(results))


def _invitation(comparison: Comparison) -> str:
    counts = f"{len(comparison.judged):,} questions to judge, {comparison.identical:,} with identical answers"
    return f"{comparison.name}: {counts}; judge them by `qa-bot compare {comparison.name}`, or on /owner"
