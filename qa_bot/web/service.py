"""Runs a bounded number of questions at once, queues some, and rejects the rest with Retry-After."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from threading import Event as Flag
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from qa_bot.answering.ask import Ask
from qa_bot.answering.corridor import SearchEngine
from qa_bot.answering.deadline import Cancelled, Deadline, DeadlineExceededError
from qa_bot.answering.events import Listener, ignore_event
from qa_bot.answering.models.personas import PersonaError, PersonaLines
from qa_bot.answering.scope import EVERYTHING, FactsScopeError, Scope, ScopeError
from qa_bot.bot import Bot
from qa_bot.conversation.persona_choice import ChoiceError, ChoiceNotOfferedError
from qa_bot.home.folder import HomeGoneError
from qa_bot.web.answer_threads import AnswerThreads, on_loop, size_of
from qa_bot.web.errors import UNAVAILABLE, ServiceError
from qa_bot.web.metrics import Metrics
from qa_bot.web.telemetry.questions import QuestionObserver, left_queue
from qa_core.text.language_detection import open_model
from qa_core.types import Answer, Candidate, Question

if TYPE_CHECKING:
    from generators.topics.grid_map import GridMap
    from qa_bot.home.store import Store, Turn
    from qa_bot.home.store.records import Vote
    from qa_bot.web.telemetry.tracing import Tracing

log = logging.getLogger(__name__)

Result = TypeVar("Result")
State = Literal["starting", "ready", "overloaded", "stopping"]

BOOKKEEPERS = 2
"""Threads for the store, so that lists and votes do not wait for answers."""
USUAL = 0.05
"""Seconds that a question usually takes, to estimate Retry-After."""
STOPPING = "The service is stopping; ask again in a moment."
WARM_UP = "How long do cats sleep in a day?"
"""Asked before the first user's question, and not recorded. No stored question has its words, whose answer would not be
read: the models that read are opened, too."""
GREETING = "Hello"
"""Said to every persona before the first user chooses one."""
NO_PERSONAS = "Expected a persona to speak, but there are none yet; train one with `qa-bot train persona`."
NO_TIME = "There was not enough time to think of something to say; allow more."
RETRY = 5.0
"""Seconds to wait after a persona could not be opened."""
HOME_GONE = "The home of the service was moved or deleted; the log says where it should be."
STORE_LOST = "The store cannot be read; the log says why."
PROBE = 3.0
"""Seconds within which the store has to answer."""
OBJECTS = 700
"""New objects between two searches for circular garbage: Python's number, after the larger one of the start."""
GLANCE = 0.02
"""Seconds between two checks for questions in work."""


class QueueState(NamedTuple):
    """Questions being answered, those that wait, seconds that the oldest of them has waited, and how many may wait."""

    running: int
    waiting: int
    longest_wait: float
    limit: int


class AnswerService:
    """Runs the bot in worker threads; call it from one event loop.

    A question's deadline starts when it arrives, so it includes the time in the queue. Cancelling the caller stops
    the work.
    """

    def __init__(self, bot: Bot, metrics: Metrics, *, workers: int, queue: int, tracing: Tracing | None = None) -> None:
        """Answer `workers` questions at once while at most `queue` wait; with `tracing`, each has a span."""
        self.bot = bot
        self._observer = QuestionObserver(metrics, tracing)
        self.starting, self.stopping = True, False
        self.improved_share: Callable[[], float | None] = lambda: None
        """Share of the better vectors that is made, while they are made."""
        self._metrics = metrics
        self._threads = AnswerThreads(workers)
        self._bookkeepers = ThreadPoolExecutor(BOOKKEEPERS, thread_name_prefix="store")
        self._greeter = ThreadPoolExecutor(1, thread_name_prefix="voices")
        self._room, self._at_once = workers + queue, workers
        self._lock = Lock()
        self._taken, self._ended = 0, time.monotonic()
        self._waiting: dict[Flag, float] = {}  # time of arrival of those that wait, oldest first
        self._probe: asyncio.Future[None] | None = None
        self._store_works = self._home_is_there = True
        metrics.watch("questions_in_work", "Questions being answered.", lambda: min(self._taken, workers))
        metrics.watch("questions_waiting", "Questions in the queue.", lambda: max(0, self._taken - workers))
        metrics.watch("queue_wait_seconds", "Seconds that the oldest queued question has waited.", self.longest_wait)

    @property
    def state(self) -> State:
        """State for operators; while `starting`, questions are accepted but wait."""
        if self.stopping:
            return "stopping"
        if self.starting:
            return "starting"
        return "overloaded" if self.overloaded else "ready"

    @property
    def overloaded(self) -> bool:
        """Whether the next question would be rejected."""
        return self._taken >= self._room

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last question was answered; 0 while one is in work."""
        return 0.0 if self._taken or self.starting else time.monotonic() - self._ended

    def queue_state(self) -> QueueState:
        taken, at_once = self._taken, self._at_once
        running, waiting = min(taken, at_once), max(0, taken - at_once)
        return QueueState(running, waiting, round(self.longest_wait(), 3), self._room - at_once)

    def longest_wait(self) -> float:
        """Seconds that the oldest queued question has waited; 0 if none waits."""
        with self._lock:
            oldest = next(iter(self._waiting.values()), None)
        return 0.0 if oldest is None else time.monotonic() - oldest

    @property
    def busy(self) -> bool:
        """Whether the next question would wait."""
        return self._taken >= self._at_once

    def expect_persona(self, spec: str) -> None:
        """Raise ServiceError 422 for an unknown persona or an invalid mix; "" means no persona."""
        try:
            if spec:
                self.bot.voices.parts(spec)
        except PersonaError as error:
            raise ServiceError(422, str(error)) from None

    async def answer(self, ask: Ask, *, listen: Listener = ignore_event) -> Answer:
        """`Bot.ask` in a worker thread; `listen` is called on the event loop, before the answer is returned.

        Raises:
            ServiceError: 503 if too many questions wait, the service is stopping, or the persona cannot be opened;
                422 for an unknown persona.
            asyncio.CancelledError: the caller was cancelled; the work stops at its next check.
        """
        self.expect_persona(ask.persona)
        relay = listen if listen is ignore_event else on_loop(listen)
        with self._observer.observe("answer", ask.question.title, self.bot.config) as work:
            answer = await self._run(
                lambda limit: self.bot.ask(ask, deadline=limit, listen=relay), ask.seconds, size=size_of(ask)
            )
            self._observer.answered(work, ask, answer)
        return answer

    async def search(
        self, query: str, *, engine: SearchEngine = "hybrid", top: int = 10, scope: Scope = EVERYTHING
    ) -> tuple[Candidate, ...]:
        """`Bot.search` in a worker thread; raises as `answer` does."""
        search = partial(self.bot.search, query, engine=engine, top=top, scope=scope)
        with self._observer.observe("search", query, self.bot.config) as work:
            candidates = await self._run(lambda limit: search(deadline=limit), None, size=len(query))
            work.describe({"qa_bot.candidates_out": len(candidates)})
        return candidates

    async def speak(
        self, persona: str, turns: Sequence[str], *, hint: str = "", top: int = 10, deadline: float | None = None
    ) -> PersonaLines:
        """A persona's reply to the last of these turns, from a worker thread; no lines if the deadline is too short.

        Raises:
            ServiceError: as `answer` does; 404 if there are no personas, 422 if all turns are blank.
        """
        if not self.bot.personas:
            raise ServiceError(404, NO_PERSONAS)
        self.expect_persona(persona)
        if not any(turn.strip() for turn in turns):
            raise ServiceError(422, "Expected a turn to reply to, but got blank ones.")
        say = partial(self.bot.voices.say, persona, turns, top, hints=[hint] if hint.strip() else [])
        try:
            return await self._run(lambda limit: say(check=limit.check), deadline, size=sum(map(len, turns)))
        except DeadlineExceededError:
            return PersonaLines((), NO_TIME)

    async def chart(self, hint: str) -> GridMap:
        """The topic grid with the position of a hint; raises as `answer` does, and ServiceError 404 without a grid."""
        return await self._run(lambda _: self._chart(hint), None, size=len(hint))

    def begin(self, conversation: str) -> None:
        """Mark a conversation as new, so that the store is not searched for it."""
        self.bot.memory.begin(conversation)

    async def recorded(self, id: str) -> Turn:  # noqa: A002  # the noun's own name
        """A turn by the id of its answer; raises ServiceError 404 if it is unknown."""
        return await self._or_404(lambda store: store.turn(id))

    async def vote(self, id: str, vote: Vote, comment: str) -> None:  # noqa: A002  # the noun's own name
        """`Bot.vote`; raises ServiceError 404 for an unknown answer."""
        await self._or_404(lambda _: self.bot.vote(id, vote, comment))

    async def choose(self, id: str, choice: int | str) -> Turn:  # noqa: A002  # the noun's own name
        """`Bot.choose`; raises ServiceError 404 for an unknown answer or choice, 422 for an invalid text."""
        with refused_choices():
            return await self._or_404(lambda _: self.bot.choose(id, choice))

    async def store(self, work: Callable[[Store], Result]) -> Result:
        """Call `work` with the store, in a thread apart from the answers; ServiceError 503 if home or store is lost."""
        try:
            return await asyncio.wrap_future(self._bookkeepers.submit(copy_context().run, lambda: work(self.bot.store)))
        except HomeGoneError as error:
            raise self.home_is_gone(error) from error
        except Exception as error:
            if _is_fault_of_store(error):
                raise self._store_is_lost(str(error)) from None
            raise

    async def check_store(self) -> None:
        """Raise ServiceError 503 unless the store can be read now; concurrent callers share one attempt.

        The reason is in the log: it may name paths and hosts.
        """
        if self._probe is None or self._probe.done():
            self._probe = asyncio.ensure_future(self.store(lambda store: store.integrity.probe()))
        try:
            async with asyncio.timeout(PROBE):
                await asyncio.shield(self._probe)
        except ServiceError:
            raise
        except Exception as error:
            reason = f"no answer within {PROBE:g} s" if isinstance(error, TimeoutError) else str(error)
            raise self._store_is_lost(reason) from None
        self._store_works = self._home_is_there = True

    async def _or_404(self, work: Callable[[Store], Result]) -> Result:
        """As `store`, but raises ServiceError 404 if something is not found."""
        from qa_bot.home.store import NotFoundError  # late: the first question does not wait for SQLAlchemy

        try:
            return await self.store(work)
        except NotFoundError as error:
            raise ServiceError(404, str(error)) from None

    async def warm_up(self) -> None:
        """Open the index and answer a question, so that the first user does not wait.

        Then the model of languages and personas are opened in a thread.

        Raises whatever keeps the bot from answering: no home, no index, no encoder.
        """
        await asyncio.wrap_future(self._threads.submit(0, self._answer_one))
        gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])
        gc.collect()
        gc.freeze()  # a full collection now passes over what lives as long as the process: it is short, and often made
        self.starting = False
        self._greeter.submit(open_model)
        if self.bot.config.style.warm and self.bot.personas:
            self._greeter.submit(self._greet)

    async def drained(self, seconds: float) -> bool:
        """Accept nothing new and wait for accepted work; return whether all of it ended within `seconds`."""
        self.stopping = True
        end = time.monotonic() + seconds
        while self._taken and time.monotonic() < end:
            await asyncio.sleep(GLANCE)
        return not self._taken

    async def close(self) -> None:
        """Accept nothing new and wait for running work; queued work is not started."""
        self.stopping = True
        await asyncio.to_thread(self._threads.close)
        await asyncio.to_thread(self._bookkeepers.shutdown)
        await asyncio.to_thread(self._greeter.shutdown, cancel_futures=True)

    async def _run(self, work: Callable[[Deadline], Result], seconds: float | None, *, size: int) -> Result:
        """The result of `work` on `size` characters of text."""
        cancelled = Flag()
        limit = Deadline.after(self.bot.config.answer.deadline if seconds is None else seconds, cancelled)
        self._admit()
        self._waiting[cancelled] = time.monotonic()
        future = self._threads.submit(size, partial(copy_context().run, self._begin, work, limit, cancelled))
        future.add_done_callback(partial(self._leave, cancelled))
        try:
            return await asyncio.wrap_future(future)
        except HomeGoneError as error:
            raise self.home_is_gone(error) from error
        except PersonaError as error:
            raise ServiceError(503, str(error), retry_after=RETRY) from error
        except ScopeError as error:
            raise ServiceError(422 if isinstance(error, FactsScopeError) else 404, str(error)) from error
        except asyncio.CancelledError:
            cancelled.set()
            task = asyncio.current_task()
            if future.cancelled() and task is not None and not task.cancelling():
                raise ServiceError(503, STOPPING, retry_after=5) from None  # by `close`, not by the caller
            raise
        finally:
            del future  # with an exception it is in a reference cycle, which would keep a former index open

    def _answer_one(self) -> None:
        corridor = self.bot.corridor()
        corridor.answer(Ask(Question(WARM_UP)), corridor.start(Deadline.after(self.bot.config.answer.deadline)))

    def _chart(self, hint: str) -> GridMap:
        try:
            return self.bot.voices.chart(hint)
        except PersonaError as error:
            raise ServiceError(404, str(error)) from None

    def _greet(self) -> None:
        """Have every persona reply once, so that its first user does not wait for a model."""
        try:
            for name in self.bot.personas:
                self.bot.voices.say(name, [GREETING], 1, check=self._check_stopping)
        except Cancelled:
            pass
        except Exception as error:
            log.warning("The personas could not be opened in advance: %s", error)

    def _check_stopping(self) -> None:
        if self.stopping:
            raise Cancelled

    def _admit(self) -> None:
        if self.stopping:
            self._metrics.shed("stopping")
            raise ServiceError(503, STOPPING, retry_after=5)
        with self._lock:
            if self._taken >= self._room:
                self._metrics.shed("overloaded")
                wait = USUAL * self._taken / self._at_once
                raise ServiceError(
                    503, f"{self._taken} questions are already in work; ask again later.", retry_after=wait
                )
            self._taken += 1

    def _begin(self, work: Callable[[Deadline], Result], limit: Deadline, waiting: Flag) -> Result:
        """Do the work in this thread, unless the caller has cancelled it meanwhile."""
        with self._lock:
            arrived = self._waiting.pop(waiting)
        left_queue(arrived)
        limit.check_cancelled()
        return work(limit)

    def home_is_gone(self, error: HomeGoneError) -> ServiceError:
        """For the client; the log has the path, once."""
        if self._home_is_there:
            log.warning("%s", error)
        self._home_is_there = False
        return ServiceError(503, HOME_GONE, retry_after=RETRY, code=UNAVAILABLE)

    def _store_is_lost(self, reason: str) -> ServiceError:
        """For the client; the log has the reason, once."""
        if self._store_works:
            log.warning("The store cannot be used: %s", reason)
        self._store_works = False
        return ServiceError(503, STORE_LOST, retry_after=RETRY, code=UNAVAILABLE)

    def _leave(self, waiting: Flag, _: Future[Result]) -> None:
        with self._lock:
            self._waiting.pop(waiting, None)
            self._taken -= 1
            self._ended = time.monotonic()


def _is_fault_of_store(error: Exception) -> bool:
    from qa_bot.home.store import NotFoundError, StoreError  # late: the first question does not wait for SQLAlchemy

    return isinstance(error, StoreError) and not isinstance(error, NotFoundError)


@contextmanager
def refused_choices() -> Iterator[None]:
    """Turn errors about a choice into ServiceError."""
    try:
        yield
    except ChoiceNotOfferedError as error:
        raise ServiceError(404, str(error)) from None
    except ChoiceError as error:
        raise ServiceError(422, str(error)) from None
