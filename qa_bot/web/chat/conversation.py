"""A conversation: it runs one turn at a time and sends its frames to all connected clients.

It outlives its connections: a client that reconnects and names its last frame gets the later ones. A turn starts once
and ends with one frame, `final` or `error`; the answer is recorded before `final` is sent.
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
"""Questions that may wait while another is answered."""
CLIENTS = 8
"""Connections to one conversation, such as a user's tabs."""
KEEP = 120.0
"""Seconds for which the frames of ended turns, and conversations without clients, are kept."""
KEPT_TURNS = 8
"""Ended turns whose frames are kept; more than can run and wait, so that a reconnecting client misses none."""
HOLD = 2.0
"""Seconds for which a turn that offers choices stays open, so that a quick choice leads to a single `final`."""
REMEMBERED = 10_000
"""Answered questions whose ids a conversation remembers."""
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
        answered: Mapping[str, str] | None = None,
        on_idle: Callable[[Conversation], None] = lambda _: None,
    ) -> None:
        """Open a conversation.

        Args:
            answered: ids of recorded turns by the clients' ids of their questions.
            on_idle: called when no client is connected and no turn runs.
        """
        self.id, self.seq = id, 0
        self._service, self._on_idle = service, on_idle
        self._answered = dict(answered or {})  # question id → turn id
        self._turns: dict[str, Turn] = {}  # by question id, oldest first
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
        """Whether it has no frames that a client could need."""
        return not self._turns

    def attach(self, client: Client) -> None:
        """Send all further frames to `client`.

        Raises:
            ServiceError: 429, too many clients are connected.
        """
        if len(self._clients) >= CLIENTS:
            message = f"Expected at most {CLIENTS} connections to a conversation, but got one more; close one."
            raise ServiceError(429, message, retry_after=1)
        self._clients.append(client)

    def catch_up(self, client: Client, *, after: int | None) -> None:
        """Send `client` the frames that it missed; call this before anything else is awaited.

        Args:
            after: number of the last frame that the client read; None sends the frames of turns that are unfinished or
                ended while no client was connected.
        """
        turns = [turn for turn in self._turns.values() if after is not None or turn.ended is None or turn.unseen]
        for sent in sorted(sent for turn in turns for sent in turn.frames if sent.seq > (after or 0)):
            client.send(sent.data, sent.seq)
        for turn in turns:
            turn.unseen = False

    def detach(self, client: Client) -> None:
        self._clients.remove(client)
        self._check_idle()

    def continue_after(self, seq: int) -> None:
        """Continue numbering after `seq`, which a client has read before a restart."""
        self.seq = max(self.seq, seq)

    def ask(self, ask: AskFrame, question_id: str, *, understood: str = "") -> None:
        """Start a turn with the id `question_id`, or queue it behind the running one.

        A question in work is not started again. For an answered question use `resend`; with another meaning
        (`understood`) it is answered anew.

        Raises:
            ServiceError: 422 for an unknown persona, 429 if too many questions wait.
        """
        turn = self._turns.get(question_id)
        if turn is not None and turn.ended is None:
            if turn.held is not None and understood:
                self._rerun(turn, understood)
            return
        self._service.expect_persona(ask.persona)
        if self._running is not None:
            self._release(self._running)  # a further question means that the client does not choose
        if len(self._waiting) >= WAITING:
            message = f"Expected at most {WAITING} questions to wait in a conversation; let it answer first."
            raise ServiceError(429, message, retry_after=1)
        turn = Turn(question_id, ask, understood)
        self._turns.pop(question_id, None)
        self._turns[question_id] = turn
        self._waiting.append(turn)
        if self._running is None:
            self._start_next()
        else:
            self._send(turn, frames.status(frames.QUEUED))

    async def ask_anew(self, question_id: str, understood: Callable[[str, Mapping[str, Any]], str]) -> None:
        """Answer an answered question again, with another meaning.

        Args:
            understood: gives the question to ask now, from the written question and its answer object.

        Raises:
            ServiceError: 404 if the question was not answered here, and the errors of `understood` and `ask`.
        """
        known = self._turns.get(question_id)
        recorded = await self._service.recorded(self.turn_of(question_id))
        if recorded.conversation != self.id:
            raise ServiceError(404, f"Expected the id of a question that was answered here, but got {question_id!r}.")
        meaning = understood(recorded.question, recorded.answer)
        voice = voice_of(recorded.answer)
        ask = known.ask if known else AskFrame(type="ask", text=recorded.question, trace=True, **voice)
        self.ask(ask, question_id, understood=meaning)

    def has_answered(self, question_id: str) -> bool:
        return question_id in self._answered

    async def resend(self, question_id: str, client: Client) -> None:
        """Send `client` the answer of an answered question again.

        Raises:
            ServiceError: 404, the turn was deleted from the store.
        """
        turn = self._turns.get(question_id)
        if turn is not None and turn.ended is not None:
            content = orjson.loads(turn.frames[-1].data)
        else:
            content = await self._recorded_final(self._answered[question_id])
        self.seq += 1
        client.send(dumps({**content, "id": question_id, "conversation": self.id, "seq": self.seq}), self.seq)

    def revise(self, turn: str, answer: Mapping[str, Any]) -> None:
        """Send all clients the changed object of a recorded answer, also those that reconnect later."""
        question_id = str(answer.get("ask") or next((q for q, t in self._answered.items() if t == turn), turn))
        sent = self._send_numbered(question_id, frames.final_of(answer))
        known = self._turns.get(question_id)
        self._remember(question_id, turn)
        if known is not None and known.ended is not None:
            known.frames.append(sent)
            known.unseen = known.unseen or not self._clients

    def turn_of(self, question_id: str) -> str:
        """The id of the turn that answers a question; the id of a turn is returned unchanged."""
        return self._answered.get(question_id, question_id)

    def cancel(self, question_id: str) -> None:
        """Stop a turn; an ended one stays unchanged.

        Raises:
            ServiceError: 404, the question is unknown.
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
        """Stop all turns and forget them, because the conversation was deleted."""
        unfinished = [*self._waiting, *([self._running] if self._running else [])]
        for turn in unfinished:
            self.cancel(turn.id)
        self._turns.clear()
        self._answered.clear()
        self._check_idle()

    def forget(self, before: float) -> None:
        """Drop the frames of turns that ended before a time, and of all but the last `KEPT_TURNS`."""
        ended = [turn for turn in self._turns.values() if turn.ended is not None]
        for turn in ended[:-KEPT_TURNS] + [turn for turn in ended[-KEPT_TURNS:] if (turn.ended or 0.0) < before]:
            del self._turns[turn.id]

    async def finish(self, seconds: float) -> None:
        """Let the running turn end within `seconds`; waiting ones are not started."""
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

    def _start_next(self) -> None:
        turn = self._running = self._waiting.popleft()
        self._send(turn, frames.status(frames.QUEUED if self._service.busy else STAGES[0]))
        turn.work = asyncio.create_task(self._run(turn), name=f"turn {turn.id}")

    async def _run(self, turn: Turn) -> None:
        """Answer a question; an exception ends the turn too."""

        def listen(event: Event) -> None:
            if not isinstance(event, ChoicesOffered):  # sent after the turn is recorded, when it can be answered
                self._send(turn, frames.event_frame(event))

        ask = turn.ask
        try:
            question = Ask(
                Question(ask.text),
                seconds=ask.deadline,
                trace=ask.trace,
                persona=ask.persona,
                hint=ask.hint,
                cell=ask.cell,
                conversation=self.id,
                understood=turn.understood,
                reference=turn.id,
                scope=ask.scope(),
            )
            answer = await self._service.answer(question, listen=listen)
        except ServiceError as error:
            self._end(turn, frames.failed(error.code, error.message, error.retry_after))
        except asyncio.CancelledError:  # by the service, which stops; `cancel` ends the turn before it cancels the work
            self._end(turn, frames.failed(*STOPPED))
        except Exception:
            log.exception("a turn of the conversation %s failed", self.id)
            self._end(turn, frames.failed(*frames.INTERNAL))
        else:
            self._remember(turn.id, answer.id)
            turn.work, turn.held = None, frames.final(answer)
            if answer.choices and not answer.suggested:
                self._send(turn, frames.event_frame(ChoicesOffered(answer.choices)))
                asyncio.get_running_loop().call_later(HOLD, self._release, turn)
            else:
                self._release(turn)

    def _rerun(self, turn: Turn, understood: str) -> None:
        """Run a held turn again with the chosen meaning."""
        turn.understood, turn.held, turn.stage = understood, None, ""
        self._send(turn, frames.status(STAGES[0]))
        turn.work = asyncio.create_task(self._run(turn), name=f"turn {turn.id}")

    def _release(self, turn: Turn) -> None:
        """End a held turn; others stay unchanged."""
        if turn.held is not None:
            self._end(turn, turn.held)

    def _send(self, turn: Turn, content: Mapping[str, Any]) -> None:
        """Send a frame of a turn to all clients, unless the turn has ended or the stage is the same as before."""
        stage = content.get("stage")
        if turn.ended is not None or (stage is not None and stage == turn.stage):
            return
        turn.stage = stage or turn.stage
        turn.frames.append(self._send_numbered(turn.id, content))

    def _send_numbered(self, question_id: str, content: Mapping[str, Any]) -> SentFrame:
        """Number a frame and send it to all clients."""
        self.seq += 1
        whole = frames.frame(content, question_id=question_id, conversation=self.id, seq=self.seq)
        sent = SentFrame(self.seq, dumps(whole))
        for client in tuple(self._clients):
            client.send(sent.data, sent.seq)
        return sent

    def _end(self, turn: Turn, content: Mapping[str, Any]) -> None:
        if turn.ended is not None:
            return
        self._send(turn, content)
        turn.ended, turn.unseen, turn.work, turn.held = time.monotonic(), not self._clients, None, None
        self.forget(turn.ended - KEEP)
        if turn is self._running:
            self._running = None
            if self._waiting:
                self._start_next()
        self._check_idle()

    def _check_idle(self) -> None:
        if self.idle:
            self._on_idle(self)

    def _remember(self, question_id: str, turn: str) -> None:
        self._answered[question_id] = turn
        if len(self._answered) > REMEMBERED:
            del self._answered[next(iter(self._answered))]

    async def _recorded_final(self, id: str) -> dict[str, Any]:  # noqa: A002  # the turn's own name
        return frames.final_of((await self._service.recorded(id)).answer)
