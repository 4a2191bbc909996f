"""Questions again and lost connections: repeated questions, resumed conversations, several tabs."""

import asyncio
from threading import Event

from qa_bot.bot import Bot
from tests.qa_bot.web.chat.sockets import CATS, chat_of, turns


def test_a_repeated_question_runs_once(serve, slow_bot, talk):
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


def test_a_client_without_a_number_gets_the_running_turn_from_its_start(serve, slow_bot, talk):
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


def test_a_turn_that_ended_without_clients_is_sent_once(serve, slow_bot, talk):
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


def test_an_unknown_id_opens_a_conversation(service, talk):
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
            while slow_bot.begun < 2:  # accepted before a worker begins it
                await asyncio.sleep(0.01)
            async with service.client.delete(f"/api/conversations/{conversation}") as reply:
                assert reply.status == 204
            await client.until("error", question_id="q2")
            slow_bot.pauses.clear()
            return conversation, (await client.ask(CATS, id="q1"))[-1]

    conversation, again = service.run(chat())
    assert slow_bot.begun == 3
    assert [turn.id for turn in turns(service, conversation)] == [again["turn"]]
