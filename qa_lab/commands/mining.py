"""`qa-bot kg mine`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from qa_bot.cli.context import Json, open_home, print_json


class MiningPreset(StrEnum):
    default = "default"
    paper = "paper"


def mine(
    context: typer.Context,
    pairs: Annotated[list[Path], typer.Argument(help="Questions and answers, or pages: whatever `add` reads.")],
    out: Annotated[Path, typer.Option(help="Folder for the table of templates.")],
    preset: Annotated[
        MiningPreset, typer.Option(help="paper: as written in Wang (2018), also if that answers worse.")
    ] = MiningPreset.default,
    steps: Annotated[int, typer.Option(help="Longest path between two entities.", min=1, max=2)] = 2,
    processes: Annotated[int, typer.Option(help="Processes that work side by side.", min=1)] = 2,
    limit: Annotated[int | None, typer.Option(help="Number of pairs at most.", min=1)] = None,
    anchors: Annotated[
        bool, typer.Option("--anchors", help="Read pages, not pairs: count which texts link to entities, as names.")
    ] = False,
    json: Json = False,
) -> None:
    """Learn from pairs which relations questions ask for, without labels; write a readable table."""
    from qa_bot.terminal.output import counting
    from qa_lab.train.relations.graph_mining import PRESETS
    from qa_lab.train.relations.graph_mining import mine as mine_graph
    from qa_lab.train.relations.mining_output import show_anchors, show_mined

    if anchors:
        from qa_lab.train.relations.anchor_mining import mine_anchors

        with counting("Reading") as progress:
            names = mine_anchors(
                open_home(context)[0], pairs, out, limit=limit, progress=lambda done, _: progress(done)
            )
        print_json(names.as_dict()) if json else show_anchors(names, out)
        return
    with counting("Mining") as progress:
        mined = mine_graph(
            open_home(context)[0],
            pairs,
            out,
            choices=PRESETS[preset.value],
            longest=steps,
            processes=processes,
            limit=limit,
            progress=lambda done, _: progress(done),
        )
    if json:
        print_json(mined.as_dict())
    else:
        show_mined(mined, out)
