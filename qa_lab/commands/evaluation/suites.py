"""The task `everything`: every collection of a suite with every configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qa_bot.cli.context import Json, print_json, say
from qa_lab.commands.evaluation.options import Limit
from qa_lab.commands.evaluation.rows import measuring


def everything(
    suite: Annotated[
        Path | None,
        typer.Option(help="Collections and configurations, a TOML file.", show_default="development"),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The folder of the suite's paths.", show_default=False)] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for finished cells.")] = None,
    limit: Limit = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="The first configuration, then without each of its parts.")
    ] = False,
    json: Json = False,
) -> None:
    """A suite of collections with several configurations."""
    from qa_bot.terminal.output import notify
    from qa_lab.evaluate.suites.cells import run_suite
    from qa_lab.evaluate.suites.suite import DEVELOPMENT, ablated, read_suite
    from qa_lab.evaluate.suites.tables import ablation_text, as_json, draw_ablation, text

    chosen = read_suite(suite or DEVELOPMENT, data=data)
    chosen = ablated(chosen) if ablate else chosen
    with measuring() as progress:
        cells = list(run_suite(chosen, folder=out, limit=limit, progress=progress, skip=notify))
    if json:
        print_json(as_json(chosen, cells))
    else:
        say(ablation_text(chosen, cells) if ablate else text(chosen, cells))
    if ablate and out is not None and cells:
        try:
            draw_ablation(out / "ablation.png", chosen, cells)
        except ModuleNotFoundError as error:
            notify(str(error))
