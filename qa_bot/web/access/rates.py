"""Rates of requests: a token bucket for each client."""

from __future__ import annotations

from collections import OrderedDict

REMEMBERED = 10_000
"""Clients whose rate is tracked; the least recent is dropped first."""


class TokenBuckets:
    """A token bucket for each client: `burst` requests at once, then `rate` a minute."""

    def __init__(self, rate: float, *, burst: float, remembered: int = REMEMBERED) -> None:
        self._refill, self._burst, self._remembered = rate / 60, burst, remembered
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client → tokens left, time

    def wait(self, client: str, now: float) -> float:
        """Seconds until the client's next request is allowed."""
        return max(0.0, (1 - self._level(client, now)) / self._refill)

    def take(self, client: str, now: float) -> None:
        """Count a request; one that must wait takes no token."""
        level = self._level(client, now)
        self._levels[client] = (level - 1 if level >= 1 else level, now)
        self._levels.move_to_end(client)
        if len(self._levels) > self._remembered:
            self._levels.popitem(last=False)

    def __len__(self) -> int:
        return len(self._levels)

    def _level(self, client: str, now: float) -> float:
        left, since = self._levels.get(client, (self._burst, now))
        return min(self._burst, left + (now - since) * self._refill)
