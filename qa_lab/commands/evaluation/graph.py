"""Tasks over the knowledge graph: `relations`, `linking` and `facts`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qa_bot.cli.context import Json, explicit_home_path
from qa_lab.commands.evaluation.options import Encoders, Limit, Models
from qa_lab.commands.evaluation.rows import measuring, print_rows


def relations(
    context: typer.Context,
    data: Annotated[Path, typer.Option(help="Questions with pools of relations, as numbers.")],
    relations: Annotated[Path | None, typer.Option(help="Names, one a line, of the numbers in the pools.")] = None,
    model: Models = None,
    encoder: Encoders = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    """The relation that a question asks for."""
    from qa_lab.evaluate.graph.relations import evaluate_relations

    with measuring() as progress:
        rows = evaluate_relations(
            data,
            relations=relations,
            models=model or (),
            encoders=encoder or (),
            limit=limit,
            home=explicit_home_path(context),
            progress=progress,
        )
    print_rows(rows, json=json)


def linking(
    context: typer.Context,
    data: Annotated[Path, typer.Option(help="Questions with the entities that they are about: SimpleQuestions.")],
    limit: Limit = None,
    json: Json = False,
) -> None:
    """The entity that a question is about."""
    from qa_lab.evaluate.graph.linking import evaluate_linking

    with measuring() as progress:
        rows = evaluate_linking(data, limit=limit, home=explicit_home_path(context), progress=progress)
    print_rows(rows, json=json)


def facts(
    context: typer.Context,
    data: Annotated[Path, typer.Option(help="Questions with answers, JSON lines, or SimpleQuestions.")],
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Answers by facts of the graph."""
    from qa_lab.evaluate.graph.facts import evaluate_facts

    with measuring() as progress:
        rows = evaluate_facts(data, limit=limit, home=explicit_home_path(context), progress=progress)
    print_rows(rows, json=json)
