"""Deadlines with artificially slow clock: the answer comes in time and names what was skipped."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Timer

import pytest

from qa_bot.answering.clock import Clock
from qa_bot.answering.deadline import Cancelled, Deadline, DeadlineExceededError


@pytest.fixture
def workers():
    with ThreadPoolExecutor(4) as pool:
        yield pool


def slow(seconds, result):
    def work(deadline):
        time.sleep(seconds)
        return result

    return work


def test_a_stage_that_overruns_is_skipped_and_named(workers):
    clock = Clock(Deadline.after(0.2), workers)
    started = time.monotonic()
    results = clock.run_parallel({"keyword": slow(0.0, "hits"), "dense": slow(1.0, "late")}, "nothing")
    assert results == {"keyword": "hits", "dense": "nothing"}
    assert clock.skipped == ["dense"]
    assert time.monotonic() - started < 0.9
    assert set(clock.timings) == {"keyword", "dense"}


def test_each_stage_gets_the_smaller_of_its_cap_and_what_is_left(workers):
    clock = Clock(Deadline.after(5), workers, caps={"rerank": 0.05})
    assert clock.run("rerank", slow(0.5, "late"), "kept") == "kept"
    assert clock.run("compose", slow(0.0, "text"), "") == "text"
    assert clock.skipped == ["rerank"]


def test_nothing_starts_after_the_deadline(workers):
    clock = Clock(Deadline.after(0.0), workers)
    called = []
    assert clock.run("rank", lambda deadline: called.append(1), None) is None
    assert not called
    assert clock.skipped == ["rank"]


def test_long_work_stops_itself_between_batches():
    deadline = Deadline.after(0.01)
    deadline.check()
    time.sleep(0.02)
    with pytest.raises(DeadlineExceededError):
        deadline.check()


def test_a_failing_stage_is_not_taken_for_a_slow_one(workers):
    def broken(deadline):
        raise ValueError("bad index")

    with pytest.raises(ValueError, match="bad index"):
        Clock(Deadline.after(1), workers).run("keyword", broken, None)


def test_nobody_waits_for_a_cancelled_question(workers):
    cancelled = Event()
    clock = Clock(Deadline.after(30, cancelled), workers)
    Timer(0.1, cancelled.set).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        clock.run("dense", slow(1.0, "late"), "nothing")
    assert time.monotonic() - started < 0.9
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
