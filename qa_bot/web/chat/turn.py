"""A question of a conversation on its way, and whom its frames are sent to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from qa_bot.web.chat.frames import AskFrame


class Client(Protocol):
    """Somebody connected to a conversation."""

    def send(self, data: bytes, seq: int) -> None:
        """Take a frame, at once: whoever reads slowly must not hold the others."""
        ...


class SentFrame(NamedTuple):
    """A frame as it was sent."""

    seq: int
    data: bytes


@dataclass(eq=False, slots=True)
class Turn:
    """A question on its way: it waits, it runs, it is held, it ended."""

    id: str
    ask: AskFrame
    understood: str = ""
    """What is asked in place of the question, where somebody said so."""
    frames: list[SentFrame] = field(default_factory=list)
    stage: str = ""
    work: asyncio.Task[None] | None = None
    held: Mapping[str, Any] | None = None
    """The end of a turn that offers choices, while it waits for one."""
    ended: float | None = None
    """Moment on the monotonic clock."""
    unseen: bool = False
    """Nobody was connected when it ended."""
