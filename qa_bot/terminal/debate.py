"""Personas that answer in turn, each to what was said last (thesis, ch. 8.6 and its supplement)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

from qa_bot.answering.models.personas import PersonaError, PersonaStore
from qa_core.types import StyledLine

CHOICES = 10
"""Replies that are looked at for one that was not given before."""
HEARD = 2
"""Turns that a persona hears."""


def debaters(voices: PersonaStore, spec: str) -> tuple[str, ...]:
    """The names in "kennedy,nixon".

    Raises:
        PersonaError: fewer than two, one of them twice, or nobody's name.
    """
    names = tuple(part.name for part in voices.parts(spec))
    if len(names) < 2:
        raise PersonaError(f"Expected two personas or more to debate, as NAME,NAME, but got {spec!r}; add one.")
    return names


def debate(
    voices: PersonaStore,
    names: Sequence[str],
    said: Sequence[str],
    *,
    hint: str = "",
    check: Callable[[], None] = lambda: None,
) -> Iterator[StyledLine]:
    """What the personas say in turn, the first of them to the last of `said`, without end.

    Nobody repeats what was said before while there is anything else to say.

    Args:
        hint: what all of it should be about; by default what the debate began with.
    """
    turns = [text for text in said if text.strip()]
    hints = [hint or turns[0]] if turns else []
    for name in cycle(names):
        found = voices.say(name, turns[-HEARD:], CHOICES, hints=hints, check=check)
        if not found.lines:
            return
        before = {text.casefold() for text in turns}
        line = next((each for each in found.lines if each.text.casefold() not in before), found.lines[0])
        turns.append(line.text)
        yield line
