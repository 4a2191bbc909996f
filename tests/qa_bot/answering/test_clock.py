"""Deadlines and stages that take too long, on a simulated clock."""

import gc
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from qa_bot.answering.clock import Clock
from qa_bot.answering.deadline import Cancelled, Deadline, DeadlineExceededError


@pytest.fixture
def stuck():
    """Blocks a stage until the test is over."""
    return Event()


@pytest.fixture
def workers(stuck):
    with ThreadPoolExecutor(4) as pool:
        yield pool
        stuck.set()


def test_a_stage_that_overruns_is_skipped_and_named(workers, now, stuck):
    clock = Clock(Deadline.after(0.2, now=now), workers)

    def dense(deadline):
        while "keyword" not in clock.timings:
            time.sleep(0.001)
        now.advance(1.0)
        stuck.wait()

    results = clock.run_parallel({"dense": dense, "keyword": lambda deadline: "hits"}, "nothing")
    assert results == {"keyword": "hits", "dense": "nothing"}
    assert clock.skipped == ["dense"]
    assert set(clock.timings) == {"keyword", "dense"}


def test_each_stage_gets_the_smaller_of_its_cap_and_the_remaining_time(workers, now, stuck):
    clock = Clock(Deadline.after(5, now=now), workers, caps={"rerank": 0.05})

    def rerank(deadline):
        now.advance(0.5)
        stuck.wait()

    assert clock.run("rerank", rerank, "fallback") == "fallback"
    assert clock.run("compose", lambda deadline: deadline.left(), "") == pytest.approx(4.5)
    assert clock.skipped == ["rerank"]


@pytest.mark.parametrize("quick", [True, False])
def test_a_stage_that_noticed_its_deadline_keeps_nothing_alive(workers, quick):
    """An exception in a future is a reference cycle: the files of a former index stayed open until a collection."""

    class Index:
        def search(self, deadline):
            raise DeadlineExceededError

    index = Index()
    clock = Clock(Deadline.after(5), workers)
    gone = weakref.ref(index)
    gc.collect()
    gc.disable()
    try:
        assert clock.run_parallel({"dense": index.search}, "nothing", quick=["dense"] * quick) == {"dense": "nothing"}
        del index
        workers.submit(int).result()
        for _ in range(100):  # the thread lets go of the stage a moment after its result is there
            if gone() is None:
                break
            time.sleep(0.01)
        assert gone() is None
    finally:
        gc.enable()
    assert clock.skipped == ["dense"]


def test_nothing_starts_after_the_deadline(workers):
    clock = Clock(Deadline.after(0.0), workers)
    called = []
    assert clock.run("rank", lambda deadline: called.append(1), None) is None
    assert not called
    assert clock.skipped == ["rank"]


def test_long_work_stops_itself_between_batches(now):
    deadline = Deadline.after(0.01, now=now)
    deadline.check()
    now.advance(0.02)
    with pytest.raises(DeadlineExceededError):
        deadline.check()


def test_an_error_of_a_stage_is_raised(workers):
    def broken(deadline):
        raise ValueError("bad index")

    with pytest.raises(ValueError, match="bad index"):
        Clock(Deadline.after(30), workers).run("keyword", broken, None)


def test_a_cancelled_question_does_not_wait_for_its_stages(workers, stuck):
    cancelled = Event()
    clock = Clock(Deadline.after(30, cancelled), workers)

    def dense(deadline):
        cancelled.set()
        return stuck.wait(10)

    with pytest.raises(Cancelled):
        clock.run("dense", dense, "nothing")
    assert clock.skipped == ["dense"]
    with pytest.raises(Cancelled):
        clock.run_inline("compose", lambda: "text")


def test_long_work_stops_when_it_is_cancelled():
    cancelled = Event()
    deadline = Deadline.after(30, cancelled).within(20)
    deadline.check()
    cancelled.set()
    assert deadline.left() == 0
    with pytest.raises(DeadlineExceededError):
        deadline.check()
