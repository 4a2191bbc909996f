"""One connection of the chat: frames wait in a queue of its own, so that who does not read holds nobody else."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from qa_bot.answering.answer_json import dumps
from qa_bot.web.access import TokenBuckets
from qa_bot.web.chat import frames
from qa_bot.web.chat.conversation import Conversation
from qa_bot.web.metrics import Metrics

PACE, BURST = 200, 400
"""Frames a second from one connection, and at once; whoever sends faster is read more slowly."""
QUEUE = 1 << 20
"""Bytes that may wait for a client that reads slowly; one frame alone may be longer."""
GOODBYE = {
    WSCloseCode.GOING_AWAY: b"The service is stopping; come back in a moment.",
    WSCloseCode.POLICY_VIOLATION: b"Expected frames as the interface says.",
    WSCloseCode.TRY_AGAIN_LATER: b"Too many are connected; come back later.",
}
"""What a code says to people."""


class Connection:
    """One connection: the conversation that it is in, and a queue of frames to send."""

    def __init__(self, web_socket: web.WebSocketResponse, request: web.Request, metrics: Metrics) -> None:
        self.web_socket, self.request = web_socket, request
        self.conversation: Conversation | None = None
        self.tokens: tuple[str, ...] = ()
        """What the client was let in by, where it had to say something."""
        self.told = 0
        """The last numbered frame that was sent, or that the client said it has read."""
        self.refused = 0
        """Frames in a row that made no sense."""
        self._metrics = metrics
        self._pace = TokenBuckets(60 * PACE, burst=BURST)
        self._queue: deque[bytes] = deque()
        self._bytes = 0
        self._something = asyncio.Event()
        self._goodbye: tuple[WSCloseCode, bytes] | None = None
        self._writing = asyncio.create_task(self._write())

    @property
    def closing(self) -> bool:
        return self._goodbye is not None

    def send(self, data: bytes, seq: int) -> None:
        """Have a frame of the conversation sent."""
        self.told = seq
        self._put(data)

    def reply(self, content: Mapping[str, Any], question_id: str | None = None) -> None:
        """Have a frame sent to this client alone."""
        conversation = self.conversation.id if self.conversation else None
        self._put(dumps(frames.frame(content, question_id=question_id, conversation=conversation, seq=self.told)))

    def close(self, code: WSCloseCode = WSCloseCode.OK, message: bytes | None = None) -> None:
        """Have the connection closed when everything before is sent; of several reasons the first counts."""
        self._goodbye = self._goodbye or (code, GOODBYE.get(code, b"") if message is None else message)
        self._something.set()

    async def finish(self, seconds: float) -> None:
        """Close, and wait so long until it is closed."""
        self.close()
        await asyncio.wait([self._writing], timeout=seconds)
        if self._writing.done() and not self._writing.cancelled():
            self._writing.result()

    def abort(self) -> None:
        """Cut the connection unless it is closed: who does not read could not be told anything more."""
        self.close()
        if not self._writing.done():
            self._writing.cancel()
            if self.request.transport is not None:
                self.request.transport.abort()

    def join(self, conversation: Conversation) -> None:
        """Raises ServiceError, and stays where it is, if too many are connected to that conversation."""
        if conversation is not self.conversation:
            conversation.attach(self)
            self.leave()
            self.conversation = conversation

    def leave(self) -> None:
        if self.conversation is not None:
            self.conversation.detach(self)
            self.conversation = None

    async def keep_pace(self) -> None:
        """Wait as long as the client sends too fast; what it sends waits on its own side."""
        now = time.monotonic()
        while wait := self._pace.wait("", now):
            await asyncio.sleep(wait)
            now = time.monotonic()
        self._pace.take("", now)

    async def _write(self) -> None:
        """Send what is to be sent, until the connection is closed."""
        with suppress(ConnectionError):  # whoever reads the socket notices too
            while self._queue or self._goodbye is None:
                await self._something.wait()
                self._something.clear()
                await self._flush()
            code, message = self._goodbye
            await self.web_socket.close(code=code, message=message)

    async def _flush(self) -> None:
        while self._queue:
            data = self._queue[0]  # it waits until it is sent
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
        self._something.set()
