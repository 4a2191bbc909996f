"""The product: documents in, answers out, for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qa_bot.bot import Bot as Bot

__all__ = ["Bot"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import `Bot` lazily, so that `qa-bot --help` stays fast."""
    if name == "Bot":
        from qa_bot.bot import Bot

        return Bot
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
