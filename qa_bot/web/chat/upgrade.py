"""The upgrade to a WebSocket: version 13 only, and frames of clients must be masked (RFC 6455, sections 4.4 and 5.1).

aiohttp also accepts versions 7 and 8, and frames without a mask, which could be cached by proxies as a reply.
"""

from __future__ import annotations

from typing import Any, Protocol

from aiohttp import WebSocketError, WSCloseCode, hdrs, web

from qa_bot.web.errors import ServiceError

VERSION = "13"
MASKED = 0x80
LENGTHS = {126: 2, 127: 8}
"""Length in the second byte of a frame → bytes of the real length that follow."""
MASK = 4
"""Bytes of a frame's mask."""


class FrameReader(Protocol):
    """aiohttp's reader of frames."""

    def feed_data(self, data: bytes) -> tuple[bool, bytes]: ...

    def feed_eof(self) -> None: ...


class MaskedFrames:
    """Passes bytes on to a reader as long as all frames are masked; follows their headers only."""

    def __init__(self, reader: FrameReader, queue: Any) -> None:
        self._reader, self._queue = reader, queue
        self._header = b""
        self._left = 0  # bytes until the next header
        self._refused = False

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """As the reader's; after a frame without a mask the connection is closed with 1002."""
        if self._refused:
            return True, b""
        if self._all_masked(data):
            return self._reader.feed_data(data)
        self._refused = True
        self._queue.set_exception(WebSocketError(WSCloseCode.PROTOCOL_ERROR, "Expected masked frames of a client"))
        return True, b""

    def feed_eof(self) -> None:
        self._reader.feed_eof()

    def _all_masked(self, data: bytes) -> bool:
        position = 0
        while position < len(data):
            if self._left:
                step = min(self._left, len(data) - position)
                self._left -= step
                position += step
                continue
            self._header += data[position : position + 1]
            position += 1
            if len(self._header) == 2 and not self._header[1] & MASKED:
                return False
            self._end_header()
        return True

    def _end_header(self) -> None:
        """Go on to the content if the header is whole."""
        if len(self._header) < 2:
            return
        length = self._header[1] & ~MASKED
        extended = LENGTHS.get(length, 0)
        if len(self._header) == 2 + extended:
            self._left = MASK + (int.from_bytes(self._header[2:], "big") if extended else length)
            self._header = b""


class StrictWebSocket(web.WebSocketResponse):
    """A WebSocket of version 13 that reads masked frames only."""

    def _post_start(self, request: web.BaseRequest, protocol: str | None, writer: Any) -> None:
        """Put `MaskedFrames` before aiohttp's reader, also for bytes that came with the request."""
        connection = request.protocol
        early, connection._message_tail = connection._message_tail, b""
        super()._post_start(request, protocol, writer)
        reader: Any = MaskedFrames(connection._payload_parser, self._reader)
        connection._payload_parser = reader
        if early:
            reader.feed_data(early)


def check_version(request: web.Request) -> None:
    """Raise ServiceError 426 for an upgrade to another version than 13."""
    if request.headers.get(hdrs.UPGRADE, "").strip().lower() != "websocket":
        return
    version = request.headers.get(hdrs.SEC_WEBSOCKET_VERSION, "none")
    if version.strip() != VERSION:
        raise ServiceError(426, f"Expected Sec-WebSocket-Version: {VERSION}, but got {version[:60]!r}.")
