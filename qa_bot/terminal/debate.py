"""A debate of personas, who reply in turn to the last sentence (Wang 2018, ch. 8.6 and its supplement)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

from qa_bot.answering.models.personas import PersonaError, PersonaStore
from qa_core.types import StyledLine

CHOICES = 10
"""Candidates for a reply, of which the first new one is used."""
HEARD = 2
"""Turns that a persona replies to."""


def debaters(voices: PersonaStore, spec: str) -> tuple[str, ...]:
    """The names in "kennedy,nixon".

    Raises:
        PersonaError: fewer than two, a repeated or an unknown name.
    """
    names = tuple(part.name for part in voices.parts(spec))
    if len(names) < 2:
        raise PersonaError(f"Expected two personas or more to debate, as NAME,NAME, but got {spec!r}; add one.")
    return names


def debate(
    voices: PersonaStore,
    names: Sequence[str],
    history: Sequence[str],
    *,
    hint: str = "",
    check: Callable[[], None] = lambda: None,
) -> Iterator[StyledLine]:
    """Endless replies of the personas in turn, the first one to the last turn of `history`.

    A sentence is repeated only if a persona has no other reply.

    Args:
        hint: topic of all replies; by default the first turn.
    """
    turns = [text for text in history if text.strip()]
    hints = [hint or turns[0]] if turns else []
    for name in cycle(names):
        lines = voices.say(name, turns[-HEARD:], CHOICES, hints=hints, check=check).lines
        if not lines:
            return
        earlier = {text.casefold() for text in turns}
        line = next((line for line in lines if line.text.casefold() not in earlier), lines[0])
        turns.append(line.text)
        yield line
