"""Some random inputs for every parser; `make fuzz` runs as many as there is time for."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_bot.answering.scope import Scope, ScopeError
from tests.fuzzing.mutations import LONGEST, mutated
from tests.fuzzing.targets import targets

HEAVY = {"conversation", "export archive", "format docx", "format pptx", "format restructured", "markdown shown"}
"""Targets that need a home, or a tenth of a second for an input."""
TARGETS = targets(with_home=False)


def test_a_number_names_the_same_input_for_ever() -> None:
    seeds = [b"one", b"two"]
    assert [mutated(seeds, number) for number in range(50)] == [mutated(seeds, number) for number in range(50)]
    assert len({mutated(seeds, number) for number in range(50)}) > 25
    assert all(len(mutated(seeds, number)) <= LONGEST for number in range(500))


@pytest.mark.parametrize("name", sorted(TARGETS.keys() - HEAVY))
@settings(max_examples=8)
@given(number=st.integers(0, 2**40))
def test_no_input_ends_in_an_error_of_ours(name: str, number: int) -> None:
    target = TARGETS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries about odd files
        target.run(mutated(target.seeds, number))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TARGETS.keys() & HEAVY))
@settings(max_examples=8)
@given(number=st.integers(0, 2**40))
def test_no_input_of_a_slow_target_ends_in_an_error_of_ours(name: str, number: int) -> None:
    target = TARGETS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target.run(mutated(target.seeds, number))


BLANKS = b" " * 50_000
LONG_LINES = {
    "format markdown": [
        b"!!! a" + BLANKS + b"\x01\n", b"{% a " + b"1-" * 50_000 + b" %}",
        b"---\na: [\nb: c" + BLANKS + b"x\n---\nTea",
    ],
    "format mbox": [
        b"From a 10:10 2024\n\nFrom b " + b"11:11 " * 50_000 + b"\n",
        *(
            b"From a 10:10 2024\n\nTea\n" + line + BLANKS + b"\n"
            for line in (b"To:", b"From:", b"le 12 mai, Anna a \xc3\xa9crit")
        ),
    ],
    "format transcript": [b"00:01.000 --> 00:02.000\n<v" + BLANKS + b"x\n"],
    "format latex": [b"\\let\\a" + BLANKS + b"x", b"\\NewDocumentCommand\\a{" + BLANKS + b"x"],
    "format html": [b"<a" * 50_000, b"<p title='" + b"`" * 50_000],
    "format text": [b"a " + b"`" * 50_000],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data"), [(name, data) for name, lines in LONG_LINES.items() for data in lines], ids=lambda value: ""
)
def test_a_long_line_is_read_in_linear_time(name: str, data: bytes) -> None:
    """They took from 10 s to hours. Quadratic code would run into the suite's timeout."""
    TARGETS[name].run(data)


@pytest.mark.parametrize("text", ["9" * 20, "2024-" + "9" * 20, "2024-05-" + "9" * 20])
def test_dates_beyond_every_calendar_are_told(text: str) -> None:
    """Found by the campaign: a traceback of OverflowError."""
    with pytest.raises(ScopeError, match="Expected a date"):
        Scope.of({"since": text}).filter()
