"""The command `serve`: the web page and all services."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from qa_bot.cli.context import home_path

if TYPE_CHECKING:
    from qa_bot.bot import Bot
    from qa_bot.documents.reject_log import AddReport


def serve(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; any but this machine's own needs a token.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    liveqa_port: Annotated[int | None, typer.Option(help="A separate port for LiveQA; 0 is off.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Keep documents in step with their sources.")] = False,
) -> None:
    """Serve the chat page, WebSocket, JSON, OpenAI-style and LiveQA services, until stopped."""
    from qa_bot.bot import Bot
    from qa_bot.web.server import serve as serve_bot
    from qa_core.process_memory import bound_heaps

    bound_heaps()  # before the home is opened: threads index the first documents, and the heap of a thread stays
    flags = {"serve.host": host, "serve.port": port, "serve.liveqa_port": liveqa_port}
    with Bot.open(home_path(context), flags=flags) as bot, _watching(bot) if watch else nullcontext():
        serve_bot(bot, bot.config.serve)


@contextmanager
def _watching(bot: Bot) -> Iterator[None]:
    """Synchronise sources while their files change; the service uses the new documents from the next question on."""
    from qa_bot.documents.sources.watching import in_background
    from qa_bot.documents.sync import watcher_of
    from qa_bot.web.logs import event

    def log_report(report: AddReport) -> None:
        counts = {name: getattr(report, name) for name in ("added", "updated", "removed", "rejected")}
        event(logging.getLogger(__name__), "synchronised", **counts, errors=report.errors)
        bot.corridor()  # opened here, so that the next question does not wait for it

    with in_background(watcher_of(bot.home, lambda: (bot.config, bot.encoder)), log_report):
        yield
