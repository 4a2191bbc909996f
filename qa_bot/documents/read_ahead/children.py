"""The processes that read ahead, and the threads that talk with them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from qa_bot.documents.ingest.worker.child import Child, StoppedError
from qa_bot.documents.read_ahead.file_read import Request, Settings
from qa_bot.documents.read_ahead.messages import request_frame

MODULE = "qa_bot.documents.read_ahead"
Answer = tuple[bytes, bytes]
"""Kind and payload of a frame, see `messages.file_of`."""


class Children:
    """At most `count` processes. If one is killed, runs out of memory or hangs, no other takes its place."""

    def __init__(self, count: int, settings: Settings) -> None:
        self._settings = settings
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="read-ahead")
        self._idle: list[Child] = []
        self._started: list[Child] = []
        self._is_over = False
        self._lock = Lock()

    def submit(self, requests: Sequence[Request]) -> Future[list[Answer]]:
        """The answers to some requests, only to the first of them if the process stops."""
        return self._threads.submit(self._read, requests)

    def close(self) -> None:
        """End the processes, also within a file."""
        with self._lock:
            self._is_over = True
            self._idle.clear()
        for child in self._started:
            child.kill()
        self._threads.shutdown(cancel_futures=True)
        for child in self._started:
            child.end()

    def _read(self, requests: Sequence[Request]) -> list[Answer]:
        answers: list[Answer] = []
        child = self._take()
        if child is None:
            return answers
        seconds = self._settings.limits.seconds
        try:
            child.send(request_frame(requests, self._settings))
            for _ in requests:
                kind, payload, _ = child.receive(seconds, seconds)
                answers.append((kind, payload))
        except (StoppedError, OSError):
            self._is_over = True
            child.kill()
        else:
            self._idle.append(child)
        return answers

    def _take(self) -> Child | None:
        """An idle process, or a new one; None if no more are started."""
        with self._lock:
            while self._idle:
                child = self._idle.pop()
                if child.is_usable:
                    return child
                child.kill()
            if self._is_over:
                return None
            try:
                self._started.append(Child(MODULE))
            except OSError:  # too little memory, or too many processes
                self._is_over = True
                return None
            return self._started[-1]
