"""Groups of commands, each made when it is called or listed; other packages add theirs by entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "qa_bot.commands"
LABORATORY = ("train", "eval", "study", "kg.mine")
"""Entry points of the package qa_lab, which every installation has."""

PLAIN_HELP: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}
"""Settings of every typer application here."""


class MissingCommandError(RuntimeError):
    """A command of qa-bot is not installed."""


class CommandGroup(TyperGroup):
    """A group of commands that installed packages can extend.

    A subclass names its commands in `functions`; typer takes a millisecond to make one from a signature, so only the
    one that is called is made. An entry point `train = "package.module:function"` of the group `qa_bot.commands` adds
    `qa-bot train`, and `kg.mine` adds `qa-bot kg mine`. It names a function that typer can turn into a command, or a
    `typer.Typer` of several. Contexts and commands are `Any`, because typer keeps their classes private.
    """

    functions: ClassVar[Mapping[str, Callable[..., None] | typer.Typer]] = {}

    def __init__(self, **attributes: Any) -> None:
        commands = {**dict.fromkeys(self.functions), **(attributes.pop("commands", None) or {})}
        super().__init__(**attributes, commands=commands)

    def list_commands(self, ctx: Any) -> list[str]:
        prefix = _prefix(ctx)
        names = (point.name.removeprefix(prefix) for point in _entry_points() if point.name.startswith(prefix))
        return [*super().list_commands(ctx), *sorted(name for name in names if "." not in name)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.functions:
            return command_from(cmd_name, self.functions[cmd_name])
        return super().get_command(ctx, cmd_name) or _load(_prefix(ctx) + cmd_name)


@cache
def command_of(app: typer.Typer) -> Any:
    """The command that an application is; made once, because typer reads the signatures of all its functions."""
    return typer.main.get_command(app)


@cache
def command_from(name: str, function: Callable[..., None] | typer.Typer) -> Any:
    """The command that a function with typer's annotations is, or a group of them."""
    if isinstance(function, typer.Typer):
        return command_of(function)
    alone = typer.Typer(**PLAIN_HELP)
    alone.command(name)(function)
    return command_of(alone)


def _prefix(context: typer.Context) -> str:
    """What the names of a group's entry points begin with: nothing for `qa-bot`, `kg.` for `qa-bot kg`."""
    return "".join(f"{name}." for name in context.command_path.split()[1:])


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return list(entry_points(group=GROUP))


def _load(name: str) -> Any:
    """The command of the entry point `name`, or None if it is not declared.

    Raises:
        MissingCommandError: it is one of qa-bot's own.
    """
    for point in _entry_points():
        if point.name == name:
            return command_from(name.rpartition(".")[2], point.load())
    if name in LABORATORY:
        raise MissingCommandError(
            f"Expected an entry point {name!r} of the group {GROUP}, but it is not installed; install qa-bot again, "
            "for example by `pip install .` in its folder."
        )
    return None
