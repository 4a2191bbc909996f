"""A conversation: its turns, one at a time, and what clients that come back have to be told.

It outlives its connections. Whoever is connected gets the frames of all its turns; whoever lost the connection, and
says which frame he read last, gets those since. A turn is begun once and ends with one frame, `final` or `error`; the
answer is recorded before `final` is told to anybody.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from qa_bot.answering.answer_json import dumps
from qa_bot.answering.ask import Ask
from qa_bot.answering.events import STAGES, ChoicesOffered, Event
from qa_bot.web.chat import frames
from qa_bot.web.chat.frames import AskFrame
from qa_bot.web.chat.turn import Client, SentFrame, Turn
from qa_bot.web.errors import ServiceError
from qa_bot.web.service import STOPPING, AnswerService
from qa_core.types import Question

log = logging.getLogger(__name__)

WAITING = 4
"""Questions that may wait in a conversation while it answers one."""
CLIENTS = 8
"""Connections to one conversation: somebody's tabs."""
KEEP = 120.0
"""Seconds for which an ended turn's frames, and a conversation that nobody is connected to, are kept."""
KEPT_TURNS = 8
"""Ended turns whose frames are kept; more than may run and wait, so that a lost connection misses none."""
HOLD = 2.0
"""Seconds for which a turn that offers choices stays open: whoever chooses so soon hears of one end."""
REMEMBERED = 10_000
"""Answered questions whose ids a conversation knows."""
CANCELLED = ("cancelled", "The question was stopped.")
STOPPED = ("overloaded", STOPPING, 5.0)


def voice_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Persona and hint of an answer object."""
    styled = answer.get("styled") or {}
    return {name: str(styled[name]) for name in ("persona", "hint") if styled.get(name)}


class Conversation:
    """One conversation, for every client connected to it; to be used from the event loop of the service."""

    def __init__(
        self,
        id: str,  # noqa: A002  # the noun's own name
        service: AnswerService,
        *,
        asked: Mapping[str, str] | None = None,
        on_idle: Callable[[Conversation], None] = lambda _: None,
    ) -> None:
        """Go on with a conversation whose answered questions, by the askers' ids, are `asked`.

        `on_idle` is called whenever nobody is connected any more and nothing is left to do.
        """
        self.id, self.seq = id, 0
        self._service, self._on_idle = service, on_idle
        self._answered = dict(asked or {})  # ids of turns by ids of questions
        self._turns: dict[str, Turn] = {}  # in the order asked
        self._waiting: deque[Turn] = deque()
        self._running: Turn | None = None
        self._clients: list[Client] = []

    @property
    def idle(self) -> bool:
        return not self._clients and self._running is None

    @property
    def answering(self) -> bool:
        return self._running is not None

    @property
    def empty(self) -> bool:
        """Whether nothing is kept that a client could ask for again."""
        return not self._turns

    def attach(self, client: Client) -> None:
        """Have `client` told everything from now on.

        Raises:
            ServiceError: 429, too many are connected already.
        """
        if len(self._clients) >= CLIENTS:
            message = f"Expected at most {CLIENTS} connections to a conversation, but got one more; close one."
            raise ServiceError(429, message, retry_after=1)
        self._clients.append(client)

    def catch_up(self, client: Client, *, after: int | None) -> None:
        """Tell `client` what it missed; to be called before anything else is awaited.

        Args:
            after: the last frame that the client read; None where it does not know, and is told of the turns that are
                unfinished or ended while nobody was connected.
        """
        told = [turn for turn in self._turns.values() if after is not None or turn.ended is None or turn.unseen]
        for kept in sorted(kept for turn in told for kept in turn.frames if kept.seq > (after or 0)):
            client.send(kept.data, kept.seq)
        for turn in told:
            turn.unseen = False

    def detach(self, client: Client) -> None:
        self._clients.remove(client)
        self._settle()

    def continue_after(self, seq: int) -> None:
        """Count on from `seq`, which a client has read: frames were counted up to there before a restart."""
        self.seq = max(self.seq, seq)

    def ask(self, ask: AskFrame, question_id: str, *, understood: str = "") -> None:
        """Begin a turn with the id `question_id`, or let it wait for the one that runs; its frames go to every client.

        A question on its way is not begun again. Whoever asks an answered one is told its answer by `resend`, but where
        it is to be `understood` otherwise it is answered anew.

        Raises:
            ServiceError: 422 for a persona that nobody knows, 429 where too many questions wait already.
        """
        turn = self._turns.get(question_id)
        if turn is not None and turn.ended is None:
            if turn.held is not None and understood:
                self._go_on(turn, understood)
            return
        self._service.expect_persona(ask.persona)
        if self._running is not None:
            self._release(self._running)  # whoever asks on does not choose
        if len(self._waiting) >= WAITING:
            message = f"Expected at most {WAITING} questions to wait in a conversation; let it answer first."
            raise ServiceError(429, message, retry_after=1)
        turn = Turn(question_id, ask, understood)
        self._turns.pop(question_id, None)
        self._turns[question_id] = turn
        self._waiting.append(turn)
        if self._running is None:
            self._begin_next()
        else:
            self._tell(turn, frames.status(frames.QUEUED))

    async def ask_anew(self, question_id: str, understood: Callable[[str, Mapping[str, Any]], str]) -> None:
        """Answer an answered question once more.

        Args:
            understood: what is to be asked now, by the question as it was written and its answer object.

        Raises:
            ServiceError: 404 where nobody asked that here, and what `understood` and `ask` raise.
        """
        known = self._turns.get(question_id)
        recorded = await self._service.recorded(self.turn_of(question_id))
        if recorded.conversation != self.id:
            raise ServiceError(404, f"Expected the id of a question that was answered here, but got {question_id!r}.")
        wanted = understood(recorded.question, recorded.answer)
        ask = (
            known.ask
            if known
            else AskFrame(type="ask", text=recorded.question, trace=True, **voice_of(recorded.answer))
        )
        self.ask(ask, question_id, understood=wanted)

    def has_answered(self, question_id: str) -> bool:
        return question_id in self._answered

    async def resend(self, question_id: str, client: Client) -> None:
        """Tell `client` once more the answer of an answered question.

        Raises:
            ServiceError: 404, the turn was deleted from the store.
        """
        turn = self._turns.get(question_id)
        if turn is not None and turn.ended is not None:
            content = orjson.loads(turn.frames[-1].data)
        else:
            content = await self._recorded(self._answered[question_id])
        self.seq += 1
        client.send(dumps({**content, "id": question_id, "conversation": self.id, "seq": self.seq}), self.seq)

    def revised(self, turn: str, answer: Mapping[str, Any]) -> None:
        """Tell every client that a recorded answer object has changed; whoever comes back later is told it too."""
        question_id = str(answer.get("ask") or next((q for q, t in self._answered.items() if t == turn), turn))
        kept = self._numbered(question_id, frames.final_of(answer))
        known = self._turns.get(question_id)
        self._remember(question_id, turn)
        if known is not None and known.ended is not None:
            known.frames.append(kept)
            known.unseen = known.unseen or not self._clients

    def turn_of(self, question_id: str) -> str:
        """The id under which the answer to a question is recorded; an id of a turn is its own."""
        return self._answered.get(question_id, question_id)

    def cancel(self, question_id: str) -> None:
        """Stop a turn; one that just ended stays as it is.

        Raises:
            ServiceError: 404, nobody asked that.
        """
        turn = self._turns.get(question_id)
        if turn is None and question_id not in self._answered:
            raise ServiceError(404, f"Expected the id of a question that was asked here, but got {question_id!r}.")
        if turn is None or turn.ended is not None:
            return
        if turn.work is not None:
            turn.work.cancel()
        elif turn.held is None:
            self._waiting.remove(turn)
        self._end(turn, frames.failed(*CANCELLED))

    def clear(self) -> None:
        """Stop what waits and runs, and know nothing of what was asked: somebody deleted the conversation."""
        left = [*self._waiting, *([self._running] if self._running else [])]
        for turn in left:
            self.cancel(turn.id)
        self._turns.clear()
        self._answered.clear()
        self._settle()

    def forget(self, before: float) -> None:
        """Drop the frames of turns that ended before a moment, and of all but the last `KEPT_TURNS`."""
        ended = [turn for turn in self._turns.values() if turn.ended is not None]
        for turn in ended[:-KEPT_TURNS] + [turn for turn in ended[-KEPT_TURNS:] if (turn.ended or 0.0) < before]:
            del self._turns[turn.id]

    async def finish(self, seconds: float) -> None:
        """Let the running turn end, within so many seconds; none that waits is begun."""
        while self._waiting:
            self._end(self._waiting.popleft(), frames.failed(*STOPPED))
        if self._running is not None:
            self._release(self._running)
        if (turn := self._running) is None or turn.work is None:
            return
        await asyncio.wait([turn.work], timeout=seconds)
        self._release(turn)
        if turn.ended is None and turn.work is not None:
            turn.work.cancel()
            self._end(turn, frames.failed(*STOPPED))

    def _begin_next(self) -> None:
        turn = self._running = self._waiting.popleft()
        self._tell(turn, frames.status(frames.QUEUED if self._service.busy else STAGES[0]))
        turn.work = asyncio.create_task(self._run(turn), name=f"turn {turn.id}")

    async def _run(self, turn: Turn) -> None:
        """Answer a question, whatever happens: an exception ends the turn too."""

        def listen(event: Event) -> None:
            if not isinstance(event, ChoicesOffered):  # told when it can be answered: once the turn is recorded
                self._tell(turn, frames.told(event))

        ask = turn.ask
        try:
            question = Ask(
                Question(ask.text),
                seconds=ask.deadline,
                trace=ask.trace,
                persona=ask.persona,
                hint=ask.hint,
                conversation=self.id,
                understood=turn.understood,
                reference=turn.id,
            )
            answer = await self._service.answer(question, listen=listen)
        except ServiceError as error:
            self._end(turn, frames.failed(error.code, error.message, error.retry_after))
        except asyncio.CancelledError:  # by the service, which closes; whoever cancels a turn has ended it before
            self._end(turn, frames.failed(*STOPPED))
        except Exception:
            log.exception("a turn of the conversation %s failed", self.id)
            self._end(turn, frames.failed(*frames.INTERNAL))
        else:
            self._remember(turn.id, answer.id)
            turn.work, turn.held = None, frames.final(answer)
            if answer.choices:
                self._tell(turn, frames.told(ChoicesOffered(answer.choices)))
                asyncio.get_running_loop().call_later(HOLD, self._release, turn)
            else:
                self._release(turn)

    def _go_on(self, turn: Turn, understood: str) -> None:
        """Somebody chose in time: the turn runs once more, in that sense."""
        turn.understood, turn.held, turn.stage = understood, None, ""
        self._tell(turn, frames.status(STAGES[0]))
        turn.work = asyncio.create_task(self._run(turn), name=f"turn {turn.id}")

    def _release(self, turn: Turn) -> None:
        """End a turn that is held; one that runs or ended stays as it is."""
        if turn.held is not None:
            self._end(turn, turn.held)

    def _tell(self, turn: Turn, content: Mapping[str, Any]) -> None:
        """A frame to every client; nothing follows a turn's end, and no stage is told twice."""
        stage = content.get("stage")
        if turn.ended is not None or (stage is not None and stage == turn.stage):
            return
        turn.stage = stage or turn.stage
        turn.frames.append(self._numbered(turn.id, content))

    def _numbered(self, question_id: str, content: Mapping[str, Any]) -> SentFrame:
        """The next frame, sent to every client."""
        self.seq += 1
        whole = frames.frame(content, question_id=question_id, conversation=self.id, seq=self.seq)
        sent = SentFrame(self.seq, dumps(whole))
        for client in tuple(self._clients):
            client.send(sent.data, sent.seq)
        return sent

    def _end(self, turn: Turn, content: Mapping[str, Any]) -> None:
        if turn.ended is not None:
            return
        self._tell(turn, content)
        turn.ended, turn.unseen, turn.work, turn.held = time.monotonic(), not self._clients, None, None
        self.forget(turn.ended - KEEP)
        if turn is self._running:
            self._running = None
            if self._waiting:
                self._begin_next()
        self._settle()

    def _settle(self) -> None:
        if self.idle:
            self._on_idle(self)

    def _remember(self, question_id: str, turn: str) -> None:
        self._answered[question_id] = turn
        if len(self._answered) > REMEMBERED:
            del self._answered[next(iter(self._answered))]

    async def _recorded(self, id: str) -> dict[str, Any]:  # noqa: A002  # the turn's own name
        return frames.final_of((await self._service.recorded(id)).answer)
