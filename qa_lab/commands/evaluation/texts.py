"""Tasks over pairs and lists of texts: `answers`, `similar`, `paraphrase`, `words`, `phrases` and `sentiment`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from qa_bot.cli.context import Json, explicit_home_path, say
from qa_lab.commands.evaluation.options import Encoders, HeldOut, Limit, Models
from qa_lab.commands.evaluation.rows import measuring, print_rows


def answers(
    context: typer.Context,
    data: Annotated[Path, typer.Option(help="Questions with answers and labels, as of TrecQA or WikiQA.")],
    model: Models = None,
    encoder: Encoders = None,
    keep: Annotated[
        Literal["both", "positive", "all", "short"],
        typer.Option(help="Questions with right and wrong answers, a right one, or all; or short answers."),
    ] = "both",
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Selection of the answers to a question."""
    from qa_lab.evaluate.answers import evaluate_answers

    with measuring() as progress:
        rows = evaluate_answers(
            data,
            models=model or (),
            encoders=encoder or (),
            keep=keep,
            limit=limit,
            home=explicit_home_path(context),
            progress=progress,
        )
    print_rows(rows, json=json)


def similar(
    context: typer.Context,
    data: Annotated[Path, typer.Option(help="Questions that ask the same.")],
    model: Models = None,
    encoder: Encoders = None,
    limit: Limit = None,
    held_out: HeldOut = 0.0,
    padded: Annotated[
        int | None, typer.Option(help="Fill the candidates up; exact against approximate search.", min=1)
    ] = None,
    padding: Annotated[list[Path] | None, typer.Option(help="What to fill up with.")] = None,
    json: Json = False,
) -> None:
    """Retrieval of questions that ask the same."""
    from qa_lab.evaluate.similar import evaluate_similar

    with measuring() as progress:
        rows = evaluate_similar(
            data,
            models=model or (),
            encoders=encoder or (),
            limit=limit,
            held_out=held_out,
            padded=padded,
            padding=padding or (),
            home=explicit_home_path(context),
            progress=progress,
        )
    print_rows(rows, json=json)


def paraphrase(
    context: typer.Context,
    data: Annotated[Path, typer.Option(help="Pairs of questions with labels.")],
    model: Models = None,
    encoder: Encoders = None,
    limit: Limit = None,
    held_out: HeldOut = 0.0,
    json: Json = False,
) -> None:
    """Whether two questions ask the same."""
    from qa_lab.evaluate.words.paraphrase import evaluate_paraphrase

    with measuring() as progress:
        rows = evaluate_paraphrase(
            data,
            models=model or (),
            encoders=encoder or (),
            held_out=held_out,
            limit=limit,
            home=explicit_home_path(context),
            progress=progress,
        )
    print_rows(rows, json=json)


def words(
    data: Annotated[Path, typer.Option(help="A list of pairs of words with scores, or a folder of lists.")],
    model: Models = None,
    encoder: Encoders = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Similarity of words."""
    from qa_lab.evaluate.words.words import evaluate_words

    with measuring() as progress:
        rows = evaluate_words(data, models=model or (), encoders=encoder or (), limit=limit, progress=progress)
    print_rows(rows, json=json)


def phrases(
    data: Annotated[Path, typer.Option(help="Pairs of phrases, with or without scores.")],
    model: Models = None,
    encoder: Encoders = None,
    limit: Limit = None,
    overlap: Annotated[
        float, typer.Option(help="Without scores: pairs that share less than this of their words.", min=0)
    ] = 0.5,
    errors: Annotated[bool, typer.Option("--errors", help="Errors of the first model, by kind.")] = False,
    run: Annotated[Path | None, typer.Option(help="Write the pairs, re-ranked by the first model.")] = None,
    json: Json = False,
) -> None:
    """Similarity of phrases."""
    if (run or errors) and not model:
        raise typer.BadParameter(
            "Expected --model DIR, whose scores --run writes and whose errors --errors shows, but got none."
        )
    from qa_lab.evaluate.words.phrase_ranking import rank_phrases
    from qa_lab.evaluate.words.phrases import errors_of, evaluate_phrases

    models = model or []
    with measuring() as progress:
        rows = evaluate_phrases(
            data, models=models, encoders=encoder or (), limit=limit, overlap=overlap, progress=progress
        )
    if run:
        ranked = rank_phrases(data, models[0], run, limit=limit)
        say(f"{ranked.pairs:,} pairs are in {run}, best first; {len(ranked.rejects):,} could not be read.", err=True)
    if errors:
        say(errors_of(data, models[0], limit=limit, overlap=overlap).text(), err=True)
    print_rows(rows, json=json)


def sentiment(
    data: Annotated[Path, typer.Option(help="Sentences with the label 0 or 1, to train on.")],
    dev: Annotated[str, typer.Option(help="A file with others to choose weights by, or a share.")] = "0.1",
    test: Annotated[str, typer.Option(help="A file with others to measure on, or a share.")] = "0.1",
    model: Models = None,
    encoder: Encoders = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Opinions of sentences by a small network over word vectors."""
    from qa_lab.evaluate.words.sentiment import evaluate_sentiment

    with measuring() as progress:
        rows = evaluate_sentiment(
            data, dev=dev, test=test, models=model or (), encoders=encoder or (), limit=limit, progress=progress
        )
    print_rows(rows, json=json)
