"""The task `papers`: the tables of the papers beside their figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qa_bot.cli.context import Json, print_json, say
from qa_lab.commands.evaluation.rows import measuring


def papers(
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="Tables such as T6.3, or all of a paper: T, D, P, X, H.", show_default=False),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The folder of the data sets.", show_default=False)] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for finished cells, for models, and for the tables as Markdown and JSON."),
    ] = None,
    model: Annotated[Path | None, typer.Option(help="The transformer that cross-encoders start from.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small samples and short training.")] = False,
    quick_paper: Annotated[
        bool, typer.Option("--quick-paper", help="The same for the rows with the settings of the paper.")
    ] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the tables.")] = False,
    json: Json = False,
) -> None:
    """The tables of the papers beside their figures."""
    from qa_bot.terminal.output import notify
    from qa_lab.evaluate.datasets import DatasetError
    from qa_lab.papers.report import as_json, listed, markdown
    from qa_lab.papers.running import run_tables
    from qa_lab.papers.tables.registry import chosen

    named = chosen(tables or ())
    if listing:
        say(listed(named))
        return
    if data is None:
        raise typer.BadParameter("Expected --data DIR, but got none; name the folder of the data sets.")
    with measuring() as progress:
        cells = run_tables(
            named,
            data,
            folder=out,
            quick=quick,
            quick_paper=quick_paper,
            transformer=model,
            progress=progress,
            warn=notify,
        )
    if json:
        print_json(as_json(named, cells, quick=quick))
    else:
        say(markdown(named, cells))
    if failed := sum(cell.reason.startswith("failed") for cell in cells):
        raise DatasetError(f"{failed} of {len(cells)} rows failed, for the reasons in the tables.")
