"""The command `serve`: the web page and all services."""

from __future__ import annotations

from typing import Annotated

import typer

from qa_bot.cli.context import home_path


def serve(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; any but this machine's own needs a token.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    liveqa_port: Annotated[int | None, typer.Option(help="A separate port for LiveQA; 0 is off.")] = None,
) -> None:
    """Serve the chat page, WebSocket, JSON, OpenAI-style and LiveQA services, until stopped."""
    from qa_bot.bot import Bot
    from qa_bot.web.server import serve as serve_bot

    flags = {"serve.host": host, "serve.port": port, "serve.liveqa_port": liveqa_port}
    with Bot.open(home_path(context), flags=flags) as bot:
        serve_bot(bot, bot.config.serve)
