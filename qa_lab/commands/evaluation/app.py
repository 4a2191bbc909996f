"""The group `qa-bot eval` and its commands, in the order of its help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from qa_bot.cli.entry_points import PLAIN_HELP, CommandGroup, command_from
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
    "sentiment": texts.sentiment,
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


class Tasks(CommandGroup):
    """The commands of `TASKS`; what each lacks of the options of `accepted` is not shown."""

    functions = TASKS

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if cmd_name in TASKS:
            present = {parameter.name for parameter in command.params}
            for parameter in command_from("accepted", accepted).params:
                if parameter.name not in present:
                    parameter.expose_value = False
                    command.params.append(parameter)
        return command


app = typer.Typer(cls=Tasks, no_args_is_help=True, subcommand_metavar="TASK [ARGS]...", **PLAIN_HELP)


@app.callback()
def evaluate() -> None:
    """Measure the bot on judged data, with standard errors."""
