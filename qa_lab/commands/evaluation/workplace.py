"""The task `workplace`: questions about people's own documents."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from qa_bot.cli.context import Json, explicit_home_path, print_json, say
from qa_lab.commands.evaluation.options import Encoders, Limit, Readable, values
from qa_lab.commands.evaluation.rows import measuring


class Pipeline(StrEnum):
    """Those of `qa_lab.evaluate.workplace.pipelines`, whose import is slow."""

    default = "default"
    plain_hybrid = "plain-hybrid"
    recipe = "recipe"
    recipe_gate = "recipe-gate"


def workplace(
    context: typer.Context,
    data: Readable,
    questions: Annotated[
        Path, typer.Option(help="Questions or dialogues with the texts that answer them, JSON lines.")
    ],
    engine: Annotated[list[Pipeline] | None, typer.Option(help="System to measure; may be given again.")] = None,
    encoder: Encoders = None,
    limit: Limit = None,
    losses: Annotated[bool, typer.Option("--losses", help="The stages that lose the answers.")] = False,
    every: Annotated[bool, typer.Option("--each", help="Every answer that lost points.")] = False,
    worst: Annotated[
        int, typer.Option(help="Number of worst answers to show, each with the stage that lost it.", min=0)
    ] = 0,
    json: Json = False,
) -> None:
    """Answers from people's own documents, graded. They must hold the texts that --questions names."""
    from qa_lab.evaluate.workplace.evaluation import evaluate_workplace
    from qa_lab.evaluate.workplace.pipelines import DEFAULT
    from qa_lab.evaluate.workplace.tables import as_json, text

    with measuring() as progress:
        results = evaluate_workplace(
            data,
            questions,
            engines=values(engine) or (DEFAULT,),
            encoders=encoder or (),
            home=explicit_home_path(context),
            limit=limit,
            with_losses=losses or worst > 0,
            progress=progress,
        )
    if json:
        print_json(as_json(results, with_replies=every, worst_count=worst))
    else:
        say(text(results, with_replies=every, worst_count=worst))
