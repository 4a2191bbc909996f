"""A proxy before a server's Unix socket that cuts all connections, or kills the server, at a chosen message."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

SOCKET = ".s.PGSQL.5432"
"""The name that PostgreSQL's clients look for in a folder."""
Lost = Literal["request", "reply"]
"""What the cut loses: the message itself, or the server's answer to it."""


class CuttingProxy:
    """Forwards from `folder` to the socket in `server`; cuts once, at message `at` (from 1; 0 never).

    With `kill` the server is killed instead: before it gets the message, or after its first reply to it, which is lost.
    """

    def __init__(
        self,
        folder: Path,
        server: Path,
        *,
        at: int = 0,
        lost: Lost = "request",
        kill: Callable[[], None] | None = None,
    ) -> None:
        folder.mkdir(exist_ok=True)
        self._server, self._at, self._lost = str(server / SOCKET), at, lost
        self._kill, self._is_doomed = kill, False
        self._lock, self.messages = threading.Lock(), 0
        self._open: list[socket.socket] = []
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / SOCKET))
        self._listening.listen()
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._accepting.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(self._listening)
        self._accepting.join()
        self._cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._join(client)

    def _join(self, client: socket.socket) -> None:
        """Connect a client with the server; a server that is down closes the connection."""
        server = socket.socket(socket.AF_UNIX)
        with self._lock:
            self._open += (client, server)
        try:
            server.connect(self._server)
        except OSError:
            self._close(client)
            self._close(server)
            return
        threading.Thread(target=self._requests, args=(client, server), daemon=True).start()
        threading.Thread(target=self._replies, args=(server, client), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(1 << 20):
                with self._lock:
                    self.messages += 1
                    is_cut = self.messages == self._at
                if is_cut and self._kill and self._lost == "reply":
                    self._is_doomed = True
                elif is_cut and self._lost == "reply":
                    self._close(client)  # the server still reads what was sent
                    server.sendall(data)
                    server.shutdown(socket.SHUT_WR)
                    return
                elif is_cut:
                    if self._kill:
                        self._kill()
                    self._cut()
                    return
                server.sendall(data)
        self._close(server)

    def _replies(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 20):
                if self._is_doomed and self._kill:
                    self._is_doomed = False
                    self._kill()
                    self._cut()
                    return
                client.sendall(data)
        self._close(client)

    def _cut(self) -> None:
        with self._lock:
            sockets, self._open = self._open, []
        for one in sockets:
            self._close(one)

    @staticmethod
    def _close(one: socket.socket) -> None:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()
