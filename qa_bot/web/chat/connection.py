"""Each connection has its own queue of frames, so a slow client does not block others."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from qa_bot.answering.answer_json import dumps
from qa_bot.web.access.rates import TokenBuckets
from qa_bot.web.chat import frames
from qa_bot.web.chat.conversation import Conversation
from qa_bot.web.metrics import Metrics

PACE, BURST = 200, 400
"""Frames a second from one connection, and at once; faster clients are read more slowly."""
QUEUE = 1 << 20
"""Limit of the queue in bytes; a single frame may be longer."""
GOODBYE = {
    WSCloseCode.GOING_AWAY: b"The service is stopping; come back in a moment.",
    WSCloseCode.POLICY_VIOLATION: b"Expected frames as the interface says.",
    WSCloseCode.TRY_AGAIN_LATER: b"Too many are connected; come back later.",
}
"""Message of a close code."""


class Connection:
    """One connection: its conversation, and a queue of frames to send."""

    def __init__(self, web_socket: web.WebSocketResponse, request: web.Request, metrics: Metrics) -> None:
        self.web_socket, self.request = web_socket, request
        self.conversation: Conversation | None = None
        self.tokens: tuple[str, ...] = ()
        """The token of its `hello`, if the service requires one."""
        self.last_seq = 0
        """Number of the last frame that was sent, or that the client says it has read."""
        self.refused = 0
        """Invalid frames in a row."""
        self._metrics = metrics
        self._pace = TokenBuckets(60 * PACE, burst=BURST)
        self._queue: deque[bytes] = deque()
        self._bytes = 0
        self._wake = asyncio.Event()
        self._goodbye: tuple[WSCloseCode, bytes] | None = None
        self._writing = asyncio.create_task(self._write())

    @property
    def closing(self) -> bool:
        return self._goodbye is not None

    def send(self, data: bytes, seq: int) -> None:
        """Queue a frame of the conversation."""
        self.last_seq = seq
        self._put(data)

    def reply(self, content: Mapping[str, Any], question_id: str | None = None) -> None:
        """Queue a frame for this client alone."""
        conversation = self.conversation.id if self.conversation else None
        self._put(dumps(frames.frame(content, question_id=question_id, conversation=conversation, seq=self.last_seq)))

    def close(self, code: WSCloseCode = WSCloseCode.OK, message: bytes | None = None) -> None:
        """Close the connection after the queued frames; the first of several reasons counts."""
        self._goodbye = self._goodbye or (code, GOODBYE.get(code, b"") if message is None else message)
        self._wake.set()

    async def finish(self, seconds: float) -> None:
        """Close, and wait at most `seconds` until it is closed."""
        self.close()
        await asyncio.wait([self._writing], timeout=seconds)
        if self._writing.done() and not self._writing.cancelled():
            self._writing.result()

    def abort(self) -> None:
        """Cut the connection unless it is closed; a client that does not read cannot receive a close frame."""
        self.close()
        if not self._writing.done():
            self._writing.cancel()
            if self.request.transport is not None:
                self.request.transport.abort()

    def join(self, conversation: Conversation) -> None:
        """Move to a conversation; raises ServiceError, without moving, if too many clients are connected to it."""
        if conversation is not self.conversation:
            conversation.attach(self)
            self.leave()
            self.conversation = conversation

    def leave(self) -> None:
        if self.conversation is not None:
            self.conversation.detach(self)
            self.conversation = None

    async def keep_pace(self) -> None:
        """Wait while the client sends too fast; its frames wait on its side."""
        now = time.monotonic()
        while wait := self._pace.wait("", now):
            await asyncio.sleep(wait)
            now = time.monotonic()
        self._pace.take("", now)

    async def _write(self) -> None:
        """Send queued frames until the connection is closed."""
        with suppress(ConnectionError):  # the reading side notices it too
            while self._queue or self._goodbye is None:
                await self._wake.wait()
                self._wake.clear()
                await self._flush()
            code, message = self._goodbye
            await self.web_socket.close(code=code, message=message)

    async def _flush(self) -> None:
        while self._queue:
            data = self._queue[0]  # stays in the queue until it is sent
            await self.web_socket.send_frame(data, WSMsgType.TEXT)
            self._queue.popleft()
            self._bytes -= len(data)

    def _put(self, data: bytes) -> None:
        if self.closing:
            return
        if self._queue and self._bytes + len(data) > QUEUE:
            self._metrics.shed("slow")
            self.abort()
            return
        self._queue.append(data)
        self._bytes += len(data)
        self._wake.set()
