"""Turns of a conversation, with an service that answers when the test says so."""

import asyncio
from types import SimpleNamespace

import orjson
import pytest

from qa_bot.answering.events import StageBegun, TextAdded
from qa_bot.web.chat import conversation as module
from qa_bot.web.chat.conversation import Conversation
from qa_bot.web.chat.frames import AskFrame
from qa_bot.web.errors import ServiceError
from qa_core.types import Answer


class FakeAnswerService:
    """Every question waits in `asked` for its reply by the test."""

    def __init__(self):
        self.busy = False
        self.asked = []

    def expect_persona(self, name):
        if name not in ("", "Ada"):
            raise ServiceError(422, f"Expected Ada, but got {name!r}.")

    async def answer(self, ask, *, listen):
        pending = SimpleNamespace(question=ask.question, listen=listen, reply=asyncio.Future(), cancelled=False)
        self.asked.append(pending)
        listen(StageBegun("retrieve"))
        try:
            return await pending.reply
        except asyncio.CancelledError:
            pending.cancelled = True
            raise


class Client:
    """Keeps what it is sent."""

    def __init__(self):
        self.heard = []

    def send(self, data, seq):
        frame = orjson.loads(data)
        assert frame["seq"] == seq
        self.heard.append(frame)

    @property
    def kinds(self):
        return [frame["type"] for frame in self.heard]


def answer(turn):
    return Answer("Why?", "Because.", "passage", True, 0.9, id=turn)


def asking(text="Why?", **fields):
    return AskFrame(type="ask", text=text, **fields)


async def answered(conversation, service, question_id, turn):
    """Ask, and have the service answer."""
    conversation.ask(asking(), question_id)
    await asyncio.sleep(0)
    service.asked[-1].reply.set_result(answer(turn))
    while not conversation.has_answered(question_id):
        await asyncio.sleep(0)


def conversation_with(*clients, **options):
    service = FakeAnswerService()
    conversation = Conversation("c", service, **options)
    for client in clients:
        conversation.attach(client)
    return conversation, service


def test_stages_are_sent_once_and_nothing_follows_the_end():
    async def work():
        client = Client()
        conversation, service = conversation_with(client)
        conversation.ask(asking(), "q1")
        await asyncio.sleep(0)
        (pending,) = service.asked
        pending.listen(StageBegun("rank"))
        pending.listen(StageBegun("rank"))
        conversation.cancel("q1")
        pending.listen(TextAdded("too late"))
        await asyncio.sleep(0)
        assert pending.cancelled
        return client.heard

    heard = asyncio.run(work())
    assert [frame.get("stage") or frame["code"] for frame in heard] == ["retrieve", "rank", "cancelled"]


def test_a_question_stopped_before_its_work_began_ends_too():
    async def work():
        client = Client()
        conversation, service = conversation_with(client)
        conversation.ask(asking(), "q1")
        conversation.cancel("q1")
        await asyncio.sleep(0)
        assert not service.asked
        conversation.ask(asking(), "q1")
        await asyncio.sleep(0)
        assert len(service.asked) == 1
        return client.kinds

    assert asyncio.run(work()) == ["status", "error", "status"]


def test_an_engine_that_closes_ends_the_turn():
    async def work():
        client = Client()
        conversation, service = conversation_with(client)
        conversation.ask(asking(), "q1")
        await asyncio.sleep(0)
        service.asked[0].reply.cancel()
        while client.kinds[-1] != "error":
            await asyncio.sleep(0)
        return client.heard[-1]

    last = asyncio.run(work())
    assert (last["type"], last["code"], last["retry_after"]) == ("error", "overloaded", 5)


def test_frames_of_ended_turns_are_kept_for_a_while():
    async def work():
        conversation, service = conversation_with()
        for i in range(module.KEPT_TURNS + 3):
            await answered(conversation, service, f"q{i}", f"t{i}")
        everything = Client()
        conversation.catch_up(everything, after=0)
        conversation.forget(before=float("inf"))
        nothing = Client()
        conversation.catch_up(nothing, after=0)
        assert conversation.empty
        assert conversation.turn_of("q0") == "t0"  # which turn it was is known all the same
        return {frame["id"] for frame in everything.heard}, nothing.heard

    saved, left = asyncio.run(work())
    assert saved == {f"q{i}" for i in range(3, module.KEPT_TURNS + 3)}
    assert left == []


def test_frames_of_an_unfinished_turn_are_not_forgotten():
    async def work():
        conversation, _ = conversation_with()
        conversation.ask(asking(), "q1")
        await asyncio.sleep(0)
        conversation.forget(before=float("inf"))
        late = Client()
        conversation.catch_up(late, after=None)
        conversation.cancel("q1")
        return late.kinds

    assert asyncio.run(work()) == ["status"]


@pytest.mark.parametrize(("after", "expected"), [(None, []), (0, [1, 2]), (1, [2]), (2, []), (99, [])])
def test_missed_frames(after, expected):
    async def work():
        there, late = Client(), Client()
        conversation, service = conversation_with(there)
        await answered(conversation, service, "q1", "t1")
        assert [frame["seq"] for frame in there.heard] == [1, 2]
        conversation.catch_up(late, after=after)
        return [frame["seq"] for frame in late.heard]

    assert asyncio.run(work()) == expected


def test_missed_frames_come_in_their_order():
    async def work():
        late = Client()
        conversation, service = conversation_with()
        for item in ("q1", "q2"):
            conversation.ask(asking(), item)
        await asyncio.sleep(0)
        service.asked[0].listen(StageBegun("rank"))
        conversation.catch_up(late, after=None)
        await conversation.finish(0)
        return [(frame["seq"], frame["id"], frame["stage"]) for frame in late.heard]

    assert asyncio.run(work()) == [(1, "q1", "retrieve"), (2, "q2", "queued"), (3, "q1", "rank")]


def test_numbers_continue_after_the_last_frame_read():
    async def work():
        client = Client()
        conversation, service = conversation_with(client)
        conversation.continue_after(41)
        conversation.continue_after(7)
        await answered(conversation, service, "q1", "t1")
        return [frame["seq"] for frame in client.heard]

    assert asyncio.run(work()) == [42, 43]


def test_only_so_many_answered_questions_are_remembered(monkeypatch):
    monkeypatch.setattr(module, "REMEMBERED", 2)

    async def work():
        conversation, service = conversation_with()
        for i in range(3):
            await answered(conversation, service, f"q{i}", f"t{i}")
        return [conversation.has_answered(f"q{i}") for i in range(3)]

    assert asyncio.run(work()) == [False, True, True]


def test_a_conversation_is_idle_without_clients_and_questions():
    settled = []

    async def work():
        client = Client()
        conversation, service = conversation_with(client, on_idle=settled.append)
        conversation.ask(asking(), "q1")
        await asyncio.sleep(0)
        conversation.detach(client)
        assert not settled
        service.asked[0].reply.set_result(answer("t1"))
        while not conversation.idle:
            await asyncio.sleep(0)
        assert settled == [conversation]

    asyncio.run(work())


def test_finishing_waits_for_the_turn_that_runs_only():
    async def work(reply):
        client = Client()
        conversation, service = conversation_with(client)
        conversation.ask(asking(), "q1")
        conversation.ask(asking(), "q2")
        await asyncio.sleep(0)
        if reply:
            asyncio.get_running_loop().call_later(0.01, service.asked[0].reply.set_result, answer("t1"))
        await conversation.finish(30 if reply else 0.01)
        return [(frame["id"], frame["type"]) for frame in client.heard if frame["type"] != "status"]

    assert asyncio.run(work(True)) == [("q2", "error"), ("q1", "final")]
    assert asyncio.run(work(False)) == [("q2", "error"), ("q1", "error")]


def test_refusals():
    async def work():
        conversation, _ = conversation_with(*(Client() for _ in range(module.CLIENTS)))
        with pytest.raises(ServiceError, match=r"at most 8 connections"):
            conversation.attach(Client())
        with pytest.raises(ServiceError, match="Expected Ada, but got 'Eve'"):
            conversation.ask(asking(persona="Eve"), "q1")
        with pytest.raises(ServiceError, match="asked here, but got 'q1'"):
            conversation.cancel("q1")
        for i in range(module.WAITING + 1):
            conversation.ask(asking(persona="Ada"), f"q{i}")
        with pytest.raises(ServiceError, match="at most 4 questions to wait"):
            conversation.ask(asking(), "q9")
        await conversation.finish(0)

    asyncio.run(work())


def test_a_changed_answer_is_sent_to_connected_and_returning_clients():
    async def work():
        early, late = Client(), Client()
        conversation, service = conversation_with(early)
        await answered(conversation, service, "q1", "t1")
        read = early.heard[-1]
        conversation.detach(early)
        conversation.revise("t1", {"id": "t1", "ask": "q1", "answer": "Well."})
        conversation.attach(late)
        conversation.catch_up(late, after=read["seq"])
        await conversation.resend("q1", late)
        conversation.forget(float("inf"))
        conversation.revise("t1", {"id": "t1", "answer": "Aye."})  # recorded without the asker's own id
        return read, late.heard

    read, (missed, again, last) = asyncio.run(work())
    assert (missed["type"], missed["id"], missed["turn"], missed["answer"]) == ("final", "q1", "t1", "Well.")
    assert (missed["seq"], again["answer"]) == (read["seq"] + 1, "Well.")
    assert (last["id"], last["answer"], last["seq"]) == ("q1", "Aye.", read["seq"] + 3)
