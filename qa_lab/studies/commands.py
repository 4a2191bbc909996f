"""`qa-bot study make` and `qa-bot study read`: replies rated by people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qa_bot.cli.context import Json, print_json, say
from qa_bot.cli.entry_points import PLAIN_HELP

app = typer.Typer(help="Have people rate replies in blind forms.", no_args_is_help=True, **PLAIN_HELP)


@app.command()
def make(
    replies: Annotated[Path, typer.Argument(help="JSON lines: context, hint, and replies by system.")],
    out: Annotated[Path, typer.Option(help="New folder for the forms and their key.")],
    judges: Annotated[int, typer.Option(help="Judges of each context.", min=1)] = 3,
    contexts: Annotated[int, typer.Option(help="Contexts in a form at most.", min=1)] = 16,
    baseline: Annotated[str, typer.Option(help="System that others are compared with.", show_default="the first")] = "",
    persona: Annotated[str, typer.Option(help="Name of the speaker, to ask which replies are like them.")] = "",
    style: Annotated[list[str] | None, typer.Option(help="System asked about style; may be given again.")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="System asked about the hint; may be given again.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the order of replies.", min=0)] = 0,
    json: Json = False,
) -> None:
    """Make blind forms: HTML files that judges open in a browser, without a network."""
    from qa_lab.studies.people.forms import KEY, Plan, make_forms
    from qa_lab.studies.people.material import read_cases

    plan = Plan(judges, contexts, baseline, persona, tuple(style or ()), tuple(topic or ()), seed)
    forms = make_forms(read_cases(replies), plan, out)
    if json:
        print_json({"forms": [str(form) for form in forms], "key": str(out / KEY)})
    else:
        say(f"{len(forms)} forms in {out}; give each to one judge, and keep {KEY} to yourself")


@app.command()
def read(
    folder: Annotated[Path, typer.Argument(help="Folder of the forms.")],
    answers: Annotated[list[Path], typer.Argument(help="Files that judges saved, JSON or CSV.")],
    partial: Annotated[bool, typer.Option("--partial", help="Accept forms that are not complete.")] = False,
    json: Json = False,
) -> None:
    """Read judges' answers back: mean opinion scores, agreement and significance."""
    from qa_lab.studies.people.answers import read_answers
    from qa_lab.studies.people.forms import StudyKey
    from qa_lab.studies.people.results import report

    key = StudyKey.load(folder)
    figures = report(read_answers(answers, key, partial=partial), key)
    if json:
        print_json(figures.as_dict())
    else:
        say(figures.text())
