"""Commands about sources: `sync`, `watch`, and `sources` with `rename`, `move` and `remove`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qa_bot.cli.context import (
    FAILED,
    OK,
    Json,
    expect_name,
    expect_places,
    open_filled,
    open_home,
    path_of,
    print_json,
    say,
)
from qa_bot.cli.documents.adding import AllowEmpty, exit_code
from qa_bot.cli.documents.improving import NoImprove, finish_change
from qa_bot.cli.entry_points import PLAIN_HELP
from qa_core.counted import counted

if TYPE_CHECKING:
    from qa_bot.documents.reject_log import AddReport

sources = typer.Typer(
    help="Show the sources of documents; rename, move or remove one.", invoke_without_command=True, **PLAIN_HELP
)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SOURCE]...", help="Names, paths or URLs of sources.", callback=expect_places),
]


def sync(
    context: typer.Context,
    names: Names = None,
    dry_run: Annotated[bool, typer.Option(help="Only report what would happen.")] = False,
    allow_empty: AllowEmpty = False,
    json: Json = False,
    no_improve: NoImprove = False,
) -> None:
    """Bring documents in step with their sources: new, changed, moved and deleted files."""
    from qa_bot.answering.fit_confidence import ensure
    from qa_bot.documents import sync as changes
    from qa_bot.terminal.output import counting
    from qa_bot.terminal.source_output import show_synchronised

    home, config, encoder = open_filled(context)
    with counting("Synchronising") as progress:
        report = changes.synchronise(
            home,
            config,
            encoder,
            names or (),
            dry_run=dry_run,
            allow_empty=allow_empty,
            progress=lambda counts: progress(counts.records),
            pages=lambda count: progress(count, "Visiting pages"),
        )
        if report.changed:
            ensure(encoder, home.models)
    if json:
        print_json({**report.as_dict(), **report.lists()})
    else:
        show_synchronised(report, dry_run=dry_run)
    if report.changed and not dry_run:
        finish_change(context, improving=not no_improve)
    raise typer.Exit(exit_code(report))


def watch(context: typer.Context, names: Names = None, json: Json = False) -> None:
    """Keep documents in step with their sources as files change, until stopped."""
    from qa_bot.documents.sync import watcher_of
    from qa_bot.terminal.output import notify
    from qa_bot.terminal.source_output import show_synchronised

    def show(report: AddReport) -> None:
        if json:
            print_json({**report.as_dict(), **report.lists()})
        else:
            show_synchronised(report, dry_run=False)

    home, config, encoder = open_filled(context)
    watcher = watcher_of(home, lambda: (config, encoder), names or ())
    watcher.run(show, started=lambda count: notify(f"Watching {counted(count, 'source')}; stop with Ctrl-C."))


@sources.callback()
def list_sources(context: typer.Context, json: Json = False) -> None:
    """Show the sources of documents."""
    if context.invoked_subcommand is not None:
        return
    from qa_bot.documents import sync as changes
    from qa_bot.terminal.source_output import show_sources, source_fields

    infos = changes.list_sources(*open_home(context))
    if json:
        print_json({"sources": [source_fields(info) for info in infos]})
    else:
        show_sources(infos)


@sources.command("rename")
def rename(
    context: typer.Context,
    old: Annotated[str, typer.Argument(help="Name of the source.")],
    new: Annotated[str, typer.Argument(help="Its new name.", callback=expect_name)],
    json: Json = False,
) -> None:
    """Give a source another name; ids of its documents stay."""
    from qa_bot.documents import sync as changes

    changes.rename_source(*open_home(context), old, new)
    if _is_json(context, json):
        print_json({"name": new, "before": old})
    else:
        say(f"The source {old} is now {new}.")


@sources.command("move")
def move(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the source.")],
    place: Annotated[Path, typer.Argument(help="Where its folder or file is now.", parser=path_of)],
    json: Json = False,
) -> None:
    """Tell where a source is now; `sync` compares its files there, and its documents stay."""
    from qa_bot.documents import sync as changes

    changes.move_source(*open_home(context), name, place)
    if _is_json(context, json):
        print_json({"name": name, "place": str(place)})
    else:
        say(f"The source {name} is now at {place}.")


@sources.command("remove")
def remove(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the source.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without a question.")] = False,
    json: Json = False,
) -> None:
    """Remove a source with its documents; its files are not touched."""
    from qa_bot.documents import sync as changes

    home, config, encoder = open_filled(context)
    info = changes.source_info(home, config, name)
    question = f"Remove the source {info.source.name} and its {counted(info.documents, 'document')}?"
    if not yes and not typer.confirm(question, err=True):
        raise typer.Exit(FAILED)
    removed = changes.remove_source(home, config, encoder, name)
    if _is_json(context, json):
        print_json({"removed": removed})
    else:
        say(f"{counted(removed, 'document')} removed")
    raise typer.Exit(OK)


def _is_json(context: typer.Context, json: bool) -> bool:
    """Whether `--json` follows the command or precedes it, as in `sources --json rename`."""
    return json or bool(context.parent and context.parent.params.get("json"))
