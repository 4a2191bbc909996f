"""The one engine behind every service: so many questions at once, so many waiting, the rest told to come back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Event as Flag
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from qa_bot.bot import Bot
from qa_bot.deadline import Deadline
from qa_bot.events import Event, Listener, nobody
from qa_bot.pipeline import Engine as Retrieval
from qa_bot.pipeline import Ranking
from qa_bot.web.errors import ServiceError
from qa_bot.web.metrics import Metrics
from qa_core.types import Answer, Question

if TYPE_CHECKING:
    from qa_bot.store import Store

Result = TypeVar("Result")

BOOKKEEPERS = 2
"""Threads for the store: conversations are listed and votes saved while all others answer."""
USUAL = 0.05
"""Seconds that a question is taken to need, for the time after which those turned away should come back."""


class Engine:
    """Runs the bot in worker threads, off the event loop; to be used from one event loop.

    A question's deadline runs from the moment it came: waiting in the queue costs its own time. A caller that is
    cancelled stops its work.
    """

    def __init__(self, bot: Bot, metrics: Metrics, *, workers: int, queue: int) -> None:
        """Answer `workers` questions at once while at most `queue` wait."""
        self.bot = bot
        self.stopping = False
        self._metrics = metrics
        self._workers = ThreadPoolExecutor(workers, thread_name_prefix="answer")
        self._bookkeepers = ThreadPoolExecutor(BOOKKEEPERS, thread_name_prefix="store")
        self._room, self._at_once = workers + queue, workers
        self._lock = Lock()
        self._taken = 0
        metrics.watch("questions_in_work", "Questions being answered.", lambda: min(self._taken, workers))
        metrics.watch("questions_waiting", "Questions in the queue.", lambda: max(0, self._taken - workers))

    @property
    def overloaded(self) -> bool:
        """Whether the next question would be turned away."""
        return self._taken >= self._room

    @property
    def busy(self) -> bool:
        """Whether the next question would have to wait."""
        return self._taken >= self._at_once

    async def answer(
        self,
        question: Question,
        *,
        deadline: float | None = None,
        top: int = 10,
        trace: bool = False,
        conversation: str | None = None,
        listen: Listener = nobody,
    ) -> Answer:
        """`Bot.ask` in a worker thread; `listen` is called on the event loop, before the answer is returned.

        Raises:
            ServiceError: 503 where too many wait already, or the service is stopping.
            asyncio.CancelledError: the caller was cancelled; the work stops when it looks up next.
        """
        told = listen if listen is nobody else _on_loop(listen)
        ask = partial(self.bot.ask, question, top=top, trace=trace, conversation=conversation, listen=told)
        answer = await self._run(lambda limit: ask(deadline=limit), deadline)
        self._metrics.answered(answer)
        return answer

    async def search(self, query: str, *, engine: Retrieval = "hybrid", top: int = 10) -> Ranking:
        """`Bot.search` in a worker thread; raises as `answer` does."""
        return await self._run(lambda _: self.bot.search(query, engine=engine, top=top), None)

    async def store(self, work: Callable[[Store], Result]) -> Result:
        """Call `work` with the store, in a thread that no question holds."""
        return await asyncio.wrap_future(self._bookkeepers.submit(lambda: work(self.bot.store)))

    async def close(self) -> None:
        """Take nothing new, and wait for what runs; what waits in the queue is not begun."""
        self.stopping = True
        await asyncio.to_thread(self._workers.shutdown, cancel_futures=True)
        await asyncio.to_thread(self._bookkeepers.shutdown)

    async def _run(self, work: Callable[[Deadline], Result], seconds: float | None) -> Result:
        cancelled = Flag()
        limit = Deadline.after(self.bot.config.answer.deadline if seconds is None else seconds, cancelled)
        self._admit()
        future = self._workers.submit(_unless_cancelled, work, limit)
        future.add_done_callback(self._leave)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def _admit(self) -> None:
        if self.stopping:
            self._metrics.shed("stopping")
            raise ServiceError(503, "The service is stopping; ask again in a moment.", retry_after=5)
        with self._lock:
            if self._taken >= self._room:
                self._metrics.shed("overloaded")
                wait = USUAL * self._taken / self._at_once
                raise ServiceError(503, f"{self._taken} questions wait already; ask again later.", retry_after=wait)
            self._taken += 1

    def _leave(self, _: Future[Result]) -> None:
        with self._lock:
            self._taken -= 1


def _unless_cancelled(work: Callable[[Deadline], Result], limit: Deadline) -> Result:
    limit.check_cancelled()
    return work(limit)


def _on_loop(listen: Listener) -> Listener:
    """A listener for another thread, which has the running loop call `listen`."""
    loop = asyncio.get_running_loop()

    def tell(event: Event) -> None:
        loop.call_soon_threadsafe(listen, event)

    return tell
