"""All conversations that live in this process: opened, resumed, and let go of."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Iterator

from qa_bot.web.chat.conversation import KEEP, Conversation
from qa_bot.web.service import AnswerService

log = logging.getLogger(__name__)

IDLE = 256
"""Conversations kept although nobody is connected to them; the longest left go first."""
SWEEP = 15.0
"""Seconds between two looks for what may be let go of."""


def new_id() -> str:
    return uuid.uuid4().hex


class Conversations:
    """All conversations that live; those that nobody is connected to are let go of by and by."""

    def __init__(self, service: AnswerService) -> None:
        self._service = service
        self._live: dict[str, Conversation] = {}
        self._idle: dict[str, None] = {}  # ids, the longest left first
        self._sweeping: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._live)

    def __iter__(self) -> Iterator[Conversation]:
        return iter(tuple(self._live.values()))

    async def open(self, id: str | None = None, *, seq: int = 0) -> Conversation:  # noqa: A002  # the noun's own name
        """The conversation of that id, or a new one; to be attached to before anything else is awaited.

        An id that nobody knows opens a conversation under it: its first question may have been lost in a restart.
        """
        asked = {} if id is None or id in self._live else await self._asked(id)
        conversation = self._live.get(id or "")
        if conversation is None:
            conversation = Conversation(id or new_id(), self._service, asked=asked, on_idle=self._settle)
            self._live[conversation.id] = conversation
        if id is None:
            self._service.begin(conversation.id)
        conversation.continue_after(seq)
        self._idle.pop(conversation.id, None)
        self._sweep_later()
        return conversation

    def find(self, id: str | None) -> Conversation | None:  # noqa: A002  # the noun's own name
        """The conversation of that id, where it lives."""
        return self._live.get(id or "")

    def clear(self, id: str) -> None:  # noqa: A002  # the noun's own name
        """Forget what was asked in a conversation, wherever it lives; whoever is connected stays."""
        if conversation := self._live.get(id):
            conversation.clear()

    def sweep(self, now: float) -> None:
        """Let go of what has been kept for long enough, at a moment on the monotonic clock."""
        for conversation in self:
            conversation.forget(now - KEEP)
            if conversation.idle:
                self._settle(conversation)

    async def close(self, seconds: float) -> None:
        """Let the turns that run end, within so many seconds."""
        if self._sweeping:
            self._sweeping.cancel()
        await asyncio.gather(*(conversation.finish(seconds) for conversation in self))

    def _settle(self, conversation: Conversation) -> None:
        """Let go of an idle conversation as soon as it has nothing to tell, or others need its place."""
        if conversation.empty:
            self._drop(conversation.id)
            return
        self._idle.setdefault(conversation.id)
        if len(self._idle) > IDLE:
            self._drop(next(iter(self._idle)))

    def _drop(self, id: str) -> None:  # noqa: A002  # the noun's own name
        self._live.pop(id, None)
        self._idle.pop(id, None)

    def _sweep_later(self) -> None:
        if self._sweeping is None:
            self._sweeping = asyncio.get_running_loop().call_later(SWEEP, self._swept)

    def _swept(self) -> None:
        self._sweeping = None
        self.sweep(time.monotonic())
        if self._live:
            self._sweep_later()

    async def _asked(self, id: str) -> dict[str, str]:  # noqa: A002  # the noun's own name
        """What the store knows of a conversation; without the store it can still go on."""
        try:
            return await self._service.store(lambda store: store.turn_ids_by_reference(id))
        except Exception:
            log.exception("the conversation %s could not be looked up", id)
            return {}
