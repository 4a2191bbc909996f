"""The task `liveqa`: real questions through the whole bot."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qa_bot.cli.context import Json, explicit_home_path
from qa_lab.commands.evaluation.options import Encoders, Judged, Limit, Models, Relevant, Run, Split, values
from qa_lab.commands.evaluation.rows import Common, measuring, print_rows

if TYPE_CHECKING:
    from qa_lab.evaluate.datasets import Dataset
    from qa_lab.evaluate.report import Row


class Mode(StrEnum):
    """Search modes of the bot."""

    keyword = "keyword"
    dense = "dense"
    hybrid = "hybrid"


def liveqa(
    context: typer.Context,
    data: Judged,
    split: Split = "dev",
    engine: Annotated[list[Mode] | None, typer.Option(help="System to measure; may be given again.")] = None,
    encoder: Encoders = None,
    model: Models = None,
    limit: Limit = None,
    relevant: Relevant = 1,
    summary: Annotated[bool, typer.Option(help="Also ask people's summaries of the questions.")] = False,
    run: Run = None,
    calibration: Annotated[bool, typer.Option("--calibration", help="Does it know when it does not know?")] = False,
    off_topic: Annotated[
        Path | None,
        typer.Option(
            help="With --calibration: questions that the data does not answer.", show_default="liveqa beside the data"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="With --calibration: folder for its curves, as PNG and as numbers.")
    ] = None,
    json: Json = False,
) -> None:
    """Title and body of questions through the whole bot. With --model, its candidates in every order."""
    if calibration and (model or summary or run or relevant != 1):
        raise typer.BadParameter(
            "Expected --calibration without --model, --summary, --relevant and --run; leave them out, and name "
            "rankers in the home's ranking.models."
        )
    if (off_topic or out) and not calibration:
        raise typer.BadParameter("Expected --off-topic and --out with --calibration; add it, or leave them out.")
    from qa_lab.evaluate.datasets import read_dataset
    from qa_lab.evaluate.liveqa.off_topic import judged_part

    dataset = read_dataset(data, split=split, limit=judged_part(limit) if calibration else limit)
    with measuring() as progress:
        common: Common = {"encoders": encoder or (), "home": explicit_home_path(context), "progress": progress}
        if calibration:
            rows = _calibration(dataset, engine, off_topic, limit, out, common)
        elif model:
            from qa_lab.evaluate.liveqa.reranking import evaluate_reranking

            rows = evaluate_reranking(dataset, models=model, **common)
        else:
            rows = _whole_bot(dataset, engine, summary, relevant, run, common)
    print_rows(rows, json=json)


def _calibration(
    dataset: Dataset,
    engines: Sequence[Mode] | None,
    off_topic: Path | None,
    limit: int | None,
    out: Path | None,
    common: Common,
) -> list[Row]:
    from qa_lab.evaluate.liveqa.abstention import ENGINES, evaluate_abstention
    from qa_lab.evaluate.liveqa.off_topic import beside

    others = off_topic or beside(dataset.corpus.parent)
    return evaluate_abstention(
        dataset, off_topic=others, engines=values(engines) or ENGINES, limit=limit, out=out, **common
    )


def _whole_bot(
    dataset: Dataset, engines: Sequence[Mode] | None, summary: bool, relevant: int, run: Path | None, common: Common
) -> list[Row]:
    from qa_lab.evaluate.liveqa.liveqa import ENGINES, evaluate_liveqa

    return evaluate_liveqa(
        dataset, engines=values(engines) or ENGINES, summary=summary, relevant=relevant, run=run, **common
    )
