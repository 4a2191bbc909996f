"""Tasks that rank documents: `retrieval` and `known-item`."""

from __future__ import annotations

import typer

from qa_bot.cli.context import Json, explicit_home_path
from qa_lab.commands.evaluation.options import Encoders, Engines, Judged, Limit, Readable, Relevant, Run, Split, values
from qa_lab.commands.evaluation.rows import measuring, print_rows


def retrieval(
    context: typer.Context,
    data: Judged,
    split: Split = "dev",
    engine: Engines = None,
    encoder: Encoders = None,
    limit: Limit = None,
    relevant: Relevant = 1,
    run: Run = None,
    json: Json = False,
) -> None:
    """Ranked lists against judgements."""
    from qa_lab.evaluate.datasets import read_dataset
    from qa_lab.evaluate.retrieval import SYSTEMS, evaluate_retrieval

    with measuring() as progress:
        rows = evaluate_retrieval(
            read_dataset(data, split=split, limit=limit),
            engines=values(engine) or SYSTEMS,
            encoders=encoder or (),
            home=explicit_home_path(context),
            relevant=relevant,
            run=run,
            progress=progress,
        )
    print_rows(rows, json=json)


def known_item(
    context: typer.Context,
    data: Readable,
    engine: Engines = None,
    encoder: Encoders = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Whether a question finds its own document."""
    from qa_lab.evaluate.known_item import QUESTIONS, SYSTEMS, evaluate_known_item

    with measuring() as progress:
        rows = evaluate_known_item(
            data,
            engines=values(engine) or SYSTEMS,
            encoders=encoder or (),
            limit=limit or QUESTIONS,
            home=explicit_home_path(context),
            progress=progress,
        )
    print_rows(rows, json=json)
