"""The log of stages: opened by a caller, filled by clocks, also from the threads of stages."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Event

import pytest

from qa_bot.answering.clock import Clock
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.observation.stage_log import StageLog, current_log, stage_log


@pytest.fixture
def workers():
    with ThreadPoolExecutor(2) as pool:
        yield pool


def test_without_a_log_nothing_is_kept(workers) -> None:
    clock = Clock(Deadline.after(5), workers)
    assert clock.run_inline("compose", lambda: "text") == "text"
    assert (current_log(), clock.log) == (None, None)


def test_stages_are_kept_with_the_reasons_of_skipped_ones(workers, now) -> None:
    stuck = Event()

    def overrun(_: Deadline) -> str:
        now.advance(2)
        stuck.wait(30)
        return "late"

    with stage_log() as log:
        clock = Clock(Deadline.after(3, now=now), workers, caps={"verify": 1.0})
        clock.run_inline("formulate", lambda: None)
        assert clock.run("verify", overrun, "none") == "none"
        now.advance(5)
        assert clock.run_quick("facts", lambda _: "fact", "none") == "none"
        stuck.set()
    assert [stage.name for stage in log.stages] == ["formulate", "verify", "facts"]
    assert log.skipped() == {"verify": "overran", "facts": "deadline"}
    assert current_log() is None


def test_a_stage_begins_when_its_thread_begins_it(workers) -> None:
    gate = Event()
    with stage_log() as log:
        clock = Clock(Deadline.after(30), workers)
        clock.run_parallel({"first": lambda _: gate.set(), "second": lambda _: gate.wait(30)}, None)
    first, second = sorted(log.stages, key=lambda stage: stage.name)
    assert first.began >= clock.started
    assert second.began + second.seconds >= first.began, "the second waits for the first"


def test_threads_of_stages_have_the_context_of_the_question(workers) -> None:
    with stage_log() as log:
        assert Clock(Deadline.after(30), workers).run("rank", lambda _: current_log(), None) is log
        assert workers.submit(copy_context().run, current_log).result() is log
    assert workers.submit(current_log).result() is None


def test_counts_belong_to_the_last_run_of_a_stage() -> None:
    log = StageLog()
    log.add("rank", 10.0, 0.5)
    log.count("rank", {"candidates_in": 8})
    log.add("rank", 11.0, 0.25)
    log.count("rank", {"candidates_in": 2})
    log.count("verify", {"passages_read": 5})
    assert [stage.counts for stage in log.stages] == [{"candidates_in": 8}, {"candidates_in": 2}]
    assert log.seconds() == {"rank": 0.75}
