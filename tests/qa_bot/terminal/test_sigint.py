import signal
import weakref

import pytest

from qa_bot.terminal.output import counting
from qa_bot.terminal.sigint import check_interrupt, deferred_sigint


class Thing:
    pass


@pytest.fixture(autouse=True)
def _default_handler():
    """Whatever this process was started with."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press_while_nobody_can_hear() -> None:
    thing = Thing()
    held = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    del thing
    assert held() is None


def test_one_that_python_drops_is_raised_by_the_next_progress(capfd):
    with deferred_sigint(), counting("") as progress:
        progress(1)
        press_while_nobody_can_hear()
        with pytest.raises(KeyboardInterrupt):
            progress(2)
    check_interrupt()  # outside nothing is deferred_sigint
    assert capfd.readouterr().err == ""


def test_one_that_is_heard_is_raised_at_once_and_the_old_handler_comes_back():
    with pytest.raises(KeyboardInterrupt), deferred_sigint():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    check_interrupt()


def test_where_it_is_ignored_it_stays_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with deferred_sigint():
        signal.raise_signal(signal.SIGINT)
        check_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
