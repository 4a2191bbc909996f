"""Threads that answer questions: a short one overtakes longer ones that wait, and long ones have separate threads.

24 questions of 1,000 characters at once, each of a third of a second, would hold up an ordinary one for 4 to 7 s if it
had to wait for its turn.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from heapq import heappop, heappush
from itertools import count
from threading import Lock
from typing import Any, TypeVar

from qa_bot.answering.ask import Ask
from qa_bot.answering.events import Event, Listener

Result = TypeVar("Result")

LONG = 1_000
"""Characters above which a question is long: it takes up to twenty times as long as others."""
DELAY = 0.03
"""Seconds for each character: a waiting question is overtaken by shorter ones that come at most so much later. 300
characters then wait for their whole usual deadline, if there are so many shorter ones."""


REPLY = 10
"""Characters of an earlier reply that take the time of one of a question."""


def size_of(ask: Ask) -> int:
    """Characters of a question, with those of the turns before it that the client sent: they are read anew."""
    turns = sum(len(turn.question) + len(turn.reply) // REPLY for turn in ask.history or ())
    return len(ask.question.title) + len(ask.question.body) + turns


class AnswerThreads:
    """`number` threads for questions, and half as many for long ones."""

    def __init__(self, number: int) -> None:
        self._ordinary = _Pool(number, "answer")
        self._long = _Pool(max(1, number // 2), "long")

    def submit(self, size: int, task: Callable[[], Result]) -> Future[Result]:
        """Run a task for `size` characters of text when its turn comes."""
        pool = self._long if size > LONG else self._ordinary
        return pool.submit(time.monotonic() + size * DELAY, task)

    def close(self) -> None:
        """Cancel what waits, and wait for what runs."""
        self._ordinary.close()
        self._long.close()


class _Pool:
    """Threads that take the task with the least rank first."""

    def __init__(self, number: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(number, thread_name_prefix=name)
        self._lock, self._numbers = Lock(), count()
        self._waiting: list[tuple[float, int, Future[Any], Callable[[], Any]]] = []  # a heap

    def submit(self, rank: float, task: Callable[[], Result]) -> Future[Result]:
        future = Future[Result]()
        with self._lock:
            heappush(self._waiting, (rank, next(self._numbers), future, task))
        self._threads.submit(self._do_next)
        return future

    def close(self) -> None:
        with self._lock:
            left, self._waiting = self._waiting, []
        for _, _, future, _ in left:
            future.cancel()
        self._threads.shutdown(cancel_futures=True)

    def _do_next(self) -> None:
        with self._lock:
            if not self._waiting:
                return
            _, _, future, task = heappop(self._waiting)
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = task()
        except BaseException as error:
            future.set_exception(error)
            del future, task  # the error refers to this frame: they would be a cycle, which keeps an index open
        else:
            future.set_result(result)


def on_loop(listen: Listener) -> Listener:
    """A listener for other threads that calls `listen` on the running loop, with one wake-up for many events."""
    loop, waiting = asyncio.get_running_loop(), deque[Event]()

    def deliver() -> None:
        try:
            while waiting:
                listen(waiting.popleft())
        finally:
            if waiting:  # the listener raised, which the loop reports; deliver the remaining events
                loop.call_soon(deliver)

    def enqueue(event: Event) -> None:
        waiting.append(event)
        if len(waiting) == 1:  # else a wake-up is already scheduled
            loop.call_soon_threadsafe(deliver)

    return enqueue
