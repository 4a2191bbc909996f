"""The commands `export` and `import`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from qa_bot.cli.context import Json, code_with_rejects, open_encoder, open_home, path_of, print_json
from qa_bot.cli.documents.adding import MaxRatio, MaxRecordBytes, MaxTotalBytes, ingest_limits


class FeedbackFormat(StrEnum):
    qrels = "qrels"
    jsonl = "jsonl"


def export(
    context: typer.Context,
    out: Annotated[
        Path,
        typer.Argument(help="File to write; - is standard output, for votes as JSONL.", parser=path_of),
    ],
    feedback: Annotated[
        FeedbackFormat | None,
        typer.Option(help="Only votes: TREC qrels with their questions beside, or JSONL.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    json: Json = False,
) -> None:
    """Write what the home holds and cannot derive to one file, or only the votes on its answers."""
    if str(out) == "-" and (feedback is not FeedbackFormat.jsonl or json):
        raise typer.BadParameter("Expected a file as OUT, but got -, which is for --feedback jsonl without --json.")
    if feedback is not None:
        return _export_votes(context, out, feedback, force=force, json=json)
    from qa_bot.terminal.output import counting, show_exported
    from qa_bot.transfer.exporting import export as write

    with counting("Exporting") as progress:
        exported = write(*open_home(context), out, force=force, progress=progress)
    if json:
        print_json(exported.as_dict())
    else:
        show_exported(exported)
    return None


def _export_votes(context: typer.Context, out: Path, format: FeedbackFormat, *, force: bool, json: bool) -> None:  # noqa: A002 (the flag's name)
    from qa_bot.home.journal import open_store
    from qa_bot.terminal.output import counting, show_vote_counts
    from qa_bot.transfer import judgements
    from qa_core.atomic import atomic_file

    with open_store(*open_home(context)) as store, counting("Exporting votes") as progress:
        if format is FeedbackFormat.qrels:
            counts = judgements.write_qrels(store, out, force=force, progress=progress)
        elif str(out) == "-":
            judgements.write_lines(store, sys.stdout.buffer, progress=progress)
            sys.stdout.flush()
            return
        else:
            with atomic_file(out, overwrite=force, private=True) as file:
                counts = judgements.write_lines(store, file, progress=progress)
    if json:
        print_json(counts.as_dict())
    else:
        show_vote_counts(counts)


def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file that `qa-bot export` wrote.", parser=path_of)],
    json: Json = False,
    max_total_bytes: MaxTotalBytes = None,
    max_record_bytes: MaxRecordBytes = None,
    max_ratio: MaxRatio = None,
) -> None:
    """Merge an export: facts, documents, conversations, votes; an empty home takes over the configuration, too."""
    from qa_bot.answering.fit_confidence import ensure
    from qa_bot.terminal.output import counting, show_imported
    from qa_bot.transfer.importing import join

    home, config = open_home(context)
    encoder, limits = open_encoder(home, config), ingest_limits(max_total_bytes, max_record_bytes, max_ratio)
    with counting("Importing") as progress:
        imported = join(home, config, encoder, file, limits=limits, progress=progress)
    if imported.documents.changed:
        ensure(encoder, home.models)
    if json:
        print_json(imported.as_dict())
    else:
        show_imported(imported)
    raise typer.Exit(code_with_rejects(imported.documents.rejected, imported.sound))
