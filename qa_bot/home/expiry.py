"""Deletes conversations older than `[conversations] keep`, if the computer's clock can be believed.

A clock that jumps years ahead, after a flat battery or by a mistake, would make every conversation old. So the home
remembers the last time at which expired conversations were looked for. A time more than `LEAP` days later is doubted:
nothing is deleted until the clock has gone on from there for `TRIAL` days, or is set right. What was used at the wrong
time counts as used when the clock was set right; otherwise it would be kept for years.

    HOME/clock.json     {"seen": SECONDS, "doubted": SECONDS or null}
"""

from __future__ import annotations

import json
import logging
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING

from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_core.atomic import atomic_file, remove_partial

if TYPE_CHECKING:
    from qa_bot.home.store import Store

log = logging.getLogger(__name__)

CLOCK = "clock.json"
DAY = 86_400.0
"""Seconds."""
LEAP = 90.0
"""Days; a home may well be unused for so long."""
TRIAL = 7.0
"""Days."""
WRITE_EVERY = 3600.0
"""Seconds."""


@dataclass(frozen=True, slots=True)
class ClockState:
    """The last believed time, and the first one that is doubted; seconds since 1970."""

    seen: float
    doubted: float | None = None

    def at(self, now: float) -> ClockState:
        """The state after a look at the clock."""
        if now - self.seen <= LEAP * DAY:
            return ClockState(now)
        if self.doubted is None or not 0 <= now - self.doubted <= LEAP * DAY:
            return ClockState(self.seen, now)
        return self if now - self.doubted < TRIAL * DAY else ClockState(now)

    def wrong_since(self, now: float) -> float | None:
        """If a doubted clock has been set right: a day before its wrong time was noticed."""
        if self.doubted is None or now > self.doubted - DAY or now - self.seen > LEAP * DAY:
            return None
        return self.doubted - DAY


def expire(home: Home, config: Config, store: Store) -> list[str]:
    """Delete conversations older than `[conversations] keep`, and return their ids; none while the clock is doubted."""
    days, now = config.conversations.keep, time.time()
    if not days:
        return []
    last = _read(home)
    state = (last or _first_state(store, now)).at(now)
    if last is not None and (since := last.wrong_since(now)) is not None:
        store.used_until_now(since, now)
    if last is None or state.doubted != last.doubted or abs(state.seen - last.seen) > WRITE_EVERY:
        _write(home, state)
    before = now - days * DAY
    if state.doubted is None:
        return store.expire(before)[0]
    if store.asked_around(before)[0] is not None:
        log.warning(
            "The clock says %s, %s days after this home was last used. If that is wrong, set the clock. If it is "
            "right, conversations older than %g days are deleted after %s.",
            date.fromtimestamp(now),
            f"{(now - state.seen) / DAY:,.0f}",
            days,
            date.fromtimestamp(state.doubted + TRIAL * DAY),
        )
    return []


def _first_state(store: Store, now: float) -> ClockState:
    """The state by the times of turns, for a home without a file; those of the last days may be of a wrong clock."""
    earlier, first = store.asked_around(now - LEAP * DAY)
    began = now if first is None else min(first, now)
    if earlier is None or now - began >= TRIAL * DAY:
        return ClockState(now)
    return ClockState(earlier, began)


def _read(home: Home) -> ClockState | None:
    """None if the file is missing or damaged."""
    try:
        fields = json.loads((home.path / CLOCK).read_text("utf-8"))
        doubted = fields["doubted"]
        return ClockState(float(fields["seen"]), None if doubted is None else float(doubted))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(home: Home, state: ClockState) -> None:
    """A full or read-only disk keeps the former state, and the next look writes it."""
    path = home.path / CLOCK
    with suppress(OSError):
        remove_partial(path)
        with atomic_file(path, private=True) as file:
            file.write(json.dumps(asdict(state)).encode())
