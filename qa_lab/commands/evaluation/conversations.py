"""Tasks over conversations: `rewrite` and `dialogue`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qa_bot.cli.context import Json, explicit_home_path
from qa_lab.commands.evaluation.options import HeldOut, Limit, Models, Split
from qa_lab.commands.evaluation.rows import measuring, print_rows


def rewrite(
    context: typer.Context,
    data: Annotated[Path, typer.Option(help="Conversations, as of TREC CAsT or your own, or standalone questions.")],
    split: Split = "dev",
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Follow-up questions, rewritten to be understood alone."""
    from qa_lab.evaluate.followups.rewrite import evaluate_rewrite

    with measuring() as progress:
        rows = evaluate_rewrite(data, part=split, limit=limit, home=explicit_home_path(context), progress=progress)
    print_rows(rows, json=json)


def dialogue(
    data: Annotated[Path, typer.Option(help="Dialogues: `turns` a line.")],
    model: Models = None,
    limit: Limit = None,
    held_out: HeldOut = 0.0,
    json: Json = False,
) -> None:
    """Replies of a conversation model. Measures the true one among 19 others, perplexity and distinct-2."""
    from qa_lab.evaluate.dialogue import evaluate_dialogue

    with measuring() as progress:
        rows = evaluate_dialogue(data, models=model or (), held_out=held_out, limit=limit, progress=progress)
    print_rows(rows, json=json)
