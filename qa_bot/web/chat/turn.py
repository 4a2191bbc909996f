"""A turn: one question of a conversation with its frames, and the clients that receive them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from qa_bot.web.chat.frames import AskFrame


class Client(Protocol):
    """A client connected to a conversation."""

    def send(self, data: bytes, seq: int) -> None:
        """Accept a frame without waiting, so that a slow client does not block others."""
        ...


class SentFrame(NamedTuple):
    """A numbered frame that was sent."""

    seq: int
    data: bytes


@dataclass(eq=False, slots=True)
class Turn:
    """A question that waits, runs, is held open for a choice, or has ended."""

    id: str
    ask: AskFrame
    understood: str = ""
    """The question to ask in place of the written one, if the client chose one."""
    frames: list[SentFrame] = field(default_factory=list)
    stage: str = ""
    work: asyncio.Task[None] | None = None
    held: Mapping[str, Any] | None = None
    """The final frame of a turn that offers choices, held back while the client may choose."""
    ended: float | None = None
    """Time on the monotonic clock."""
    unseen: bool = False
    """No client was connected when it ended."""
