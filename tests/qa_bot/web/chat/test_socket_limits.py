"""Connections of the chat: tokens, foreign pages, rates, malformed frames, slow clients, the end of the service."""

import asyncio
import gc
import socket as sockets
import weakref
from contextlib import AsyncExitStack, suppress
from dataclasses import replace

import aiohttp
import orjson
import pytest

from qa_bot.web.chat import connection as connection_module
from qa_bot.web.chat import socket as chat_module
from qa_bot.web.server import running
from tests.qa_bot.web.chat.sockets import CATS, chat_of

TOKEN = "a-secret-of-the-owner"


def metric(service, name):
    """The value of one line of the metrics."""
    (line,) = (line for line in service.metrics.text().decode().splitlines() if line.startswith(f"{name} "))
    return float(line.split()[-1])


@pytest.mark.parametrize(
    "first",
    [
        {"type": "hello"},
        {"type": "hello", "token": "another"},
        {"type": "hello", "token": ""},
        {"type": "ask", "text": CATS},
        {"type": "ping"},
        {"type": "nonsense"},
    ],
    ids=str,
)
def test_without_the_token_the_connection_closes(serve, slow_bot, talk, first):
    service = serve(slow_bot, token=TOKEN)

    async def chat():
        async with talk(service) as client:
            await client.socket.send_str(orjson.dumps(first).decode())
            message = await client.socket.receive(timeout=5)
            return message.type, client.socket.close_code

    assert service.run(chat()) == (aiohttp.WSMsgType.CLOSE, 1008)
    assert slow_bot.begun == 0


def test_a_silent_client_is_disconnected(serve, talk, monkeypatch):
    monkeypatch.setattr(chat_module, "HELLO", 0.1)
    service = serve(token=TOKEN)

    async def chat():
        async with talk(service) as client:
            return await client.closed()

    assert service.run(chat()) == 1008


def test_with_the_token_one_may_ask(serve, talk):
    service = serve(token=TOKEN)

    async def chat():
        async with talk(service) as client:
            await client.say("hello", token=TOKEN)
            heard = [await client.hear(), (await client.ask(CATS))[-1]]
            await client.say("hello")  # once is enough
            heard.append(await client.hear())
            await client.say("hello", token="another")
            return heard, await client.closed()

    heard, code = service.run(chat())
    assert [frame["type"] for frame in heard] == ["ready", "final", "ready"]
    assert code == 1008


@pytest.mark.parametrize("headers", [{"Origin": "https://elsewhere.example"}, {"Host": "elsewhere.example"}], ids=str)
def test_foreign_pages_do_not_get_as_far_as_an_upgrade(service, talk, headers):
    async def chat():
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with talk(service, headers=headers):
                pass
        return refused.value.status

    assert service.run(chat()) == 403


def test_so_many_questions_a_minute(serve, talk):
    service = serve(rate=3)

    async def chat():
        async with talk(service) as client:  # itself a request
            return [(await client.ask(CATS, id=f"q{i}"))[-1] for i in range(3)]

    heard = service.run(chat())
    assert [frame["type"] for frame in heard] == ["final", "final", "error"]
    assert heard[2]["code"] == "too_many_requests"
    assert heard[2]["retry_after"] > 1


def test_votes_count_as_questions_do(serve, talk):
    service = serve(rate=3)

    async def chat():
        async with talk(service) as client:
            answer = (await client.ask(CATS, id="q1"))[-1]
            assert answer["type"] == "final"
            for _ in range(2):  # the upgrade was a request, too
                await client.say("feedback", id="q1", vote="up")
            return await client.hear()

    error = service.run(chat())
    assert (error["type"], error.get("code")) == ("error", "too_many_requests")


def test_a_plain_request_is_rejected_with_a_reason(service):
    reply = service.get("/ws")
    assert reply.status == 400
    assert reply.json["error"]["code"] == "bad_request"


WRONG = {
    "no JSON": (b"{", "bad_request", None),
    "a lone surrogate": (b'{"type": "ask", "text": "\\ud83d"}', "bad_request", None),
    "no UTF-8": (b'{"type": "ask", "text": "\xff"}', "bad_request", None),
    "too deep": (b"[" * 10_000, "bad_request", None),
    "no object": (b"[]", "invalid", None),
    "no type": (b'{"id": "a"}', "invalid", "a"),
    "an unknown type": (b'{"type": "shout", "id": "a"}', "invalid", "a"),
    "an empty question": (b'{"type": "ask", "id": "a", "text": ""}', "invalid", "a"),
    "a long question": (b'{"type": "ask", "id": "a", "text": "%s"}' % (b"x" * 20_001), "invalid", "a"),
    "no deadline at all": (b'{"type": "ask", "id": "a", "text": "x", "deadline": 1e9}', "invalid", "a"),
    "a wrong id": (b'{"type": "ask", "id": "a b", "text": "x"}', "invalid", None),
    "no id": (b'{"type": "cancel"}', "invalid", None),
}


@pytest.mark.parametrize("binary", [False, True])
def test_wrong_frames_are_rejected_and_the_connection_stays(service, talk, binary):
    async def chat():
        async with talk(service) as client:
            heard = []
            for data, _, _ in WRONG.values():
                send = client.socket._writer.send_frame
                await send(data, aiohttp.WSMsgType.BINARY if binary else aiohttp.WSMsgType.TEXT)
                heard.append(await client.hear())
            return heard, (await client.ask(CATS))[-1]

    heard, answered = service.run(chat())
    for frame, (_, code, question_id) in zip(heard, WRONG.values(), strict=True):
        assert frame["type"] == "error"
        assert (frame["code"], frame["id"]) == ("bad_request" if binary else code, question_id)
        assert frame["message"].startswith("Expected ")
        assert len(frame["message"]) < 300
    assert answered["type"] == "final"


def test_nonsense_in_a_row_is_sent_away(service, talk):
    async def chat():
        async with talk(service) as client:
            for _ in range(chat_module.ERRORS - 1):
                await client.socket.send_str("nonsense")
            await client.say("ping")
            await client.until("pong")
            for _ in range(chat_module.ERRORS):
                await client.socket.send_str("nonsense")
            heard = [await client.hear() for _ in range(chat_module.ERRORS)]
            return heard, await client.closed()

    heard, code = service.run(chat())
    assert {frame["type"] for frame in heard} == {"error"}
    assert code == 1008


def test_too_large_a_frame_closes_the_connection(service, talk):
    async def chat():
        async with talk(service) as client:
            await client.socket.send_str(" " * (chat_module.FRAME + 1))
            return await client.closed()

    assert service.run(chat()) == 1009
    assert service.get("/livez").status == 200


def test_connections_beyond_the_limit_are_told_to_retry(serve, talk, monkeypatch):
    monkeypatch.setattr(chat_module, "SOCKETS", 2)
    service = serve()

    async def chat():
        async with talk(service) as one, talk(service) as two:
            async with talk(service) as three:
                code = await three.closed()
            await one.say("ping")
            await two.say("ping")
            return code, await one.hear(), await two.hear()

    code, one, two = service.run(chat())
    assert code == 1013
    assert one["type"] == two["type"] == "pong"


def test_whoever_sends_too_fast_is_read_slowly(serve, talk, monkeypatch):
    monkeypatch.setattr(connection_module, "PACE", 100)
    monkeypatch.setattr(connection_module, "BURST", 10)
    service = serve()

    async def chat():
        loop = asyncio.get_running_loop()
        async with talk(service) as client:
            began = loop.time()
            for _ in range(40):
                await client.say("ping")
            for _ in range(40):
                await client.until("pong")
            return loop.time() - began

    assert service.run(chat()) >= 0.28  # 40 − 10 at once, the rest at 100 a second


def test_a_client_that_does_not_read_is_disconnected(serve, talk, monkeypatch):
    monkeypatch.setattr(connection_module, "QUEUE", 50_000)
    service = serve()

    async def chat():
        async with talk(service) as same, talk(service) as other:
            await same.ask(CATS, id="q1", conversation="shared")
            deaf = asyncio.create_task(deaf_client(service, {"type": "ask", "text": CATS, "id": "q1", "seq": 0}))
            heard = []
            while not deaf.done():
                heard += [(await same.ask(CATS, id="q1"))[-1], (await other.ask(CATS))[-1]]
            await deaf
            return heard

    heard = service.run(chat())
    assert {frame["type"] for frame in heard} == {"final"}
    assert metric(service, 'qa_bot_shed_total{reason="slow"}') == 1


async def deaf_client(service, frame):
    """Sends a frame over and over and reads nothing, until the connection is cut."""
    narrow = sockets.create_connection(("127.0.0.1", service.running.settings.port))
    narrow.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    reader, writer = await asyncio.open_connection(sock=narrow, limit=1024)
    upgrade = (
        f"GET /ws HTTP/1.1\r\nHost: {service.url.removeprefix('http://')}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    writer.write(upgrade.encode())
    await reader.readuntil(b"\r\n\r\n")
    data = orjson.dumps({**frame, "conversation": "shared"})
    assert len(data) < 126
    masked = bytes([0x81, 0x80 | len(data), 0, 0, 0, 0]) + data  # XOR with zeros
    with suppress(ConnectionError):
        while True:
            writer.write(masked)
            await writer.drain()
            await asyncio.sleep(0)
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def test_a_client_that_does_not_answer_pings_is_dropped(serve, talk, monkeypatch):
    monkeypatch.setattr(chat_module, "HEARTBEAT", 1.0)
    service = serve()

    async def chat():
        async with talk(service, autoping=False) as silent, talk(service) as idle:
            heard = asyncio.create_task(idle.hear())  # a client that hears also answers pings
            await asyncio.to_thread(service.until, lambda: len(chat_of(service)) == 1)
            assert not silent.socket.closed  # it has not even looked
            await idle.say("ping")
            return await heard

    assert service.run(chat())["type"] == "pong"


def test_nothing_is_left_of_connections_that_closed(service, talk):
    hub = chat_of(service)
    seen, most = [], 0

    async def chat():
        nonlocal most
        for i in range(3):
            async with AsyncExitStack() as held:
                clients = [await held.enter_async_context(talk(service)) for _ in range(60)]
                await clients[0].ask(CATS)
                for client in clients[1:]:
                    await client.say("hello")
                    await client.hear()
                most = max(most, metric(service, "qa_bot_open_sockets"))
                seen.extend(weakref.ref(item) for item in (*hub._connections, *hub.conversations))
            await asyncio.to_thread(service.until, lambda: not len(hub), f"round {i}")
        hub.conversations.sweep(float("inf"))

    service.run(chat())
    gc.collect()
    assert len(seen) > 2 * 180 - 10
    assert most == 60
    assert metric(service, "qa_bot_open_sockets") == 0
    assert len(hub.conversations) == 0
    assert not [item for item in seen if item() is not None]


def test_stopping_finishes_the_running_turn_and_closes(slow_bot):
    slow_bot.pauses["decide"] = 0.5

    async def live():
        async with AsyncExitStack() as held, aiohttp.ClientSession() as session:
            service = await held.enter_async_context(running(slow_bot, replace(slow_bot.config.serve, port=0)))
            await service.service.warm_up()
            async with session.ws_connect(f"{service.url}ws") as busy, session.ws_connect(f"{service.url}ws") as idle:
                for item in ("q1", "q2"):
                    await busy.send_json({"type": "ask", "text": CATS, "id": item})
                await busy.receive()
                stopping = asyncio.create_task(held.aclose())
                heard = [orjson.loads(item.data) async for item in busy]
                last = [frame for frame in heard if frame["type"] in ("final", "error")]
                assert (await idle.receive()).type is aiohttp.WSMsgType.CLOSE
                await stopping
                return last, busy.close_code, idle.close_code

    last, *codes = asyncio.run(live())
    assert codes == [1001, 1001]
    assert [(frame["id"], frame["type"]) for frame in last] == [("q1", "final"), ("q2", "error")]
    assert last[1]["code"] == "overloaded"


@pytest.mark.parametrize("polite", [True, False])
def test_a_connection_is_counted_as_an_upgrade_without_a_duration(service, talk, polite):
    async def chat():
        async with talk(service) as client:
            await client.say("hello")
            await client.until("ready")
            if not polite:
                client.socket._response.connection.transport.abort()

    service.run(chat())
    count = 'qa_bot_requests_total{route="/ws",status="101"}'
    service.until(lambda: count in service.metrics.text().decode(), "the end of the connection")
    assert metric(service, count) == 1
    assert 'qa_bot_request_seconds_count{route="/ws"}' not in service.metrics.text().decode()
