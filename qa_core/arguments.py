"""Checks of arguments that other programs pass; each error says what was expected and what came."""

from __future__ import annotations

import math
from collections.abc import Sequence


class ArgumentError(ValueError):
    """An argument that cannot be used; the message says what was expected."""


def expect_text(name: str, value: object) -> None:
    """Raises ArgumentError unless `value` is a `str`."""
    if not isinstance(value, str):
        raise ArgumentError(f"Expected a text (str) as `{name}`, but got {value!r}.")


def expect_type(name: str, value: object, kind: type) -> None:
    """Raises ArgumentError unless `value` is a `kind`."""
    if not isinstance(value, kind):
        raise ArgumentError(f"Expected a {kind.__name__} as `{name}`, but got {value!r}.")


def expect_one_of(name: str, value: object, choices: Sequence[str]) -> None:
    """Raises ArgumentError unless `value` is one of `choices`."""
    if value not in choices:
        raise ArgumentError(f"Expected one of {', '.join(choices)} as `{name}`, but got {value!r}.")


def expect_count(name: str, value: object, *, least: int = 1) -> None:
    """Raises ArgumentError unless `value` is a whole number of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ArgumentError(f"Expected a whole number of at least {least} as `{name}`, but got {value!r}.")


def expect_number(name: str, value: object, *, most: float = math.inf) -> None:
    """Raises ArgumentError unless `value` is a number from 0 to `most`."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= most:
        expected = "a number of at least 0" if most == math.inf else f"a number from 0 to {most:g}"
        raise ArgumentError(f"Expected {expected} as `{name}`, but got {value!r}.")
