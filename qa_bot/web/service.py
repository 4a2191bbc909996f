"""The one service behind every service: so many questions at once, so many waiting, the rest told to come back."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Event as Flag
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from qa_bot.answering.ask import Ask
from qa_bot.answering.corridor import SearchEngine
from qa_bot.answering.deadline import Cancelled, Deadline, DeadlineExceededError
from qa_bot.answering.events import Event, Listener, ignore_event
from qa_bot.answering.models.personas import PersonaError, PersonaLines
from qa_bot.bot import Bot
from qa_bot.conversation.persona_choice import ChoiceError, ChoiceNotOfferedError
from qa_bot.web.errors import ServiceError
from qa_bot.web.logs import event, note
from qa_bot.web.metrics import Metrics
from qa_core.types import Answer, Candidate, Question

if TYPE_CHECKING:
    from generators.topics.grid_map import GridMap
    from qa_bot.home.store import Store, Turn
    from qa_bot.home.store.records import Vote

log = logging.getLogger(__name__)

Result = TypeVar("Result")
State = Literal["starting", "ready", "overloaded", "stopping"]

BOOKKEEPERS = 2
"""Threads for the store: conversations are listed and votes saved while all others answer."""
USUAL = 0.05
"""Seconds that a question is taken to need, for the time after which those turned away should come back."""
STOPPING = "The service is stopping; ask again in a moment."
WARM_UP = "Why do cats sleep all day?"
"""Asked before the first user does, and not recorded."""
GREETING = "Hello"
"""What every persona replies to before the first user chooses one."""
NO_PERSONAS = "Expected a persona to speak, but there are none yet; train one with `qa-bot train persona`."
NO_TIME = "There was not enough time to think of something to say; allow more."
RETRY = 5.0
"""Seconds after which it makes sense to come back to a persona that could not be opened."""
GLANCE = 0.02
"""Seconds between two looks at whether all is done."""


class AnswerService:
    """Runs the bot in worker threads, off the event loop; to be used from one event loop.

    A question's deadline runs from the moment it came: waiting in the queue costs its own time. A caller that is
    cancelled stops its work.
    """

    def __init__(self, bot: Bot, metrics: Metrics, *, workers: int, queue: int) -> None:
        """Answer `workers` questions at once while at most `queue` wait."""
        self.bot = bot
        self.starting, self.stopping = True, False
        self._metrics = metrics
        self._workers = ThreadPoolExecutor(workers, thread_name_prefix="answer")
        self._bookkeepers = ThreadPoolExecutor(BOOKKEEPERS, thread_name_prefix="store")
        self._greeter = ThreadPoolExecutor(1, thread_name_prefix="voices")
        self._room, self._at_once = workers + queue, workers
        self._lock = Lock()
        self._taken = 0
        metrics.watch("questions_in_work", "Questions being answered.", lambda: min(self._taken, workers))
        metrics.watch("questions_waiting", "Questions in the queue.", lambda: max(0, self._taken - workers))

    @property
    def state(self) -> State:
        """What an operator is told; questions are taken while it is `starting`, but wait."""
        if self.stopping:
            return "stopping"
        if self.starting:
            return "starting"
        return "overloaded" if self.overloaded else "ready"

    @property
    def overloaded(self) -> bool:
        """Whether the next question would be turned away."""
        return self._taken >= self._room

    @property
    def busy(self) -> bool:
        """Whether the next question would have to wait."""
        return self._taken >= self._at_once

    def expect_persona(self, spec: str) -> None:
        """Raises ServiceError 422 for a persona that nobody knows, or a mix of them that makes no sense; "" is none."""
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
        relay = listen if listen is ignore_event else _on_loop(listen)
        answer = await self._run(lambda limit: self.bot.ask(ask, deadline=limit, listen=relay), ask.seconds)
        self._metrics.answered(answer)
        self._told(ask.question, answer, ask.conversation)
        return answer

    async def search(self, query: str, *, engine: SearchEngine = "hybrid", top: int = 10) -> tuple[Candidate, ...]:
        """`Bot.search` in a worker thread; raises as `answer` does."""
        return await self._run(lambda limit: self.bot.search(query, engine=engine, top=top, deadline=limit), None)

    async def speak(
        self, persona: str, turns: Sequence[str], *, hint: str = "", top: int = 10, deadline: float | None = None
    ) -> PersonaLines:
        """What a persona says to the last of these turns, in a worker thread; nothing where the deadline is too near.

        Raises:
            ServiceError: as `answer` does; 404 where there are no personas at all, 422 where all turns are blank.
        """
        if not self.bot.personas:
            raise ServiceError(404, NO_PERSONAS)
        self.expect_persona(persona)
        if not any(turn.strip() for turn in turns):
            raise ServiceError(422, "Expected a turn to reply to, but got blank ones.")
        say = partial(self.bot.voices.say, persona, turns, top, hints=[hint] if hint.strip() else [])
        try:
            return await self._run(lambda limit: say(check=limit.check), deadline)
        except DeadlineExceededError:
            return PersonaLines((), NO_TIME)

    async def chart(self, hint: str) -> GridMap:
        """The grid that hints steer by; raises ServiceError 404 where there is none, else as `answer` does."""
        return await self._run(lambda _: self._chart(hint), None)

    def begin(self, conversation: str) -> None:
        """Nothing was asked yet in a new conversation: it need not be looked for."""
        self.bot.memory.begin(conversation)

    async def recorded(self, id: str) -> Turn:  # noqa: A002  # the noun's own name
        """A turn by the id of its answer; raises ServiceError 404 where there is none."""
        return await self._found(lambda store: store.turn(id))

    async def vote(self, id: str, vote: Vote, comment: str) -> None:  # noqa: A002  # the noun's own name
        """`Bot.vote`; raises ServiceError 404 for an unknown answer."""
        await self._found(lambda _: self.bot.vote(id, vote, comment))

    async def choose(self, id: str, choice: int | str) -> Turn:  # noqa: A002  # the noun's own name
        """`Bot.choose`; raises ServiceError 404 for an unknown answer or choice, 422 for a text that will not do."""
        with refused_choices():
            return await self._found(lambda _: self.bot.choose(id, choice))

    async def store(self, work: Callable[[Store], Result]) -> Result:
        """Call `work` with the store, in a thread that no question holds."""
        return await asyncio.wrap_future(self._bookkeepers.submit(lambda: work(self.bot.store)))

    async def _found(self, work: Callable[[Store], Result]) -> Result:
        """The same, where what is not found is the client's mistake."""
        from qa_bot.home.store import NotFoundError  # late: nobody waits for SQLAlchemy before the first question

        try:
            return await self.store(work)
        except NotFoundError as error:
            raise ServiceError(404, str(error)) from None

    async def warm_up(self) -> None:
        """Open the index and answer a question, so that the first user does not wait for that; then be ready.

        The personas are opened after that, in a thread that nobody waits for.

        Raises whatever keeps the bot from answering: no home, no index, no encoder.
        """
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._workers, self._answer_one)
        self.starting = False
        if self.bot.config.style.warm and self.bot.personas:
            self._greeter.submit(self._greet)

    async def drained(self, seconds: float) -> bool:
        """Take nothing new, and wait for what was taken; whether all of it was done within `seconds`."""
        self.stopping = True
        end = time.monotonic() + seconds
        while self._taken and time.monotonic() < end:
            await asyncio.sleep(GLANCE)
        return not self._taken

    async def close(self) -> None:
        """Take nothing new, and wait for what runs; what waits in the queue is not begun."""
        self.stopping = True
        await asyncio.to_thread(self._workers.shutdown, cancel_futures=True)
        await asyncio.to_thread(self._bookkeepers.shutdown)
        await asyncio.to_thread(self._greeter.shutdown, cancel_futures=True)

    async def _run(self, work: Callable[[Deadline], Result], seconds: float | None) -> Result:
        cancelled = Flag()
        limit = Deadline.after(self.bot.config.answer.deadline if seconds is None else seconds, cancelled)
        self._admit()
        future = self._workers.submit(_unless_cancelled, work, limit)
        future.add_done_callback(self._leave)
        try:
            return await asyncio.wrap_future(future)
        except PersonaError as error:
            raise ServiceError(503, str(error), retry_after=RETRY) from error
        except asyncio.CancelledError:
            cancelled.set()
            task = asyncio.current_task()
            if future.cancelled() and task is not None and not task.cancelling():
                raise ServiceError(503, STOPPING, retry_after=5) from None  # by `close`, not by the caller
            raise

    def _answer_one(self) -> None:
        corridor = self.bot.corridor()
        corridor.answer(Ask(Question(WARM_UP)), corridor.start(Deadline.after(self.bot.config.answer.deadline)))

    def _chart(self, hint: str) -> GridMap:
        try:
            return self.bot.voices.chart(hint)
        except PersonaError as error:
            raise ServiceError(404, str(error)) from None

    def _greet(self) -> None:
        """Have every persona say something, so that its first user waits for no model."""
        try:
            for name in self.bot.personas:
                self.bot.voices.say(name, [GREETING], 1, check=self._check_stopping)
        except Cancelled:
            pass
        except Exception as error:
            log.warning("The personas are opened when they are asked first: %s", error)

    def _check_stopping(self) -> None:
        if self.stopping:
            raise Cancelled

    def _told(self, question: Question, answer: Answer, conversation: str | None) -> None:
        note(answer=answer.kind)
        text: dict[str, Any] = {"question": question.title} if self.bot.config.serve.log_questions else {}
        event(
            log,
            "answer",
            turn=answer.id,
            conversation=conversation,
            kind=answer.kind,
            confidence=answer.confidence,
            seconds=answer.timings.get("total"),
            skipped=list(answer.skipped),
            **text,
        )

    def _admit(self) -> None:
        if self.stopping:
            self._metrics.shed("stopping")
            raise ServiceError(503, STOPPING, retry_after=5)
        with self._lock:
            if self._taken >= self._room:
                self._metrics.shed("overloaded")
                wait = USUAL * self._taken / self._at_once
                raise ServiceError(503, f"{self._taken} questions wait already; ask again later.", retry_after=wait)
            self._taken += 1

    def _leave(self, _: Future[Result]) -> None:
        with self._lock:
            self._taken -= 1


@contextmanager
def refused_choices() -> Iterator[None]:
    """A choice that cannot be made, as an error of the service."""
    try:
        yield
    except ChoiceNotOfferedError as error:
        raise ServiceError(404, str(error)) from None
    except ChoiceError as error:
        raise ServiceError(422, str(error)) from None


def _unless_cancelled(work: Callable[[Deadline], Result], limit: Deadline) -> Result:
    limit.check_cancelled()
    return work(limit)


def _on_loop(listen: Listener) -> Listener:
    """A listener for another thread, which has the running loop call `listen`; it is woken once for many events."""
    loop, waiting = asyncio.get_running_loop(), deque[Event]()

    def hear() -> None:
        try:
            while waiting:
                listen(waiting.popleft())
        finally:
            if waiting:  # the listener failed: that is for the loop to tell, and the rest still for it to hear
                loop.call_soon(hear)

    def tell(event: Event) -> None:
        waiting.append(event)
        if len(waiting) == 1:  # else the loop was told already, and has not come yet
            loop.call_soon_threadsafe(hear)

    return tell
