"""Deferred SIGINT: an interrupt is never lost."""

import signal
import weakref

import pytest

from qa_bot.terminal.output import counting
from qa_bot.terminal.sigint import check_interrupt, deferred_sigint


class Thing:
    pass


@pytest.fixture(autouse=True)
def _default_handler():
    """Restores the handler of this process after a test."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_during_a_callback() -> None:
    thing = Thing()
    held = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    del thing
    assert held() is None


def test_dropped_interrupt_is_raised_by_the_next_progress(capfd):
    with deferred_sigint(), counting("") as progress:
        progress(1)
        interrupt_during_a_callback()
        with pytest.raises(KeyboardInterrupt):
            progress(2)
    check_interrupt()  # outside of deferred_sigint nothing is deferred
    assert capfd.readouterr().err == ""


def test_interrupt_is_raised_at_once_and_the_handler_restored():
    with pytest.raises(KeyboardInterrupt), deferred_sigint():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    check_interrupt()


def test_ignored_interrupts_stay_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with deferred_sigint():
        signal.raise_signal(signal.SIGINT)
        check_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
