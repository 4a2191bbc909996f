"""All live conversations of this process: they are opened, resumed and dropped."""

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
"""Limit of conversations without clients; the longest idle is dropped first."""
SWEEP = 15.0
"""Seconds between two sweeps."""


def new_id() -> str:
    return uuid.uuid4().hex


class Conversations:
    """All live conversations; those without clients are dropped after a while."""

    def __init__(self, service: AnswerService) -> None:
        self._service = service
        self._live: dict[str, Conversation] = {}
        self._idle: dict[str, None] = {}  # ids, the longest idle first
        self._sweeping: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._live)

    def __iter__(self) -> Iterator[Conversation]:
        return iter(tuple(self._live.values()))

    async def open(self, id: str | None = None, *, seq: int = 0) -> Conversation:  # noqa: A002  # the noun's own name
        """The conversation of that id, or a new one; attach a client before anything else is awaited.

        An unknown id opens a conversation under it, because its first question may have been lost in a restart.
        """
        answered = {} if id is None or id in self._live else await self._answered(id)
        conversation = self._live.get(id or "")
        if conversation is None:
            conversation = Conversation(id or new_id(), self._service, answered=answered, on_idle=self._keep_idle)
            self._live[conversation.id] = conversation
        if id is None:
            self._service.begin(conversation.id)
        conversation.continue_after(seq)
        self._idle.pop(conversation.id, None)
        self._sweep_later()
        return conversation

    def find(self, id: str | None) -> Conversation | None:  # noqa: A002  # the noun's own name
        """The live conversation of that id, or None."""
        return self._live.get(id or "")

    def clear(self, id: str) -> None:  # noqa: A002  # the noun's own name
        """Forget the turns of a conversation if it is live; its clients stay connected."""
        if conversation := self._live.get(id):
            conversation.clear()

    def sweep(self, now: float) -> None:
        """Drop expired frames and conversations; `now` is a time on the monotonic clock."""
        for conversation in self:
            conversation.forget(now - KEEP)
            if conversation.idle:
                self._keep_idle(conversation)

    async def close(self, seconds: float) -> None:
        """Let the running turns end within `seconds`."""
        if self._sweeping:
            self._sweeping.cancel()
        await asyncio.gather(*(conversation.finish(seconds) for conversation in self))

    def _keep_idle(self, conversation: Conversation) -> None:
        """Drop an idle conversation without frames; keep others, up to `IDLE`."""
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
            self._sweeping = asyncio.get_running_loop().call_later(SWEEP, self._on_sweep)

    def _on_sweep(self) -> None:
        self._sweeping = None
        self.sweep(time.monotonic())
        if self._live:
            self._sweep_later()

    async def _answered(self, id: str) -> dict[str, str]:  # noqa: A002  # the noun's own name
        """Turn ids by question id, from the store; empty if the store fails."""
        try:
            return await self._service.store(lambda store: store.turn_ids_by_reference(id))
        except Exception:
            log.exception("the conversation %s could not be read from the store", id)
            return {}
