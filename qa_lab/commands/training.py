"""`qa-bot train`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from qa_bot.cli.context import Json, open_home, print_json, say


class TrainedModel(StrEnum):
    dense = "dense"
    expansion = "expansion"
    similar = "similar"
    words = "words"
    paragram = "paragram"
    phrases = "phrases"
    annotate = "annotate"
    hyperqa = "hyperqa"
    blstm = "blstm"
    encoder_decoder = "encoder-decoder"
    cross_encoder = "cross-encoder"
    entailment = "entailment"
    fusion = "fusion"
    relations = "relations"
    chat = "chat"
    persona = "persona"
    grid = "grid"


def train(
    context: typer.Context,
    model: Annotated[TrainedModel, typer.Argument(help="What to train.")],
    out: Annotated[Path, typer.Option(help="Folder for the model.")],
    data: Annotated[
        list[Path] | None,
        typer.Option(
            help="Pairs: JSONL, answer selection TSV, MedQuAD, or what `add` reads; fusion: judged collections, too.",
            show_default=False,
        ),
    ] = None,
    more: Annotated[list[Path] | None, typer.Argument(help="Further paths of --data.", show_default=False)] = None,
    base: Annotated[
        Path | None,
        typer.Option(help="What to start from: an encoder; a persona's chat model; a chat model's grid."),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Settings, a TOML file.")] = None,
    dev: Annotated[str, typer.Option(help="Share of the questions to hold out, or a path with pairs.")] = "0.1",
    limit: Annotated[int | None, typer.Option(help="Number of pairs at most.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.", min=0)] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    plots: Annotated[bool, typer.Option("--plots", help="Draw the learning curve.")] = False,
    relations: Annotated[
        Path | None,
        typer.Option(help="relations: names, one a line, of the numbers in the pools; none for mined templates."),
    ] = None,
    from_feedback: Annotated[
        bool, typer.Option("--from-feedback", help="fusion: the home's votes in place of --data.")
    ] = False,
    json: Json = False,
) -> None:
    """Train a model from your own examples."""
    from qa_lab.train.display import progress_bar, show_read
    from qa_lab.train.registry import verb
    from qa_lab.train.request import Request

    if from_feedback and (data or model is not TrainedModel.fusion):
        raise typer.BadParameter("Expected --from-feedback with fusion and without --data; leave one of them out.")
    if not from_feedback and not data:
        raise typer.BadParameter("Expected --data PATH, but got none; name the examples to learn from.")
    chosen = verb(model.value)
    home = open_home(context)[0].path if from_feedback else None
    paths = (*(data or ()), *(more or ()))
    request = Request(paths, out, base, config, dev, limit, seed, resume, plots, home, relations)
    with progress_bar(chosen.epochs(request), measure=chosen.measure) as on_progress:
        outcome = chosen.run(request, on_read=show_read, on_progress=on_progress)
    if json:
        print_json(outcome.as_dict())
    else:
        say(outcome.text(out).rstrip())
