"""The command `improve`, and the better vectors that other commands make after their own work."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qa_bot.cli.backups import back_up_afterwards
from qa_bot.cli.context import Json, open_bot, open_home, print_json

if TYPE_CHECKING:
    from qa_bot.home.config import Config
    from qa_bot.home.folder import Home

NoImprove = Annotated[bool, typer.Option("--no-improve", help="Do not make better vectors afterwards.")]
SHORT = 120.0
"""Seconds that a batch of questions waits for better vectors."""
COMMAND = "`qa-bot improve` makes better vectors, which find more"


def improve(context: typer.Context, json: Json = False) -> None:
    """Make better vectors of all documents; it can be stopped and goes on where it stopped."""
    from qa_bot.home.doctor import vectors
    from qa_bot.terminal.improving_output import show_improved

    with open_bot(context) as bot:
        home, config = bot.home, bot.config
    run(home, config)
    figures: dict[str, Any] = vectors(home, config)
    if json:
        print_json(figures)
    else:
        show_improved(figures)


def run(home: Home, config: Config, *, longest: float | None = None) -> bool:
    """Make the better vectors, and return whether they are there.

    Args:
        longest: seconds; a run that would take longer is given up after its first batches, which are kept.
    """
    from qa_bot.answering.fit_confidence import ensure
    from qa_bot.documents.improving import Improver, is_improvable
    from qa_bot.home.encoders import TRANSFORMER, resolve
    from qa_bot.terminal.improving_output import improving

    if not is_improvable(home, config):
        return True
    with Improver(home, config) as improver, improving() as show:
        for progress in improver.run():
            show(progress)
            if longest is not None and (progress.left or 0.0) > longest:
                return False
    if config.ranking.formula != "passages":  # ranked passages have one calibration for every encoder
        ensure(resolve(TRANSFORMER, models=home.models, threads=config.dense.threads), home.models)
    return True


def finish_change(context: typer.Context, *, improving: bool) -> None:
    """After `add` or `sync`: make better vectors if that is allowed, and write the backup that is due."""
    improve_afterwards(context, allowed=improving)
    back_up_afterwards(context)


def improve_afterwards(context: typer.Context, *, allowed: bool) -> None:
    """Make better vectors if someone watches, or name the command that does."""
    from qa_bot.documents.improving import is_to_improve
    from qa_bot.home.encoders import EncoderError
    from qa_bot.home.folder import WriterBusyError
    from qa_bot.terminal.output import notify

    home, config = open_home(context)
    try:
        if not is_to_improve(home, config):
            return
        if not (allowed and is_watched()):
            notify(f"{COMMAND}.")
            return
        notify("Better vectors are being made; Ctrl-C is fine: the documents can be asked already.")
        run(home, config)
    except KeyboardInterrupt:
        notify(f"Stopped. The documents can be asked; {COMMAND}, and goes on where it stopped.")
    except (EncoderError, WriterBusyError) as error:
        notify(str(error))


def is_watched() -> bool:
    """Whether someone sees the progress."""
    return sys.stderr.isatty()


def improve_before(home: Home, config: Config) -> None:
    """Before a batch of questions: make better vectors if that is short and no one else writes."""
    from qa_bot.documents.improving import is_to_improve
    from qa_bot.home.encoders import EncoderError
    from qa_bot.home.folder import WriterBusyError
    from qa_bot.terminal.output import notify

    try:
        if not is_to_improve(home, config):
            return
        with home.lock("improve"):  # another writer has it: its documents come first
            pass
        notify(f"Better vectors are made first, if that takes less than {SHORT / 60:.0f} minutes (--no-improve: not).")
        if not run(home, config, longest=SHORT):
            notify(f"That would take longer. {COMMAND}.")
    except (EncoderError, WriterBusyError) as error:
        notify(str(error))
