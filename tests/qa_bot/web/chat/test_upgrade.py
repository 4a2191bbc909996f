"""The upgrade of raw sockets, and frames without a mask."""

from __future__ import annotations

import base64
import json
import socket

import pytest
from aiohttp import WebSocketError
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.web.chat.upgrade import MaskedFrames


class Recorded:
    """A reader and a queue that keep what they get."""

    def __init__(self) -> None:
        self.data, self.error = b"", None

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        self.data += data
        return False, b""

    def set_exception(self, error: Exception) -> None:
        self.error = error


def frame(content: bytes, *, masked: bool = True, opcode: int = 1) -> bytes:
    """RFC 6455, section 5.2."""
    bit = 0x80 if masked else 0
    if len(content) < 126:
        head = bytes([0x80 | opcode, bit | len(content)])
    elif len(content) < 1 << 16:
        head = bytes([0x80 | opcode, bit | 126]) + len(content).to_bytes(2, "big")
    else:
        head = bytes([0x80 | opcode, bit | 127]) + len(content).to_bytes(8, "big")
    mask = b"\x01\x02\x03\x04" if masked else b""
    return head + mask + bytes(byte ^ mask[i % 4] if masked else byte for i, byte in enumerate(content))


@given(st.lists(st.sampled_from([0, 1, 125, 126, 127, 300, 65_535, 65_536]), max_size=4), st.data())
def test_masked_frames_pass_in_whatever_pieces(lengths: list[int], data: st.DataObject) -> None:
    sent = b"".join(frame(b"\x81\x05" * (length // 2) + b"x" * (length % 2)) for length in lengths)
    reader, position = Recorded(), 0
    frames = MaskedFrames(reader, reader)
    while position < len(sent):
        step = data.draw(st.sampled_from([1, 2, 7, 1000, 1 << 20]))
        if len(sent) - position > 2000 and step < 1000:
            step = 1000
        frames.feed_data(sent[position : position + step])
        position += step
    assert reader.data == sent
    assert reader.error is None


@pytest.mark.parametrize("before", [b"", frame(b"x"), frame(b"x" * 200), frame(b"x" * 70_000)])
def test_a_frame_without_a_mask_passes_nothing_on(before: bytes) -> None:
    reader = Recorded()
    frames = MaskedFrames(reader, reader)
    frames.feed_data(before)
    ended, _ = frames.feed_data(frame(b"x", masked=False))
    assert ended
    assert isinstance(reader.error, WebSocketError)
    assert reader.error.code == 1002
    assert frames.feed_data(frame(b"x"))[0], "it stays closed"
    assert reader.data == before


def connected(service, *, version: str | None = "13", early: bytes = b"") -> tuple[socket.socket, bytes]:
    """A raw socket after the upgrade, and the head of the reply."""
    port = service.running.settings.port
    lines = ["GET /ws HTTP/1.1", f"Host: localhost:{port}", "Connection: Upgrade", "Upgrade: websocket"]
    lines += [f"Sec-WebSocket-Key: {base64.b64encode(b'0123456789abcdef').decode()}"]
    lines += [f"Sec-WebSocket-Version: {version}"] if version else []
    raw = socket.create_connection(("127.0.0.1", port), timeout=30)
    raw.sendall("\r\n".join([*lines, "", ""]).encode() + early)
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += raw.recv(1)
    return raw, head


def received(raw: socket.socket) -> tuple[int, bytes]:
    """Opcode and content of a short frame of the service."""

    def read(count: int) -> bytes:
        parts = b""
        while len(parts) < count:
            parts += (part := raw.recv(count - len(parts)))
            assert part, "the service closed"
        return parts

    first, length = read(2)
    return first & 0xF, read(int.from_bytes(read(2), "big") if length == 126 else length)


PING = json.dumps({"type": "ping"}).encode()


@pytest.mark.parametrize("early", [False, True])
def test_a_masked_frame_is_answered_also_with_the_request(service, early) -> None:
    raw, head = connected(service, early=frame(PING) if early else b"")
    with raw:
        assert head.startswith(b"HTTP/1.1 101 ")
        if not early:
            raw.sendall(frame(PING))
        opcode, content = received(raw)
    assert (opcode, json.loads(content)["type"]) == (1, "pong")


@pytest.mark.parametrize("early", [False, True])
def test_a_frame_without_a_mask_closes_the_connection(service, early) -> None:
    bare = frame(PING, masked=False)
    raw, _ = connected(service, early=bare if early else b"")
    with raw:
        if not early:
            raw.sendall(bare)
        opcode, content = received(raw)
    assert (opcode, int.from_bytes(content[:2], "big")) == (8, 1002)


@pytest.mark.parametrize("version", ["8", "7", "12", "14", "013", "", None])
def test_other_versions_are_refused_and_the_right_one_is_named(service, version) -> None:
    raw, head = connected(service, version=version)
    raw.close()
    assert head.startswith(b"HTTP/1.1 426 ")
    assert b"\r\nSec-WebSocket-Version: 13\r\n" in head
    assert b"\r\nUpgrade: websocket\r\n" in head
