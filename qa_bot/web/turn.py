"""A question of a conversation on its way, and whom its frames are sent to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from qa_bot.web.frames import Ask


class Client(Protocol):
    """Somebody connected to a conversation."""

    def send(self, data: bytes, seq: int) -> None:
        """Take a frame, at once: whoever reads slowly must not hold the others."""
        ...


class Kept(NamedTuple):
    """A frame as it was sent."""

    seq: int
    data: bytes


@dataclass(eq=False, slots=True)
class Turn:
    """A question on its way: it waits, it runs, it ended."""

    id: str
    ask: Ask
    understood: str = ""
    """What is asked in place of the question, where somebody said so."""
    frames: list[Kept] = field(default_factory=list)
    stage: str = ""
    work: asyncio.Task[None] | None = None
    ended: float | None = None
    """Moment on the monotonic clock."""
    unseen: bool = False
    """Nobody was connected when it ended."""
