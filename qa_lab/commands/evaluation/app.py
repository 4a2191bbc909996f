"""The group `qa-bot eval` and its commands, in the order of its help."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from qa_bot.cli.entry_points import PLAIN_HELP, command_from
from qa_lab.commands.evaluation import conversations, documents, graph, liveqa, papers, suites, texts, workplace

TASKS: dict[str, Callable[..., None]] = {
    "retrieval": documents.retrieval,
    "known-item": documents.known_item,
    "liveqa": liveqa.liveqa,
    "workplace": workplace.workplace,
    "everything": suites.everything,
    "papers": papers.papers,
    "answers": texts.answers,
    "similar": texts.similar,
    "paraphrase": texts.paraphrase,
    "words": texts.words,
    "phrases": texts.phrases,
    "relations": graph.relations,
    "linking": graph.linking,
    "facts": graph.facts,
    "rewrite": conversations.rewrite,
    "dialogue": conversations.dialogue,
}


def accepted(
    split: Annotated[str, typer.Option(hidden=True)] = "",
    limit: Annotated[int, typer.Option(hidden=True)] = 0,
) -> None:
    """Options that scripts give to every task; they change nothing in a task that has no such option."""


class TaskGroup(TyperGroup):
    """The commands of `TASKS`, each made when it is called or listed: those of all would slow down `qa-bot --help`."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": dict.fromkeys(TASKS)})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 (typer's signature)
        return _command(cmd_name) if cmd_name in TASKS else None


@cache
def _command(task: str) -> Any:
    """The command of a task; what it lacks of the options of `accepted` is not shown."""
    command = command_from(task, TASKS[task])
    present = {parameter.name for parameter in command.params}
    for parameter in command_from("accepted", accepted).params:
        if parameter.name not in present:
            parameter.expose_value = False
            command.params.append(parameter)
    return command


app = typer.Typer(cls=TaskGroup, no_args_is_help=True, subcommand_metavar="TASK [ARGS]...", **PLAIN_HELP)


@app.callback()
def evaluate() -> None:
    """Measure the bot on judged data, with standard errors."""
