"""The order in which questions are answered, and what happens to those that are cancelled, fail or are left."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import CancelledError
from threading import Event, current_thread

import pytest

from qa_bot.web.answer_threads import DELAY, LONG, AnswerThreads


@pytest.fixture
def go() -> Event:
    return Event()


@pytest.fixture
def threads(go: Event):
    opened = AnswerThreads(1)
    yield opened
    go.set()
    opened.close()


def test_shorter_questions_overtake_those_that_wait(threads: AnswerThreads, go: Event) -> None:
    order: list[int] = []
    first = threads.submit(1000, lambda: go.wait(10))
    waiting = [threads.submit(size, lambda size=size: order.append(size)) for size in (900, 1000, 20, 500, 30)]
    go.set()
    assert first.result(10)
    for future in waiting:
        future.result(10)
    assert order == [20, 30, 500, 900, 1000]


def test_a_longer_question_does_not_wait_for_ever(threads: AnswerThreads, go: Event, monkeypatch) -> None:
    """Only for shorter ones that came at most `DELAY` seconds for each of its characters later."""
    order: list[str] = []
    now = 100.0
    monkeypatch.setattr("qa_bot.web.answer_threads.time.monotonic", lambda: now)
    threads.submit(10, lambda: go.wait(10))
    longer = threads.submit(500, lambda: order.append("longer"))
    now += 490 * DELAY + 0.01
    shorter = threads.submit(10, lambda: order.append("shorter"))
    go.set()
    longer.result(10)
    shorter.result(10)
    assert order == ["longer", "shorter"]


def test_long_questions_have_separate_threads(threads: AnswerThreads, go: Event) -> None:
    threads.submit(LONG + 1, lambda: go.wait(10))
    assert threads.submit(LONG, lambda: current_thread().name).result(10).startswith("answer")


def test_a_cancelled_question_is_not_run(threads: AnswerThreads, go: Event) -> None:
    done: list[int] = []
    threads.submit(10, lambda: go.wait(10))
    cancelled, other = (threads.submit(10, lambda n=n: done.append(n)) for n in (1, 2))
    assert cancelled.cancel()
    go.set()
    other.result(10)
    assert done == [2]


def test_an_error_reaches_the_caller_and_keeps_nothing_alive(threads: AnswerThreads) -> None:
    class Held:
        def fail(self) -> None:
            raise ValueError("no")

    held = Held()
    alive = weakref.ref(held)
    gc.disable()
    try:
        future = threads.submit(10, held.fail)
        with pytest.raises(ValueError, match="no"):
            future.result(10)
        del future, held
        threads.submit(10, lambda: None).result(10)
        assert alive() is None, "no cycle that the garbage collector would have to find"
    finally:
        gc.enable()


def test_what_waits_at_the_end_is_cancelled() -> None:
    opened, go, begun = AnswerThreads(1), Event(), Event()

    def work() -> bool:
        begun.set()
        return go.wait(10)

    running = opened.submit(10, work)
    assert begun.wait(10)
    waiting = opened.submit(10, lambda: None)
    waiting.add_done_callback(lambda _: go.set())
    opened.close()
    assert running.result()
    with pytest.raises(CancelledError):
        waiting.result()
