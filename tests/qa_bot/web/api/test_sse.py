"""Answers as events: their order, pings, errors, and clients that leave or do not read."""

from __future__ import annotations

import asyncio
import json
from threading import Event

from qa_bot.answering.ask import Ask
from qa_bot.web.api import sse

CATS = "Why do cats sleep all day?"
EVENTS = {"Accept": "text/event-stream"}


def read(text: str) -> list[tuple[str, str, dict]]:
    """Events as (id, name, data), and comments as ("", "", {})."""
    result = []
    for block in text.removesuffix("\n\n").split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.split("\n"))
        result.append((fields.get("id", ""), fields.get("event", ""), json.loads(fields.get("data", "{}"))))
    return result


def stream(service, **fields):
    reply = service.post("/api/ask", json={"question": CATS, **fields}, headers=EVENTS)
    assert (reply.status, reply.headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8"), reply.text
    return read(reply.text)


def test_an_event_is_a_few_lines() -> None:
    assert sse.event({"a": "x\ny"}, name="delta", id=3) == b'id: 3\nevent: delta\ndata: {"a":"x\\ny"}\n\n'
    assert sse.event({}) == b"data: {}\n\n"


def test_the_frames_of_the_websocket_in_their_order(service) -> None:
    result = stream(service, conversation="c")
    names = [name for _, name, _ in result]
    frames = [frame for _, _, frame in result]
    assert names[:5] == ["status", "status", "status", "status", "sources"]
    assert (names[5], names[-2], names[-1]) == ("delta", "delta", "final")
    assert [frame["stage"] for frame in frames[:4]] == ["retrieve", "rank", "decide", "compose"]
    assert (
        [int(number) for number, _, _ in result]
        == [frame["seq"] for frame in frames]
        == list(range(1, len(result) + 1))
    )
    assert names == [frame["type"] for frame in frames]
    assert "".join(frame["text"] for frame in frames if frame["type"] == "delta") == frames[-1]["answer"]
    assert frames[4]["sources"] == frames[-1]["sources"]
    assert {frame["conversation"] for frame in frames} == {"c"}


def test_all_frames_carry_the_id_of_the_answer(service) -> None:
    result = stream(service)
    (about,) = {frame["id"] for _, _, frame in result}
    final = result[-1][2]
    assert final["turn"] == about
    assert service.post("/api/feedback", json={"id": about, "vote": "up"}).status == 200
    (turn,) = service.get(f"/api/conversations/{final['conversation']}").json["turns"]
    assert turn["id"] == about


def test_an_abstention_has_no_text(service) -> None:
    result = stream(service, question="zxqv wprt")
    assert "delta" not in [name for _, name, _ in result]
    assert (result[-1][2]["answered"], bool(result[-1][2]["reason"])) == (False, True)


def test_events_are_sent_on_request_only(service) -> None:
    def kind(accept: str) -> str:
        reply = service.post("/api/ask", json={"question": CATS}, headers={"Accept": accept})
        return reply.headers["Content-Type"].partition(";")[0]

    assert kind("application/json") == kind("*/*") == "application/json"
    assert kind("text/event-stream;q=0.9") == kind("application/json, TEXT/Event-Stream") == "text/event-stream"


def test_an_error_before_the_stream_is_an_ordinary_reply(serve, slow_bot) -> None:
    service = serve(slow_bot, workers=1, queue=0)
    assert service.post("/api/ask", json={"question": 1}, headers=EVENTS).status == 422
    gate = slow_bot.pauses["rank"] = Event()

    async def crowd() -> tuple[int, str]:
        async with service.client.post("/api/ask", json={"question": CATS}, headers=EVENTS) as first:
            assert first.status == 200
            async with service.client.post("/api/ask", json={"question": CATS}, headers=EVENTS) as second:
                gate.set()
                await first.read()
                return second.status, second.headers["Content-Type"]

    status, content_type = service.run(crowd())
    assert (status, content_type.partition(";")[0]) == (503, "application/json")


def test_a_queued_question_gets_a_status_and_pings(serve, slow_bot, monkeypatch) -> None:
    monkeypatch.setattr(sse, "PING", 0.02)
    service = serve(slow_bot, workers=1, queue=1)
    gate = slow_bot.pauses["rank"] = Event()

    async def crowd() -> str:
        async with (
            service.client.post("/api/ask", json={"question": CATS}, headers=EVENTS) as first,
            service.client.post("/api/ask", json={"question": CATS}, headers=EVENTS) as second,
        ):
            begun = (await second.content.readuntil(b": ping\n\n")).decode()
            gate.set()
            await first.read()
            return begun + (await second.read()).decode()

    result = read(service.run(crowd()))
    assert result[0][2]["stage"] == "queued"
    assert result[1][0] == ""
    assert result[-1][1] == "final"


def test_an_error_on_the_way_is_the_last_event(service, monkeypatch, caplog) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(service.bot, "corridor", broken)
    ((_, name, frame),) = stream(service)
    assert (name, frame["code"], "secret" in frame["message"]) == ("error", "internal", False)
    assert "secret" in caplog.text


def test_a_client_that_leaves_stops_the_work(serve, slow_bot) -> None:
    service = serve(slow_bot)
    slow_bot.pauses["rank"] = Event()

    async def leave() -> None:
        async with service.client.post("/api/ask", json={"question": CATS}, headers=EVENTS) as reply:
            assert b"retrieve" in await reply.content.readuntil(b"\n\n")
            reply.close()

    service.run(leave())
    service.until(lambda: slow_bot.cancelled, "the cancellation")
    service.until(lambda: not service.answers.busy)


def test_a_client_that_does_not_read_is_dropped(service, monkeypatch) -> None:
    """The reply is made longer than all buffers between here and the client."""
    monkeypatch.setattr(sse, "STALLED", 0.05)
    monkeypatch.setattr(sse, "event", lambda *_, **__: b"data: %b\n\n" % (b"x" * 20_000_000))

    async def stall() -> None:
        async with service.client.post("/api/ask", json={"question": CATS}, headers=EVENTS) as reply:
            while b'qa_bot_shed_total{reason="slow"} 1.0' not in service.metrics.text():
                await asyncio.sleep(0.01)
            reply.close()

    service.run(stall())


def test_a_running_answer_is_streamed_while_the_service_stops(serve, slow_bot) -> None:
    service = serve(slow_bot, workers=1, queue=1)
    gate = slow_bot.pauses["rank"] = Event()

    async def stop() -> tuple[str, str]:
        async with service.client.post("/api/ask", json={"question": CATS}, headers=EVENTS) as first:
            await asyncio.to_thread(service.until, lambda: slow_bot.begun == 1, "the first question")
            async with service.client.post("/api/ask", json={"question": CATS}, headers=EVENTS) as second:
                closing = asyncio.create_task(service.answers.close())
                while not service.answers.stopping:
                    await asyncio.sleep(0.005)
                gate.set()
                await closing
                return (await first.read()).decode(), (await second.read()).decode()

    first, second = map(read, service.run(stop()))
    assert first[-1][1] == "final"
    assert (second[-1][1], second[-1][2]["code"], second[-1][2]["retry_after"]) == ("error", "overloaded", 5)


def test_asking_leaves_nothing_behind_when_it_is_left(serve, slow_bot) -> None:
    service = serve(slow_bot)
    slow_bot.pauses["retrieve"] = Event()

    async def leave() -> int:
        async with sse.answering(service.answers, Ask.of(CATS)) as happenings:
            await anext(happenings)
        return len([task for task in asyncio.all_tasks() if "answer" in repr(task.get_coro())])

    assert service.run(leave()) == 0
    service.until(lambda: slow_bot.cancelled)
