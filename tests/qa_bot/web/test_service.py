"""One service for all: order of events, room, deadlines, cancelling and stopping."""

from __future__ import annotations

import asyncio
import gc
from threading import Event, get_ident

import pytest

from qa_bot.answering.ask import Ask, ClientTurn
from qa_bot.answering.deadline import Cancelled
from qa_bot.answering.events import SourcesFound, StageBegun, TextAdded
from qa_bot.web.errors import ServiceError
from qa_bot.web.metrics import Metrics
from qa_bot.web.service import OBJECTS, AnswerService
from qa_core.types import Question

CATS = Question("Why do cats sleep all day?")


def with_service(bot, work, *, workers: int = 1, queue: int = 1):
    """The result of `work(service)` in a new event loop."""

    async def call():
        service = AnswerService(bot, Metrics(), workers=workers, queue=queue)
        try:
            return await asyncio.wait_for(work(service), 20)
        finally:
            await service.close()

    return asyncio.run(call())


async def until(holds) -> None:
    while not holds():
        await asyncio.sleep(0.002)


def test_events_come_on_the_loop_before_the_answer(bot) -> None:
    result, threads = [], set()

    def listen(event) -> None:
        result.append(event)
        threads.add(get_ident())

    async def work(service):
        return await service.answer(Ask.of(CATS), listen=listen)

    answer = with_service(bot, work)
    assert [event.stage for event in result if isinstance(event, StageBegun)] == [
        "retrieve",
        "rank",
        "decide",
        "compose",
    ]
    assert [event.sources for event in result if isinstance(event, SourcesFound)] == [answer.sources]
    assert "".join(event.text for event in result if isinstance(event, TextAdded)) == answer.text
    assert threads == {get_ident()}


def test_an_overloaded_service_says_when_to_retry(slow_bot) -> None:
    """One is answered, one waits, the third is turned away."""
    go = slow_bot.pauses["retrieve"] = Event()

    async def work(service):
        states = [(service.busy, service.overloaded)]
        tasks = []
        for _ in range(2):
            tasks.append(asyncio.create_task(service.answer(Ask.of(CATS))))
            await until(lambda: service.busy if len(tasks) == 1 else service.overloaded)
            states.append((service.busy, service.overloaded))
        for turned_away in (service.answer(Ask.of(CATS)), service.search("cats")):
            with pytest.raises(ServiceError, match="2 questions are already in work") as caught:
                await turned_away
            assert (caught.value.status, caught.value.headers) == (503, {"Retry-After": "1"})
        go.set()
        answers = await asyncio.gather(*tasks)
        return states, answers, (service.busy, service.overloaded)

    states, answers, after = with_service(slow_bot, work)
    assert states == [(False, False), (True, False), (True, True)]
    assert all(answer.sources for answer in answers)
    assert after == (False, False)


def test_waiting_costs_a_question_its_own_time(slow_bot) -> None:
    go = slow_bot.pauses["retrieve"] = Event()

    async def work(service):
        first = asyncio.create_task(service.answer(Ask.of(CATS, seconds=60)))
        await until(lambda: service.busy)
        second = asyncio.create_task(service.answer(Ask.of(CATS, seconds=0.05)))
        await asyncio.sleep(0.1)  # longer than the second may take
        go.set()
        return await asyncio.gather(first, second)

    first, second = with_service(slow_bot, work)
    assert first.skipped == ()
    assert set(second.skipped) >= {"dense", "keyword"}


def test_cancelling_stops_the_work_and_gives_the_place_back(slow_bot) -> None:
    slow_bot.pauses["rank"] = 20.0

    async def work(service):
        running = asyncio.create_task(service.answer(Ask.of(CATS)))
        await until(lambda: slow_bot.begun)
        waiting = asyncio.create_task(service.answer(Ask.of(CATS)))
        await until(lambda: service.overloaded)
        for task in (waiting, running):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await until(lambda: not service.busy)
        slow_bot.pauses.clear()
        return await service.answer(Ask.of(CATS))

    assert with_service(slow_bot, work).sources
    assert (slow_bot.begun, slow_bot.cancelled) == (2, 1), "the one that waited was never begun"


def test_a_failing_bot_fails_its_question_alone(bot, monkeypatch) -> None:
    async def work(service):
        with monkeypatch.context() as patch:
            patch.setattr(bot, "corridor", lambda: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                await service.answer(Ask.of(CATS))
        return await service.answer(Ask.of(CATS))

    assert with_service(bot, work).sources


def test_the_store_is_free_while_all_workers_answer(slow_bot) -> None:
    go = slow_bot.pauses["retrieve"] = Event()

    async def work(service):
        answering = asyncio.create_task(service.answer(Ask.of(CATS)))
        await until(lambda: service.busy)
        turns = await service.store(lambda store: store.counts().turns)
        go.set()
        answer = await answering
        return turns, await service.store(lambda store: store.turn(answer.id).question)

    assert with_service(slow_bot, work) == (0, CATS.title)


def test_a_search_brings_candidates(bot) -> None:
    matches = with_service(bot, lambda service: service.search("cats sleep", engine="keyword", top=3))
    assert matches[0].passage.source.document == "animals-cats-sleep"


def test_closing_rejects_queued_questions_and_finishes_running_ones(slow_bot) -> None:
    go = slow_bot.pauses["retrieve"] = Event()

    async def work(service):
        running = asyncio.create_task(service.answer(Ask.of(CATS)))
        await until(lambda: service.busy)
        waiting = asyncio.create_task(service.answer(Ask.of(CATS)))
        await until(lambda: service.overloaded)
        closing = asyncio.create_task(service.close())
        with pytest.raises(ServiceError, match="stopping") as caught:
            await waiting
        with pytest.raises(ServiceError, match="stopping"):
            await service.answer(Ask.of(CATS))
        assert service.state == "stopping"
        go.set()
        await closing
        return caught.value.status, await running

    status, answer = with_service(slow_bot, work)
    assert status == 503
    assert answer.sources


def test_draining_ends_when_idle_or_at_the_timeout(slow_bot) -> None:
    go = slow_bot.pauses["retrieve"] = Event()

    async def work(service):
        answering = asyncio.create_task(service.answer(Ask.of(CATS)))
        await until(lambda: service.busy)
        in_vain = await service.drained(0.05)
        asyncio.get_running_loop().call_later(0.05, go.set)
        return in_vain, await service.drained(20), await answering

    in_vain, drained, answer = with_service(slow_bot, work)
    assert (in_vain, drained) == (False, True)
    assert answer.sources


def test_warming_up_leaves_no_trace_and_makes_ready(bot) -> None:
    async def work(service):
        before = service.state
        await service.warm_up()
        return before, service.state, await service.store(lambda store: store.counts().turns)

    assert with_service(bot, work) == ("starting", "ready", 0)


def test_a_service_searches_for_garbage_as_often_as_python(bot) -> None:
    usual = gc.get_threshold()
    gc.set_threshold(50_000, *usual[1:])  # as while the process starts
    try:
        with_service(bot, lambda service: service.warm_up())
        assert gc.get_threshold() == (OBJECTS, *usual[1:])
    finally:
        gc.set_threshold(*usual)


def test_a_home_that_cannot_answer_does_not_get_ready(bot) -> None:
    (bot.home.index / "CURRENT").write_text("99999999\n")

    async def work(service):
        with pytest.raises(Exception, match="99999999"):
            await service.warm_up()
        return service.state

    assert with_service(bot, work) == "starting"


def test_a_cancelled_pipeline_is_no_error_of_the_loop(slow_bot, caplog) -> None:
    """`Cancelled` of a question without a waiting client is swallowed together with its future."""
    slow_bot.pauses["rank"] = 20.0

    async def work(service):
        answering = asyncio.create_task(service.answer(Ask.of(CATS)))
        await until(lambda: slow_bot.begun)
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
        await until(lambda: slow_bot.ended)

    with_service(slow_bot, work)
    assert Cancelled.__name__ not in caplog.text


def test_long_questions_are_overtaken(slow_bot) -> None:
    """The only worker for long questions is busy and more of them wait; an ordinary question is answered meanwhile."""
    long = Ask(Question(CATS.title, "My cat is nine years old. " * 100))
    go = slow_bot.pauses["retrieve"] = Event()

    async def work(service):
        flood = [asyncio.create_task(service.answer(long)) for _ in range(4)]
        await until(lambda: slow_bot.begun)
        slow_bot.pauses.clear()
        ordinary = await service.answer(Ask.of(CATS))
        waiting = [task.done() for task in flood]
        go.set()
        return ordinary, waiting, await asyncio.gather(*flood)

    ordinary, waiting, answers = with_service(slow_bot, work, workers=1, queue=8)
    assert ordinary.sources
    assert waiting == [False] * 4
    assert all(answer.sources for answer in answers)


@pytest.mark.parametrize(
    "longer",
    [
        Ask(Question(CATS.title, "My cat is nine years old. " * 36)),
        Ask(CATS, history=[ClientTurn("My cat is nine years old. " * 36, "So?")]),
        Ask(CATS, history=[ClientTurn("So?", "Your cat is nine years old. " * 300)]),
    ],
    ids=["body", "history", "replies"],
)
def test_an_ordinary_question_overtakes_longer_ones_that_wait(slow_bot, longer: Ask) -> None:
    """A flood of questions that are just not long: one is in work, the others wait, the ordinary one comes next."""
    go = slow_bot.pauses["retrieve"] = Event()

    async def work(service):
        flood = [asyncio.create_task(service.answer(longer)) for _ in range(4)]
        await until(lambda: slow_bot.begun)
        slow_bot.pauses.clear()
        ordinary = asyncio.create_task(service.answer(Ask.of(CATS)))
        await asyncio.sleep(0)
        go.set()
        await ordinary
        return sum(task.done() for task in flood), await asyncio.gather(*flood)

    done, answers = with_service(slow_bot, work, workers=1, queue=8)
    assert done <= 1
    assert all(answer.sources for answer in answers)
