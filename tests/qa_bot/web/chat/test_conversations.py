"""Conversations stay open while a client may return, and are closed afterwards."""

import asyncio
import logging
from types import SimpleNamespace

import pytest

from qa_bot.home.store import StoreError
from qa_bot.web.chat import conversations as module
from qa_bot.web.chat.conversations import Conversations
from qa_bot.web.chat.frames import AskFrame
from qa_core.types import Answer


class FakeAnswerService:
    """Answers at once; its store knows the questions of one conversation."""

    busy = False

    def expect_persona(self, name):
        assert name == ""

    def __init__(self, known=None):
        self.known = known or {}
        self.looked_up = 0

    def begin(self, conversation):
        pass

    async def answer(self, ask, **options):
        return Answer(ask.question.title, "Because.", "passage", True, 0.9, id="t1")

    async def store(self, work):
        self.looked_up += 1
        return work(SimpleNamespace(turn_ids_by_reference=lambda conversation: self.known.get(conversation, {})))


class Client:
    def send(self, data, seq):
        pass


async def visited(conversations, name=None, *, asks=True):
    """A conversation whose client asked and left."""
    conversation, client = await conversations.open(name), Client()
    conversation.attach(client)
    if asks:
        conversation.ask(AskFrame(type="ask", text="Why?"), "q1")
        while not conversation.has_answered("q1"):
            await asyncio.sleep(0)
    conversation.detach(client)
    return conversation


def test_new_ones_are_not_looked_up_and_old_ones_once():
    async def work():
        service = FakeAnswerService({"old": {"q0": "t0"}})
        conversations = Conversations(service)
        new = await visited(conversations)
        assert service.looked_up == 0
        assert new.turn_of("q1") == "t1"
        old = await visited(conversations, "old")
        assert await conversations.open("old") is old
        assert service.looked_up == 1
        assert old.turn_of("q0") == "t0"
        await conversations.close(0)

    asyncio.run(work())


def test_two_who_come_back_at_once_meet():
    async def work():
        conversations = Conversations(FakeAnswerService())
        both = await asyncio.gather(conversations.open("shared"), conversations.open("shared"))
        await conversations.close(0)
        return both

    one, other = asyncio.run(work())
    assert one is other


def test_a_failing_store_stops_no_conversation(caplog):
    class Broken(FakeAnswerService):
        async def store(self, work):
            raise StoreError("the disk is gone")

    async def work():
        conversations = Conversations(Broken())
        conversation = await visited(conversations, "old")
        await conversations.close(0)
        return conversation.id

    with caplog.at_level(logging.ERROR):
        assert asyncio.run(work()) == "old"
    assert "the disk is gone" in caplog.text


def test_a_conversation_without_questions_is_removed():
    async def work():
        conversations = Conversations(FakeAnswerService())
        await visited(conversations, asks=False)
        left = len(conversations)
        await conversations.close(0)
        return left

    assert asyncio.run(work()) == 0


@pytest.mark.parametrize("idle", [1, 3])
def test_the_longest_left_go_first(monkeypatch, idle):
    monkeypatch.setattr(module, "IDLE", idle)

    async def work():
        conversations = Conversations(FakeAnswerService())
        for item in "abcd":
            await visited(conversations, item)
        conversations.sweep(0)
        left = [conversation.id for conversation in conversations]
        await conversations.close(0)
        return left

    assert asyncio.run(work()) == list("abcd"[-idle:])


def test_a_sweep_closes_old_conversations(monkeypatch):
    monkeypatch.setattr(module, "SWEEP", 0.01)
    monkeypatch.setattr(module, "KEEP", -1e9)  # everything is old

    async def work():
        conversations = Conversations(FakeAnswerService())
        saved, client = await conversations.open("stays"), Client()
        saved.attach(client)
        await visited(conversations, "goes")
        while len(conversations) > 1:
            await asyncio.sleep(0.01)
        assert await conversations.open("stays") is saved
        saved.detach(client)
        while len(conversations):
            await asyncio.sleep(0.01)
        await conversations.close(0)

    asyncio.run(work())
