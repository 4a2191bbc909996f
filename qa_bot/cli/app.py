"""The root of the command line: its commands, exit codes, and what happens on errors."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from qa_bot.cli import asking, backups, comparing, conversations, graph, maintenance, serving, transfer
from qa_bot.cli.context import FAILED, INTERRUPTED, OK, WRONG_USAGE, GlobalOptions, say
from qa_bot.cli.documents import adding, improving, sources
from qa_bot.cli.entry_points import PLAIN_HELP, CommandGroup, command_of
from qa_bot.terminal.sigint import deferred_sigint
from qa_core.disk_space import system_error
from qa_core.text.safe_text import clean, valid


class Commands(CommandGroup):
    """The commands of the product, in the order of its help."""

    functions: ClassVar[Mapping[str, Callable[..., None] | typer.Typer]] = {
        "ask": asking.ask,
        "search": asking.search,
        "chat": asking.chat,
        "hint": asking.hint,
        "serve": serving.serve,
        "add": adding.add,
        "sync": sources.sync,
        "watch": sources.watch,
        "delete": adding.delete,
        "use": adding.use,
        "improve": improving.improve,
        "status": maintenance.status,
        "doctor": maintenance.doctor,
        "repair": maintenance.repair,
        "migrate": maintenance.migrate,
        "backup": backups.backup,
        "restore": backups.restore,
        "export": transfer.export,
        "import": transfer.import_,
        "compare": comparing.compare,
        "config": maintenance.settings,
        "sources": sources.sources,
        "kg": graph.app,
        "conversations": conversations.app,
    }


app = typer.Typer(
    name="qa-bot",
    help="Answers from your own documents, with their sources.",
    no_args_is_help=True,
    cls=Commands,
    **PLAIN_HELP,
)

PACKAGES = ("qa_bot", "qa_core", "retrievers", "rankers", "generators", "kg_index", "qa_lab")
"""Packages whose exceptions carry messages for users."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_CleanFormatter("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    try:
        with deferred_sigint():
            code = command_of(app).main(list(arguments), prog_name="qa-bot", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except typer.TyperException as error:  # wrong usage; this public base class declares neither method nor code
        error.message = clean(valid(error.message))
        error.show()  # type: ignore[attr-defined]
        return int(getattr(error, "exit_code", WRONG_USAGE))
    except Exception as error:
        if odd := [argument for argument in arguments if valid(argument) != argument]:
            say(f"Error: Expected arguments in UTF-8, but got {clean(valid(odd[0]))!r}.", err=True)
            return WRONG_USAGE
        if not _is_for_users(error):
            raise
        say(f"Error: {_message(error)}", err=True)
        return FAILED
    if code == INTERRUPTED:  # typer's code for Ctrl-C, which it does not report
        say("Interrupted; the home is whole, and holds what was finished before.", err=True)
    return code if isinstance(code, int) else OK


class _CleanFormatter(logging.Formatter):
    """A formatter for terminals: messages may name documents and files of strangers."""

    def format(self, record: logging.LogRecord) -> str:
        return clean(super().format(record))


def _is_for_users(error: Exception) -> bool:
    """Whether the error's message is written for the user, who then needs no traceback."""
    return type(error).__module__.partition(".")[0] in PACKAGES or isinstance(error, OSError)


def _message(error: Exception) -> str:
    """The error's message; one of the system is put into a sentence."""
    return system_error(error) if isinstance(error, OSError) else str(error)


def _print_version(requested: bool) -> None:
    if requested:
        from qa_bot import __version__

        say(__version__)
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    home: Annotated[
        str | None,
        typer.Option("--home", metavar="<path>", help="Folder that holds everything.", envvar="QA_BOT_HOME"),
    ] = None,
    version: Annotated[  # noqa: ARG001 (its callback prints it)
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Answers from your own documents, with their sources."""
    if home == "":  # a path of it is the current directory
        raise typer.BadParameter("Expected a folder as --home, but got an empty text; leave it out for the default.")
    context.obj = GlobalOptions(Path(home) if home else None)
