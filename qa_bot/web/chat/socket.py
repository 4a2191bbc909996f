"""Chat over a WebSocket: admits clients and handles their frames in order, so a `pong` means all earlier ones are done.

frames  the messages      connection  one client      conversation  its turns      conversations  all live ones
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aiohttp import WSCloseCode, WSMessage, WSMsgType, web

from qa_bot.answering.answer_json import as_dict
from qa_bot.answering.ask import Ask
from qa_bot.conversation.persona_choice import meant
from qa_bot.web.access.rules import Access
from qa_bot.web.app_keys import ACCESS, METRICS, SERVICE
from qa_bot.web.chat import frames
from qa_bot.web.chat.connection import Connection
from qa_bot.web.chat.conversation import Conversation, voice_of
from qa_bot.web.chat.conversations import Conversations, new_id
from qa_bot.web.chat.frames import AskFrame, Cancel, Choose, ClientFrame, Feedback, Frame, Hello, Ping, Raw
from qa_bot.web.chat.upgrade import StrictWebSocket, check_version
from qa_bot.web.errors import ServiceError
from qa_bot.web.metrics import Metrics
from qa_bot.web.service import AnswerService, refused_choices
from qa_core.types import Question

if TYPE_CHECKING:
    from qa_bot.home.store import Turn

log = logging.getLogger(__name__)

FRAME = 256 * 1024
"""Limit of a client's frame in bytes: fits the longest question with every character escaped."""
HELLO = 5.0
"""Seconds in which a client has to send the token, if the service has one."""
HEARTBEAT = 25.0
"""Seconds between two pings; a connection without a pong within half of that is closed."""
CLOSING = 3.0
"""Seconds that a client has to complete the closing handshake."""
SOCKETS = 2_000
"""Limit of connections; further ones are closed with 1013."""
ERRORS = 20
"""Invalid frames in a row after which a connection is closed."""
LAST = 1.0
"""Seconds for turns that still run after the service has waited for them."""

NO_TOKEN = b"Expected a `hello` with a valid token as the first frame, and soon."


class Chat:
    """All connections of one service, and their conversations."""

    def __init__(self, service: AnswerService, metrics: Metrics, access: Access) -> None:
        self.conversations = Conversations(service)
        self._service, self._metrics, self._access = service, metrics, access
        self._connections: set[Connection] = set()
        self._stopping = False

    def __len__(self) -> int:
        return len(self._connections)

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """A connection, from its upgrade to its end."""
        check_version(request)
        web_socket = StrictWebSocket(
            heartbeat=HEARTBEAT,
            timeout=CLOSING,
            receive_timeout=None,
            max_msg_size=FRAME,
            compress=False,  # a small frame can unpack to a very large one
            autoping=True,
            autoclose=True,
            decode_text=False,  # the JSON parser checks UTF-8
        )
        await web_socket.prepare(request)
        connection = Connection(web_socket, request, self._metrics)
        self._connections.add(connection)
        self._metrics.socket(+1)
        try:
            await self._converse(connection)
            await connection.finish(2 * CLOSING)
        finally:
            connection.abort()
            connection.leave()
            self._connections.discard(connection)
            self._metrics.socket(-1)
        return web_socket

    async def close(self) -> None:
        """Close all connections after the running turns have ended."""
        self._stopping = True
        await self.conversations.close(LAST)
        connections = tuple(self._connections)
        for connection in connections:
            connection.close(WSCloseCode.GOING_AWAY)
        await asyncio.gather(*(connection.finish(CLOSING) for connection in connections))
        for connection in connections:
            connection.abort()

    async def _converse(self, connection: Connection) -> None:
        """Handle a client's frames until one side closes."""
        if self._stopping:
            connection.close(WSCloseCode.GOING_AWAY)
        elif len(self) > SOCKETS:
            self._metrics.shed("sockets")
            connection.close(WSCloseCode.TRY_AGAIN_LATER)
        elif self._access.wants_token:
            await self._authenticate(connection)
        while not connection.closing:
            message = await connection.web_socket.receive()
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                return
            await self._handle_message(connection, message)
            await connection.keep_pace()

    async def _authenticate(self, connection: Connection) -> None:
        """Close the connection unless a `hello` with a valid token arrives in time as the first frame."""
        try:
            message = await connection.web_socket.receive(timeout=HELLO)
            hello = _read(message)
            if not isinstance(hello, Hello):
                raise ServiceError(401, "Expected a `hello` first.")
            connection.tokens = (hello.token,) if hello.token else ()
            self._access.check_token(connection.request, *connection.tokens)
        except (ServiceError, TimeoutError):
            connection.close(WSCloseCode.POLICY_VIOLATION, NO_TOKEN)
        else:
            await self._handle_message(connection, message)

    async def _handle_message(self, connection: Connection, message: WSMessage) -> None:
        """Handle one frame; errors are sent to the client."""
        question_id = None
        try:
            frame = _read(message)
            question_id, connection.refused = frame.id, 0
            await self._handle(connection, frame)
        except ServiceError as error:
            connection.refused += error.status in (400, 422)
            content = frames.failed(error.code, error.message, error.retry_after)
            connection.reply(content, question_id or frames.id_of(message.data))
        except Exception:
            log.exception("a frame could not be handled")
            connection.reply(frames.failed(*frames.INTERNAL), question_id)
        if connection.refused >= ERRORS:
            connection.close(WSCloseCode.POLICY_VIOLATION)

    async def _handle(self, connection: Connection, frame: ClientFrame) -> None:
        match frame:
            case Hello():
                await self._greet(connection, frame)
            case AskFrame():
                await self._ask(connection, frame)
            case Cancel():
                _joined(connection, frame).cancel(frame.id)
            case Feedback():
                await self._vote(connection, frame)
            case Choose():
                await self._choose(connection, frame)
            case Ping():
                connection.reply({"type": "pong"}, frame.id)
            case Raw():
                await self._undo(connection, frame)

    async def _greet(self, connection: Connection, hello: Hello) -> None:
        """Open or resume a conversation, and send the frames that the client missed."""
        if hello.token is not None:
            try:
                self._access.check_token(connection.request, hello.token)
            except ServiceError:
                connection.close(WSCloseCode.POLICY_VIOLATION, NO_TOKEN)
                return
        conversation = await self.conversations.open(hello.resume or hello.conversation, seq=hello.seq or 0)
        connection.join(conversation)
        connection.last_seq = hello.seq or 0
        connection.reply(frames.ready(conversation.id, self._service.bot.personas), hello.id)
        conversation.catch_up(connection, after=hello.seq)

    async def _ask(self, connection: Connection, ask: AskFrame) -> None:
        if connection.conversation is None:
            connection.join(await self.conversations.open(ask.conversation))
        conversation = _joined(connection, ask)
        if ask.id is not None and conversation.has_answered(ask.id):
            await conversation.resend(ask.id, connection)
            return
        self._access.spend(connection.request, *connection.tokens)
        conversation.ask(ask, ask.id or new_id())

    async def _vote(self, connection: Connection, vote: Feedback) -> None:
        self._access.spend(connection.request, *connection.tokens)
        turn = connection.conversation.turn_of(vote.id) if connection.conversation else vote.id
        try:
            await self._service.vote(turn, vote.vote, vote.comment)
        except ServiceError:
            raise ServiceError(404, f"Expected the id of an answered question, but got {vote.id!r}.") from None

    async def choose(self, id: str, choice: int | str) -> Turn:  # noqa: A002  # the noun's own name
        """Answer the chosen meaning of a question, or change the styled sentence of a recorded answer.

        All clients of the conversation receive the result. Raises ServiceError.
        """
        turn = await self._service.recorded(id)
        turn = await (
            self._answer_choice(turn, choice) if turn.answer.get("choices") else self._service.choose(id, choice)
        )
        if conversation := self.conversations.find(turn.conversation):
            conversation.revise(turn.id, turn.answer)
        return turn

    async def _answer_choice(self, turn: Turn, choice: int | str) -> Turn:
        """A copy of the turn with the answer to the chosen meaning, which is recorded as a separate turn."""
        reference = str(turn.answer.get("ask", turn.id))
        ask = Ask(
            Question(turn.question),
            understood=_meant(turn.answer, choice),
            conversation=turn.conversation,
            reference=reference,
            **voice_of(turn.answer),
        )
        answer = await self._service.answer(ask)
        return replace(turn, id=answer.id, answer={**as_dict(answer), "ask": reference})

    async def _choose(self, connection: Connection, frame: Choose) -> None:
        self._access.spend(connection.request, *connection.tokens)
        conversation = connection.conversation
        if conversation is not None:
            offered = (await self._service.recorded(conversation.turn_of(frame.id))).answer.get("choices")
            if offered:
                await conversation.ask_anew(frame.id, lambda _, answer: _meant(answer, frame.choice))
                return
        turn = await self.choose(conversation.turn_of(frame.id) if conversation else frame.id, frame.choice)
        if conversation is None or turn.conversation != conversation.id:
            connection.reply(frames.final_of(turn.answer), frame.id)

    async def _undo(self, connection: Connection, frame: Raw) -> None:
        """Ask a question again in its written form."""
        self._access.spend(connection.request, *connection.tokens)
        await _joined(connection, frame).ask_anew(frame.id, lambda question, _: question)


CHAT = web.AppKey("chat", Chat)


def prepare(app: web.Application) -> None:
    """Add the chat to an application and close it at shutdown."""
    app[CHAT] = Chat(app[SERVICE], app[METRICS], app[ACCESS])

    async def close(app: web.Application) -> None:
        await app[CHAT].close()

    app.on_shutdown.append(close)


def routes() -> list[web.RouteDef]:
    return [web.get("/ws", chat, allow_head=False)]


async def chat(request: web.Request) -> web.WebSocketResponse:
    return await request.app[CHAT].serve(request)


def _meant(answer: Mapping[str, Any], choice: int | str) -> str:
    with refused_choices():
        return meant(answer, choice)


def _read(message: WSMessage) -> ClientFrame:
    """Raises ServiceError."""
    if message.type is WSMsgType.TEXT:
        return frames.read(message.data)
    raise ServiceError(400, "Expected a frame of text, in JSON, but got a binary one.")


def _joined(connection: Connection, frame: Frame) -> Conversation:
    """The conversation of a frame; raises ServiceError if it is not the connection's."""
    if connection.conversation is None:
        raise ServiceError(404, f"Expected the id of a question that was asked here, but got {frame.id!r}.")
    if frame.conversation not in (None, connection.conversation.id):
        got = f"this connection is in {connection.conversation.id!r}; say `hello` to change"
        raise ServiceError(422, f"Expected frames of one conversation, but got one of {frame.conversation!r}: {got}.")
    return connection.conversation
