"""The commands `backup` and `restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qa_bot.cli.context import Json, home_path, open_home, print_json, say


def backup(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Folder for backups; by default [backup] to.", show_default=False),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(min=1, help="Remove all but the newest N; by default [backup] keep.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Write a verified backup of the whole home, also while it is served; unchanged files are not copied again."""
    from qa_bot.backup.writing import backup as write

    home, config = open_home(context)
    if folder is None and not config.backup.to:
        raise typer.BadParameter("Expected a folder DIR, or one in [backup] to, but got none.")
    written = write(home, config, folder or Path(config.backup.to), keep=keep or config.backup.keep)
    if json:
        print_json(written.as_dict())
        return
    say(
        f"backup {written.name} in {written.folder}: {written.documents:,} documents, {written.turns:,} turns, "
        f"{written.files:,} files, {written.bytes / 1e6:,.1f} MB, of which {written.copied / 1e6:,.1f} MB were copied; "
        "every file was read back"
    )
    if written.removed:
        say(f"removed: {', '.join(written.removed)}")


def restore(
    context: typer.Context,
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Folder that `backup` wrote to.", show_default=False)
    ] = None,
    into: Annotated[
        Path | None, typer.Option(help="New folder for the home; by default this home is replaced.", show_default=False)
    ] = None,
    at: Annotated[str | None, typer.Option(help="Name of a backup; by default the newest.", show_default=False)] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Bring back what the last restore or upgrade replaced.")] = False,
    json: Json = False,
) -> None:
    """Bring back a whole home: documents, facts, conversations, votes, configuration."""
    from qa_bot.backup import restoring
    from qa_bot.backup.upgrading import UPGRADES, upgrades
    from qa_bot.home.folder import Home

    if (folder is None) != undo or (undo and (into or at)):
        raise typer.BadParameter("Expected a folder DIR, or --undo alone.")
    if folder is not None and into is not None:
        restored = restoring.restore_into(folder, into, name=at)
    else:
        home = Home.open(home_path(context))
        if undo and upgrades(home):
            restored = restoring.restore(home, home.path / UPGRADES)
        elif undo:
            restoring.undo(home)
            if json:
                print_json({"undone": True, "home": str(home.path)})
            else:
                say(f"{home.path} has its former content again; --undo once more takes that back.")
            return
        else:
            restored = restoring.restore(home, folder or Path(), name=at)
    if json:
        print_json(restored.as_dict())
        return
    say(
        f"restored {restored.name} into {restored.home}: {restored.documents:,} documents, {restored.turns:,} turns, "
        f"{restored.files:,} files"
    )
    for notice in restored.notices:
        say(notice, err=True)


def back_up_afterwards(context: typer.Context) -> None:
    """Write the backup of `[backup] every` if it is due."""
    from qa_bot.home.config import load_config
    from qa_bot.home.folder import Home

    home = Home.open(home_path(context))
    config = load_config(home.path)
    if not config.backup.every:
        return
    from qa_bot.backup.schedule import backup_when_due

    if (written := backup_when_due(home, config)) is not None:
        say(f"backup {written.name} in {written.folder}", err=True)
