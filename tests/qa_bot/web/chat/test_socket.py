"""The chat as a client meets it: a real service, a real WebSocket."""

import asyncio
import gc
import logging
import socket as sockets
import weakref
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from threading import Event

import aiohttp
import orjson
import pytest

from qa_bot.bot import Bot
from qa_bot.web.chat import connection as connection_module
from qa_bot.web.chat import socket as chat_module
from qa_bot.web.chat.socket import CHAT
from qa_bot.web.server import running

CATS = "Why do cats sleep all day?"
STRANGE = "Why do cats \U0001f408\u200d\u2b1b sleep?\x00 \u202eלמה חתולים ישנים\u202c — ¿por qué? \ufffe"
TOKEN = "a-secret-of-the-owner"


def chat_of(service):
    return service.running.app[CHAT]


def metric(service, name):
    """The value of one line of the metrics."""
    (line,) = (line for line in service.metrics.text().decode().splitlines() if line.startswith(f"{name} "))
    return float(line.split()[-1])


def turns(service, conversation):
    return service.bot.store.turns(conversation)


# --- turns ----------------------------------------------------------------------------------------------------------


def test_a_turn_streams_and_ends_with_the_answer(service, talk):
    async def chat():
        async with talk(service) as client:
            await client.say("hello", id="h1")
            return await client.hear(), await client.ask(CATS, id="q1")

    ready, result = service.run(chat())
    assert (ready["type"], ready["id"], ready["personas"]) == ("ready", "h1", [])
    assert [frame["seq"] for frame in result] == list(range(1, len(result) + 1))
    assert {(frame["id"], frame["conversation"]) for frame in result} == {("q1", ready["conversation"])}
    kinds = [frame["type"] for frame in result]
    stages = [frame["stage"] for frame in result if frame["type"] == "status"]
    assert stages == ["retrieve", "rank", "decide", "compose"]
    deltas = kinds.count("delta")
    assert deltas > 1
    assert kinds == ["status"] * 4 + ["sources"] + ["delta"] * deltas + ["final"]
    final = result[-1]
    assert "".join(frame["text"] for frame in result if frame["type"] == "delta") == final["answer"]
    assert result[4]["sources"] == final["sources"]
    assert (final["question"], final["answered"], final["kind"]) == (CATS, True, "passage")
    (turn,) = turns(service, ready["conversation"])
    assert (turn.id, turn.answer["ask"], turn.answer["answer"]) == (final["turn"], "q1", final["answer"])


def test_nobody_has_to_say_hello(service, talk):
    async def chat():
        async with talk(service) as client:
            first = (await client.ask(CATS))[-1]
            second = (await client.ask("What is photosynthesis?"))[-1]
        async with talk(service) as client:
            third = (await client.ask("How tall is Mount Everest?", conversation=first["conversation"]))[-1]
        return [first, second, third]

    heard = service.run(chat())
    assert len({frame["conversation"] for frame in heard}) == 1
    assert len({frame["id"] for frame in heard}) == 3
    assert len(turns(service, heard[0]["conversation"])) == 3


def test_a_trace_comes_where_it_is_asked_for(service, talk):
    async def chat():
        async with talk(service) as client:
            return [(await client.ask(CATS, trace=trace))[-1] for trace in (False, True)]

    without, with_it = service.run(chat())
    assert "trace" not in without
    assert with_it["trace"]["queries"]


def test_strange_text_is_asked_and_kept(service, talk):
    async def chat():
        async with talk(service) as client:
            return (await client.ask(STRANGE, id="q1"))[-1]

    final = service.run(chat())
    assert final["question"] == STRANGE
    (turn,) = turns(service, final["conversation"])
    assert turn.question == STRANGE.replace("\x00", "\ufffd")  # which no database takes


def test_the_longest_question_fits_however_it_is_written(service, talk):
    async def chat():
        async with talk(service) as client:
            escaped = "\\ud83d\\ude00" * 20_000
            await client.socket.send_str(f'{{"type": "ask", "text": "{escaped}", "deadline": 0.01}}')
            return (await client.until("final", "error"))[-1]

    assert service.run(chat())["question"] == "\U0001f600" * 20_000


def test_questions_of_a_conversation_wait_for_each_other(serve, slow_bot, talk):
    service = serve(slow_bot)
    hold = slow_bot.pauses["retrieve"] = Event()

    async def chat():
        async with talk(service) as client:
            for i in range(6):
                await client.say("ask", text=CATS, id=f"q{i}")
            before = [await client.hear() for _ in range(6)]
            hold.set()
            after = []
            for i in range(5):
                after += await client.until("final", question_id=f"q{i}")
            return before, after

    before, after = service.run(chat())
    assert [(frame["id"], frame["type"], frame.get("stage")) for frame in before] == [
        ("q0", "status", "retrieve"),
        *((f"q{i}", "status", "queued") for i in range(1, 5)),
        ("q5", "error", None),
    ]
    assert (before[5]["code"], before[5]["retry_after"]) == ("too_many_requests", 1)
    ids = [frame["id"] for frame in after]
    assert ids == sorted(ids)  # one turn after the other
    assert slow_bot.begun == 5


def test_an_overloaded_service_says_so_and_the_connection_stays(serve, slow_bot, talk):
    service = serve(slow_bot, workers=1, queue=0)
    hold = slow_bot.pauses["retrieve"] = Event()

    async def chat():
        async with talk(service) as first, talk(service) as second:
            await first.say("ask", text=CATS)
            await first.hear()
            refused = await second.ask(CATS, id="q1")
            hold.set()
            await first.until("final")
            return refused, (await second.ask(CATS, id="q1"))[-1]

    refused, answered = service.run(chat())
    assert [(frame["type"], frame["id"]) for frame in refused] == [("status", "q1"), ("error", "q1")]
    assert refused[0]["stage"] == "queued"
    assert refused[1]["code"] == "overloaded"
    assert refused[1]["retry_after"] > 0
    assert (answered["type"], answered["answered"]) == ("final", True)


def test_whoever_has_to_wait_for_others_is_told(serve, slow_bot, talk):
    service = serve(slow_bot, workers=1, queue=1)
    hold = slow_bot.pauses["retrieve"] = Event()

    async def chat():
        async with talk(service) as first, talk(service) as second:
            await first.say("ask", text=CATS)
            await first.hear()
            await second.say("ask", text=CATS)
            queued = await second.hear()
            hold.set()
            return [queued, *await second.until("final")]

    stages = [frame.get("stage") for frame in service.run(chat())]
    assert stages[:3] == ["queued", "retrieve", "rank"]


def test_an_error_of_ours_ends_the_turn_and_stays_in_the_log(serve, slow_bot, talk, caplog, monkeypatch):
    service = serve(slow_bot)
    answer = type(slow_bot).ask
    failing = iter([True, False])

    def fails_once(self, *given, **options):
        if next(failing):
            raise RuntimeError("the secret cause")
        return answer(self, *given, **options)

    monkeypatch.setattr(type(slow_bot), "ask", fails_once)

    async def chat():
        async with talk(service) as client:
            return (await client.ask(CATS, id="q1"))[-1], (await client.ask(CATS, id="q1"))[-1]

    with caplog.at_level(logging.ERROR):
        failed, answered = service.run(chat())
    assert (failed["type"], failed["code"]) == ("error", "internal")
    assert "secret" not in str(failed)
    assert "the secret cause" in caplog.text
    assert answered["type"] == "final"  # what failed may be asked again


# --- stopping a turn ------------------------------------------------------------------------------------------------


def test_cancel_stops_the_work(serve, slow_bot, talk):
    service = serve(slow_bot)
    slow_bot.pauses["rank"] = Event()

    async def chat():
        async with talk(service) as client:
            await client.say("ask", text=CATS, id="q1")
            while (await client.hear()).get("stage") != "rank":
                pass
            await client.say("cancel", id="q1")
            ended = await client.hear()
            await asyncio.to_thread(service.until, lambda: slow_bot.cancelled == 1)
            slow_bot.pauses.clear()
            return ended, await client.ask(CATS, id="q1")

    ended, again = service.run(chat())
    assert (ended["type"], ended["id"], ended["code"]) == ("error", "q1", "cancelled")
    assert again[-1]["type"] == "final"  # what was stopped may be asked again
    assert len(turns(service, ended["conversation"])) == 1


def test_cancel_of_a_waiting_question_leaves_the_others(serve, slow_bot, talk):
    service = serve(slow_bot)
    hold = slow_bot.pauses["retrieve"] = Event()

    async def chat():
        async with talk(service) as client:
            for item in ("q1", "q2", "q3"):
                await client.say("ask", text=CATS, id=item)
            await client.say("cancel", id="q2")
            heard = await client.until("error")
            hold.set()
            return heard + await client.until("final", question_id="q1") + await client.until("final", question_id="q3")

    heard = service.run(chat())
    last = [(frame["id"], frame["type"]) for frame in heard if frame["type"] in ("final", "error")]
    assert last == [("q2", "error"), ("q1", "final"), ("q3", "final")]
    assert slow_bot.begun == 2


def test_cancel_that_comes_too_late_changes_nothing(service, talk):
    async def chat():
        async with talk(service) as client:
            await client.ask(CATS, id="q1")
            await client.say("cancel", id="q1")
            await client.say("ping", id="p1")
            pong = await client.hear()
            await client.say("cancel", id="never-asked")
            return pong, await client.hear()

    pong, unknown = service.run(chat())
    assert (pong["type"], pong["id"]) == ("pong", "p1")
    assert (unknown["type"], unknown["id"], unknown["code"]) == ("error", "never-asked", "not_found")


# --- the same question again ----------------------------------------------------------------------------------------


def test_a_question_on_its_way_is_not_asked_twice(serve, slow_bot, talk):
    service = serve(slow_bot)
    hold = slow_bot.pauses["rank"] = Event()

    async def chat():
        async with talk(service) as client:
            for _ in range(3):
                await client.say("ask", text=CATS, id="q1")
            await client.say("ping")
            heard = await client.until("pong")
            hold.set()
            heard += await client.until("final")
            await client.say("ping")
            return heard, await client.hear()

    heard, pong = service.run(chat())
    kinds = [frame["type"] for frame in heard if frame["type"] != "pong"]
    assert kinds.count("final") == 1
    assert pong["type"] == "pong"
    assert slow_bot.begun == 1


def test_an_answered_question_is_answered_from_memory(serve, slow_bot, talk):
    service = serve(slow_bot)

    async def chat():
        async with talk(service) as client:
            return await client.ask(CATS, id="q1"), await client.ask(CATS, id="q1")

    first, again = service.run(chat())
    assert len(again) == 1
    assert again[0] == {**first[-1], "seq": first[-1]["seq"] + 1}
    assert slow_bot.begun == 1


def test_after_a_restart_an_answered_question_is_answered_from_the_store(serve, slow_bot, home, talk):
    async def before(service):
        async with talk(service) as client:
            return (await client.ask(CATS, id="q1"))[-1]

    async def after(service, first):
        async with talk(service) as client:
            await client.say("hello", resume=first["conversation"], seq=first["seq"])
            return [await client.hear(), *await client.ask(CATS, id="q1"), *await client.ask(CATS, id="q2")]

    first = serve(slow_bot)
    final = first.run(before(first))
    with Bot.open(home) as bot:
        second = serve(bot)
        ready, again, *new = second.run(after(second, final))
    assert ready["conversation"] == again["conversation"] == final["conversation"]
    assert again == {**final, "seq": final["seq"] + 1}  # a client that counts does not take it for an old one
    assert new[-1]["turn"] != final["turn"]


# --- coming back ----------------------------------------------------------------------------------------------------


def test_a_lost_connection_resumes_its_unfinished_answer(serve, slow_bot, talk):
    service = serve(slow_bot)
    hold = slow_bot.pauses["decide"] = Event()

    async def chat():
        async with talk(service) as client:
            await client.say("ask", text=CATS, id="q1")
            before = [await client.hear(), await client.hear()]
            client.socket._response.connection.transport.abort()  # as a network does
        conversation = before[0]["conversation"]
        await asyncio.to_thread(service.until, lambda: not len(chat_of(service)))
        async with talk(service) as client:
            await client.say("hello", resume=conversation, seq=2)
            ready = await client.hear()
            third = await client.hear()
            hold.set()
            return before, ready, [third, *await client.until("final")]

    before, ready, after = service.run(chat())
    assert (ready["type"], ready["conversation"], ready["seq"]) == ("ready", before[0]["conversation"], 2)
    assert [frame["seq"] for frame in before + after] == list(range(1, 3 + len(after)))
    assert after[0]["stage"] == "decide"
    assert slow_bot.begun == 1


def test_whoever_does_not_know_what_he_read_is_told_the_unfinished_turn_from_its_start(serve, slow_bot, talk):
    service = serve(slow_bot)
    slow_bot.pauses["decide"] = 0.3

    async def chat():
        async with talk(service) as client:
            seen = await client.ask("How tall is Mount Everest?", id="q0")
            await client.say("ask", text=CATS, id="q1")
            await client.hear()
        async with talk(service) as client:
            await client.say("hello", resume=seen[-1]["conversation"])
            await client.hear()
            return await client.until("final")

    result = service.run(chat())
    assert {frame["id"] for frame in result} == {"q1"}
    assert result[0]["stage"] == "retrieve"


def test_a_turn_that_ended_while_nobody_was_connected_is_told_once(serve, slow_bot, talk):
    service = serve(slow_bot)
    slow_bot.pauses["decide"] = 0.1

    async def chat():
        async with talk(service) as client:
            await client.say("ask", text=CATS, id="q1")
            conversation = (await client.hear())["conversation"]
        await asyncio.to_thread(service.until, lambda: slow_bot.ended == 1)
        heard = []
        for _ in range(2):
            async with talk(service) as client:
                await client.say("hello", resume=conversation)
                await client.say("ping")
                heard.append([frame["type"] for frame in await client.until("pong")])
        return heard

    first, second = service.run(chat())
    assert first[:2] == ["ready", "status"]
    assert first[-2:] == ["final", "pong"]
    assert second == ["ready", "pong"]


def test_an_id_that_nobody_knows_opens_a_conversation(service, talk):
    async def chat():
        async with talk(service) as client:
            await client.say("hello", resume="from-before-a-crash", seq=7)
            return await client.hear(), await client.ask(CATS)

    ready, result = service.run(chat())
    assert ready["conversation"] == "from-before-a-crash"
    assert result[0]["seq"] == 8
    assert len(turns(service, "from-before-a-crash")) == 1


def test_a_connection_changes_its_conversation(service, talk):
    async def chat():
        async with talk(service) as client:
            heard = []
            for _ in range(2):
                await client.say("hello")
                heard += [await client.hear(), (await client.ask(CATS, id="q1"))[-1]]
            await client.say("ask", text=CATS, conversation=heard[0]["conversation"])
            return heard, await client.hear()

    heard, refused = service.run(chat())
    first, second = heard[0]["conversation"], heard[2]["conversation"]
    assert first != second
    assert [frame["conversation"] for frame in heard] == [first, first, second, second]
    assert (refused["code"], refused["conversation"]) == ("invalid", second)
    assert len(chat_of(service).conversations) <= 2


def test_two_tabs_hear_the_same(service, talk):
    async def chat():
        async with talk(service) as one, talk(service) as other:
            await one.say("hello")
            conversation = (await one.hear())["conversation"]
            await other.say("hello", resume=conversation)
            await other.hear()
            return await one.ask(CATS, id="q1"), await other.until("final")

    one, other = service.run(chat())
    assert one == other


def test_a_conversation_has_so_many_connections(service, talk, monkeypatch):
    monkeypatch.setattr("qa_bot.web.chat.conversation.CLIENTS", 2)

    async def chat():
        async with talk(service) as one, talk(service) as two, talk(service) as three:
            heard = []
            for client in (one, two, three):
                await client.say("hello", resume="shared")
                heard.append(await client.hear())
            return heard, (await three.ask(CATS))[-1]

    heard, elsewhere = service.run(chat())
    assert [frame["type"] for frame in heard] == ["ready", "ready", "error"]
    assert heard[2]["code"] == "too_many_requests"
    assert elsewhere["conversation"] != "shared"


def test_a_deleted_conversation_is_forgotten_and_its_turn_stopped(serve, slow_bot, talk):
    service = serve(slow_bot)

    async def chat():
        async with talk(service) as client:
            conversation = (await client.ask(CATS, id="q1"))[-1]["conversation"]
            slow_bot.pauses["rank"] = Event()
            for item in ("q2", "q3"):
                await client.say("ask", text=CATS, id=item)
            await client.hear()
            async with service.client.delete(f"/api/conversations/{conversation}") as reply:
                assert reply.status == 204
            await client.until("error", question_id="q2")
            slow_bot.pauses.clear()
            return conversation, (await client.ask(CATS, id="q1"))[-1]

    conversation, again = service.run(chat())
    assert slow_bot.begun == 3
    assert [turn.id for turn in turns(service, conversation)] == [again["turn"]]


# --- feedback, ping and what is to come -----------------------------------------------------------------------------


def test_feedback_by_the_questions_id_or_the_answers(service, talk):
    comment = "<b>good</b> \U0001f44d\x00 \u202eשלום"

    async def chat():
        async with talk(service) as client:
            final = (await client.ask(CATS, id="q1"))[-1]
            await client.say("feedback", id="q1", vote="up", comment=comment)
            await client.say("feedback", id=final["turn"], vote="down")
            await client.say("ping")
            pong = await client.hear()
            await client.say("feedback", id="nothing", vote="up")
            unknown = await client.hear()
            await client.say("feedback", id="q1", vote="sideways")
            return final, pong, unknown, await client.hear()

    final, pong, unknown, wrong = service.run(chat())
    assert pong["type"] == "pong"  # nothing was wrong, and both are saved
    given = [(item.vote, item.comment) for item in service.bot.store.feedback(final["turn"])]
    assert given == [("up", comment.replace("\x00", "\ufffd")), ("down", "")]
    assert (unknown["code"], unknown["id"]) == ("not_found", "nothing")
    assert (wrong["code"], wrong["id"]) == ("invalid", "q1")


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "choose", "id": "q1", "choice": 1},
        {"type": "choose", "id": "q9", "choice": 1},
        {"type": "raw", "id": "q9"},
    ],
)
def test_a_choice_where_there_is_none(service, talk, frame):
    async def chat():
        async with talk(service) as client:
            await client.ask(CATS, id="q1")
            await client.say(frame["type"], **{name: frame[name] for name in frame if name != "type"})
            return await client.hear()

    result = service.run(chat())
    assert (result["type"], result["id"], result["code"]) == ("error", frame["id"], "not_found")


def test_an_unknown_persona_is_refused_by_name(serve, voiced_bot, talk):
    service = serve(voiced_bot)

    async def chat():
        async with talk(service) as client:
            await client.say("hello")
            ready = await client.hear()
            return ready, (await client.ask(CATS, persona="Eve"))[-1], (await client.ask(CATS, persona="cook"))[-1]

    ready, refused, answered = service.run(chat())
    assert ready["personas"] == ["cook", "sailor"]
    assert refused["code"] == "invalid"
    assert "cook" in refused["message"]
    assert answered["type"] == "final"


# --- who may connect ------------------------------------------------------------------------------------------------


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


def test_who_says_nothing_is_sent_away(serve, talk, monkeypatch):
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


def test_a_plain_request_is_told_what_was_expected(service):
    reply = service.get("/ws")
    assert reply.status == 400
    assert reply.json["error"]["code"] == "bad_request"


# --- limits ---------------------------------------------------------------------------------------------------------

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
def test_wrong_frames_are_told_and_the_connection_stays(service, talk, binary):
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


def test_more_connections_than_there_may_be_are_told_to_come_back(serve, talk, monkeypatch):
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


def test_a_client_that_does_not_read_is_dropped_and_harms_nobody(serve, talk, monkeypatch):
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
            heard = asyncio.create_task(idle.hear())  # who reads answers pings
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


# --- the end of the service -----------------------------------------------------------------------------------------


def test_stopping_lets_the_running_turn_end_and_says_goodbye(slow_bot):
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
