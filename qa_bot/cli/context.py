"""What the commands share: exit codes, common options, the home and the bot of a command, JSON output."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qa_core.text.safe_text import clean, escaped_json, has_control_characters, valid

if TYPE_CHECKING:
    from qa_bot.bot import Bot
    from qa_bot.home.config import Config
    from qa_bot.home.folder import Home
    from qa_core.types import Encoder

OK, FAILED, WRONG_USAGE, NO_ANSWER, PARTLY, INTERRUPTED = 0, 1, 2, 3, 4, 130

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def code_with_rejects(rejected: int, accepted: int) -> int:
    """Exit code of a command that reads records: 1 if all were rejected, 4 if some were, 0 otherwise."""
    if not rejected:
        return OK
    return PARTLY if accepted else FAILED


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """Options before the command."""

    home: Path | None = None


def home_path(context: typer.Context) -> Path | None:
    """Value of --home or QA_BOT_HOME; None if neither is set."""
    options = context.find_object(GlobalOptions)
    return options.home if options else None


def explicit_home_path(context: typer.Context) -> Path | None:
    """Value of --home; unlike `home_path` it ignores QA_BOT_HOME."""
    source = context.find_root().get_parameter_source("home")
    return home_path(context) if source is not None and source.name == "COMMANDLINE" else None


def present_home(context: typer.Context) -> tuple[Home, Config]:
    """The home of this command and its configuration, before anything is filled or upgraded."""
    from qa_bot.home.folder import Home
    from qa_bot.home.generations import present_config

    home = Home.open(home_path(context))
    return home, present_config(home)


def open_home(context: typer.Context, *, newer: bool = False) -> tuple[Home, Config]:
    """The home of this command and its configuration.

    Args:
        newer: whether a home that a newer version wrote is opened, too.
    """
    from qa_bot.backup.older_schema import keep_before_upgrade
    from qa_bot.home.checks.schema_version import NewerHomeError

    home, config = present_home(context)
    try:
        keep_before_upgrade(home, config)
    except NewerHomeError:
        if not newer:
            raise
    return home, config


def open_bot(context: typer.Context) -> Bot:
    """The bot over the home of this command."""
    from qa_bot.bot import Bot
    from qa_core.process_memory import bound_heaps

    bound_heaps(1)
    return Bot.open(home_path(context))


def open_filled(context: typer.Context) -> tuple[Home, Config, Encoder]:
    """The home of this command, filled with the starter collection if it is new, its configuration and its encoder.

    For commands that change documents: they do without the bot, whose imports take .1 s.
    """
    from qa_bot.documents.first_fill import prepare

    home, config = present_home(context)
    encoder = cache(lambda: open_encoder(home, config))
    prepare(home, config, encoder)
    return home, config, encoder()


def open_encoder(home: Home, config: Config) -> Encoder:
    """The configured encoder."""
    from qa_bot.home.encoders import resolve

    dense = config.dense
    threads = min(dense.threads, os.cpu_count() or 1)
    return resolve(dense.encoder, models=home.models, int8=dense.int8, threads=threads, prompts=dense.prompts)


def read_line(prompt: str = "\nyou: ") -> str | None:
    """The next line of standard input, None at its end; the prompt is shown in a terminal only. Invalid UTF-8 is
    replaced."""
    try:
        return valid(input(prompt if sys.stdin.isatty() else ""))
    except EOFError:
        return None


def read_question(argument: str) -> str:
    """The question itself, or standard input if the argument is `-`; invalid UTF-8 is replaced."""
    if argument != "-":
        return valid(argument)
    data = getattr(sys.stdin, "buffer", None)
    return (sys.stdin.read() if data is None else data.read().decode("utf-8", "replace")).strip()


def expect_name(name: str | None) -> str | None:
    """A name on the command line; blank ones and ones with control characters are wrong usage."""
    if name is not None and (not name.strip() or has_control_characters(name)):
        raise typer.BadParameter(f"Expected a name that is not blank and has no control characters, but got {name!r}.")
    return name


def expect_places(places: list[str] | None) -> list[str] | None:
    """Paths, URLs or names of sources on the command line; an empty one, which would be the current folder, is wrong
    usage."""
    for place in places or ():
        if not place.strip():
            raise typer.BadParameter(
                f"Expected a path that is not empty, but got {place!r}; the current folder is `.`."
            )
    return places


def path_of(text: str) -> Path:
    """A path on the command line; see `expect_places`."""
    expect_places([text])
    return Path(text)


def read_secret(name: str) -> str:
    """One line of standard input; in a terminal it is not shown. Without one it is wrong usage.

    A pipe from a command that failed is empty: it must not remove what was set.
    """
    if sys.stdin.isatty():
        from getpass import getpass

        secret = getpass(f"{name}: ")
    else:
        secret = sys.stdin.readline().rstrip("\r\n")
    if not secret.strip():
        raise typer.BadParameter(
            f"Expected a line with {name} on standard input, but got an empty one; `qa-bot config set {name} ''` "
            "removes it."
        )
    return secret


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Write a text to standard output or error: without control characters, which names and documents may hold."""
    typer.echo(clean(valid(text)), err=err, nl=nl)


def say_what_still_holds(home: Home) -> None:
    """Name on standard error what holds deleted texts: copies from before."""
    from qa_bot.backup.upgrading import copies_inside

    say("Backups and exports made before still hold what was deleted.", err=True)
    for folder in copies_inside(home):
        say(f"{folder}, from before a restore or an upgrade, holds it, too; remove the folder.", err=True)


def print_json(payload: Any) -> None:
    """Write `payload` to standard output as one line of JSON."""
    from qa_bot.answering.answer_json import dumps

    sys.stdout.buffer.write(escaped_json(dumps(payload)) + b"\n")
    sys.stdout.flush()
