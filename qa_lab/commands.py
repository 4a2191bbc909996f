"""The laboratory's commands: `train`, `eval` and `kg mine`. Entry points in pyproject.toml add them to `qa-bot`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from qa_bot.cli.context import Json, explicit_home_path, open_home, print_json, say


class System(StrEnum):
    plain = "plain"
    keyword = "keyword"
    dense = "dense"
    hybrid = "hybrid"
    default = "default"
    plain_hybrid = "plain-hybrid"
    recipe = "recipe"
    recipe_gate = "recipe-gate"


class Task(StrEnum):
    retrieval = "retrieval"
    liveqa = "liveqa"
    known_item = "known-item"
    similar = "similar"
    words = "words"
    phrases = "phrases"
    answers = "answers"
    paraphrase = "paraphrase"
    relations = "relations"
    linking = "linking"
    facts = "facts"
    dialogue = "dialogue"
    rewrite = "rewrite"
    workplace = "workplace"
    everything = "everything"
    papers = "papers"


class MiningPreset(StrEnum):
    default = "default"
    paper = "paper"


class Keep(StrEnum):
    both = "both"
    positive = "positive"
    all = "all"
    short = "short"


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


def evaluate(
    context: typer.Context,
    task: Annotated[Task, typer.Argument(help="What to measure.")],
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="papers: tables such as T6.3, or all of a paper: T, D, P, X, H.", show_default=False),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="The data: a BEIR folder; for known-item and workplace whatever `add` reads; for everything the "
            "folder of the suite's paths.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Split of the data.")] = "dev",
    engine: Annotated[list[System] | None, typer.Option(help="System to measure; may be given again.")] = None,
    encoder: Annotated[list[str] | None, typer.Option(help="Encoder to measure; may be given again.")] = None,
    model: Annotated[
        list[Path] | None,
        typer.Option(help="A trained model, for tasks that measure models; may be given again."),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Number of questions at most.", min=1)] = None,
    relevant: Annotated[int, typer.Option(help="Least grade that binary measures count.", min=1)] = 1,
    summary: Annotated[bool, typer.Option(help="liveqa: also ask people's summaries of the questions.")] = False,
    held_out: Annotated[
        float,
        typer.Option(help="similar, paraphrase, dialogue: only the share that training held out.", min=0, max=0.9),
    ] = 0.0,
    padded: Annotated[
        int | None, typer.Option(help="similar: fill the candidates up; exact against approximate search.", min=1)
    ] = None,
    padding: Annotated[list[Path] | None, typer.Option(help="similar: what to fill up with.")] = None,
    overlap: Annotated[
        float, typer.Option(help="phrases without scores: pairs that share less than this of their words.", min=0)
    ] = 0.5,
    keep: Annotated[
        Keep,
        typer.Option(help="answers: questions with right and wrong answers, a right one, or all; or short answers."),
    ] = Keep.both,
    relations: Annotated[
        Path | None, typer.Option(help="relations: names, one a line, of the numbers in the pools.")
    ] = None,
    errors: Annotated[bool, typer.Option("--errors", help="phrases: errors of the first model, by kind.")] = False,
    run: Annotated[
        Path | None, typer.Option(help="Write the ranked documents as a TREC run; phrases: the pairs, re-ranked.")
    ] = None,
    calibration: Annotated[
        bool, typer.Option("--calibration", help="liveqa: does it know when it does not know?")
    ] = False,
    off_topic: Annotated[
        Path | None,
        typer.Option(
            help="With --calibration: questions that the data does not answer.", show_default="liveqa beside the data"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="With --calibration: folder for its curves, as PNG and as numbers; everything, papers: for finished "
            "cells; papers: also for models and the tables as Markdown and JSON."
        ),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="workplace: questions or dialogues with the texts that answer them, JSON lines.")
    ] = None,
    losses: Annotated[bool, typer.Option("--losses", help="workplace: the stages that lose the answers.")] = False,
    suite: Annotated[
        Path | None,
        typer.Option(help="everything: collections and configurations, a TOML file.", show_default="development"),
    ] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="everything: the first configuration, then without each of its parts.")
    ] = False,
    every: Annotated[bool, typer.Option("--each", help="workplace: every answer that lost points.")] = False,
    worst: Annotated[
        int, typer.Option(help="workplace: number of worst answers to show, each with the stage that lost it.", min=0)
    ] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="papers: small samples and short training.")] = False,
    list_tables: Annotated[bool, typer.Option("--list", help="papers: list the tables.")] = False,
    json: Json = False,
) -> None:
    """Measure the bot on judged data, with standard errors."""
    if task is Task.papers:
        from qa_lab.papers.command import measure_papers

        measure_papers(tables or (), data, out=out, models=model or (), quick=quick, listing=list_tables, json=json)
        return
    _check_unused(task, suite=suite or ablate, tables=tables or quick or list_tables)
    if task is Task.everything:
        if engine or encoder or model or questions or losses or every or worst:
            raise typer.BadParameter("Expected engines and data in the suite; leave those options out.")
        _everything(suite, data, out=out, limit=limit, ablate=ablate, json=json)
        return
    if data is None:
        raise typer.BadParameter("Expected --data PATH, but got none; name the data to measure on.")
    if (off_topic or out) and not calibration:
        raise typer.BadParameter("Expected --off-topic and --out with --calibration; add it, or leave them out.")
    if task is Task.workplace:
        _workplace(
            data,
            questions,
            engines=[system.value for system in engine or ()],
            encoders=encoder or (),
            limit=limit,
            home=explicit_home_path(context),
            losses=losses,
            every=every,
            worst=worst,
            json=json,
        )
        return
    if questions or losses or every or worst:
        raise typer.BadParameter("Expected --questions, --losses, --each and --worst with workplace; leave them out.")
    from qa_bot.terminal.output import counting, show
    from qa_lab.evaluate import tasks
    from qa_lab.evaluate.report import as_json, table

    with counting("") as progress:
        rows = tasks.measure(
            task.value,
            data,
            split=split,
            engines=[system.value for system in engine or ()],
            encoders=encoder or (),
            models=model or (),
            limit=limit,
            relevant=relevant,
            summary=summary,
            run=run,
            home=explicit_home_path(context),
            progress=lambda doing, done: progress(done, doing),
            similar=tasks.Similar(held_out, padded, padding or ()),
            phrases=tasks.Phrases(overlap, errors),
            keep=keep.value,
            relations=relations,
            calibrated=tasks.Calibrated(off_topic, out) if calibration else None,
        )
    if json:
        print_json(as_json(rows))
    else:
        show(table(rows))


def _check_unused(task: Task, *, suite: object, tables: object) -> None:
    if suite and task is not Task.everything:
        raise typer.BadParameter("Expected --suite and --ablate with everything; leave them out.")
    if tables:
        raise typer.BadParameter("Expected tables, --quick and --list with papers; leave them out.")


def _workplace(
    data: Path,
    questions: Path | None,
    *,
    engines: Sequence[str],
    encoders: Sequence[str],
    limit: int | None,
    home: Path | None,
    losses: bool,
    every: bool,
    worst: int,
    json: bool,
) -> None:
    if questions is None:
        raise typer.BadParameter("Expected --questions FILE with workplace, but got none; name the questions to ask.")
    from qa_bot.terminal.output import counting
    from qa_lab.evaluate.workplace.evaluation import evaluate_workplace
    from qa_lab.evaluate.workplace.pipelines import DEFAULT
    from qa_lab.evaluate.workplace.tables import as_json, text

    with counting("") as progress:
        results = evaluate_workplace(
            data,
            questions,
            engines=engines or (DEFAULT,),
            encoders=encoders,
            home=home,
            limit=limit,
            with_losses=losses or worst > 0,
            progress=lambda doing, done: progress(done, doing),
        )
    if json:
        print_json(as_json(results, with_replies=every, worst_count=worst))
    else:
        say(text(results, with_replies=every, worst_count=worst))


def _everything(
    suite: Path | None, data: Path | None, *, out: Path | None, limit: int | None, ablate: bool, json: bool
) -> None:
    from qa_bot.terminal.output import counting, notify
    from qa_lab.evaluate.suites.cells import run_suite
    from qa_lab.evaluate.suites.suite import DEVELOPMENT, ablated, read_suite
    from qa_lab.evaluate.suites.tables import ablation_text, as_json, draw_ablation, text

    chosen = read_suite(suite or DEVELOPMENT, data=data)
    chosen = ablated(chosen) if ablate else chosen
    with counting("") as progress:
        cells = list(
            run_suite(
                chosen,
                folder=out,
                limit=limit,
                progress=lambda doing, done: progress(done, doing),
                skip=notify,
            )
        )
    if json:
        print_json(as_json(chosen, cells))
    else:
        say(ablation_text(chosen, cells) if ablate else text(chosen, cells))
    if ablate and out is not None and cells:
        try:
            draw_ablation(out / "ablation.png", chosen, cells)
        except ModuleNotFoundError as error:
            notify(str(error))


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
