"""The command `conversations`: list, show, rename, export and delete them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qa_bot.cli.context import NO_ANSWER, OK, Json, open_home, print_json, say, say_what_still_holds
from qa_bot.cli.entry_points import PLAIN_HELP

if TYPE_CHECKING:
    from qa_bot.home.store import Store

app = typer.Typer(
    help="Conversations: list them, or show, rename, export and delete some.",
    invoke_without_command=True,
    **PLAIN_HELP,
)


class TranscriptFormat(StrEnum):
    json = "json"
    markdown = "markdown"


Id = Annotated[str, typer.Argument(help="Id of the conversation.")]


@app.callback()
def conversations(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="Number of conversations at most.", min=1)] = 100,
    json: Json = False,
) -> None:
    """List conversations, the last used first."""
    if context.invoked_subcommand is not None:
        return
    from dataclasses import asdict

    from qa_bot.home.journal import open_store
    from qa_bot.terminal.output import show_conversations

    with open_store(*open_home(context)) as store:
        rows = store.conversations(limit=limit)
    if json:
        print_json({"conversations": [asdict(row) for row in rows]})
    else:
        show_conversations(rows)


@app.command()
def show(context: typer.Context, id: Id, json: Json = False) -> None:  # noqa: A002 (the argument's name)
    """Show a conversation: questions, answers with their sources, and votes."""
    from qa_bot.transfer.transcripts import markdown

    with _transcript(context, id) as transcript:
        if json:
            print_json(transcript)
        else:
            say(markdown(transcript), nl=False)


@app.command()
def rename(
    context: typer.Context,
    id: Id,  # noqa: A002 (the argument's name)
    title: Annotated[str, typer.Argument(help="Its new title.")],
) -> None:
    """Give a conversation another title."""
    from qa_bot.home.journal import open_store

    if not (title := " ".join(title.split())):
        raise typer.BadParameter("Expected a title, but got a blank one.")
    with _exit_if_not_found(), open_store(*open_home(context)) as store:
        store.rename_conversation(id, title)


@app.command()
def export(
    context: typer.Context,
    id: Id,  # noqa: A002 (the argument's name)
    out: Annotated[Path, typer.Option(help="File to write.")],
    format: Annotated[  # noqa: A002 (the flag's name)
        TranscriptFormat, typer.Option(help="JSON as the services give it, or Markdown to read.")
    ] = TranscriptFormat.markdown,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a conversation to a file."""
    import orjson

    from qa_bot.transfer.transcripts import markdown
    from qa_core.atomic import atomic_file

    with _transcript(context, id) as transcript, atomic_file(out, overwrite=force, private=True) as file:
        is_json = format is TranscriptFormat.json
        as_json = orjson.dumps(transcript, option=orjson.OPT_INDENT_2) + b"\n"
        file.write(as_json if is_json else markdown(transcript).encode())


@app.command()
def delete(
    context: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of conversations.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All conversations, single questions, and their votes.")
    ] = False,
    json: Json = False,
) -> None:
    """Remove conversations with all their turns, for good."""
    from qa_bot.home.journal import DAMAGED, open_store

    if everything == bool(ids):
        raise typer.BadParameter("Expected ids of conversations, or --all.")
    home, config = open_home(context)
    with open_store(home, config) as store:
        if everything:
            expired, single = store.expire(inf)
            (home.path / DAMAGED).unlink(missing_ok=True)
            counts: dict[str, Any] = {"deleted": len(expired), "questions": single}
        else:
            counts = _delete_some(store, list(dict.fromkeys(ids or [])))
    if json:
        print_json(counts)
    else:
        say(f"{counts['deleted']:,} deleted" + (f", {single:,} single questions" if everything else ""))
    say_what_still_holds(home)
    raise typer.Exit(OK if counts["deleted"] or everything else NO_ANSWER)


def _delete_some(store: Store, ids: list[str]) -> dict[str, Any]:
    """Delete conversations by id; the number of deleted ones, and the ids that were not found."""
    from qa_bot.home.store import NotFoundError

    missing: list[str] = []
    for identifier in ids:
        try:
            store.delete_conversation(identifier)
        except NotFoundError as error:
            missing.append(identifier)
            say(str(error), err=True)
    return {"deleted": len(ids) - len(missing), "missing": missing}


@contextmanager
def _exit_if_not_found() -> Iterator[None]:
    from qa_bot.home.store import NotFoundError

    try:
        yield
    except NotFoundError as error:
        say(str(error), err=True)
        raise typer.Exit(NO_ANSWER) from None


@contextmanager
def _transcript(context: typer.Context, identifier: str) -> Iterator[dict[str, Any]]:
    """A conversation in the form of the HTTP service."""
    from qa_bot.home.journal import open_store
    from qa_bot.transfer.transcripts import whole

    with _exit_if_not_found(), open_store(*open_home(context)) as store:
        yield whole(store, identifier)
