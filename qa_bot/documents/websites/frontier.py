"""The pages of a site that are still to be visited: in order of their depth, each one once, without traps."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable
from pathlib import PurePosixPath

from qa_bot.documents.websites.urls import URL, Scope

QUERIES = 50
"""Most addresses that differ in their query only: calendars have no end."""
WAITING = 50_000
"""Most pages that wait."""
_ASSETS = re.compile(
    r"\.(7z|avi|avif|bin|bmp|bz2|css|deb|dmg|eot|exe|gif|gz|ico|iso|jar|jpe?g|m?js|m4a|mov|mp[34]|mpeg|og[gv]|otf|png|rar|"
    r"rpm|svg|tar|tgz|tiff?|ttf|wasm|wav|web[mp]|woff2?|xz|zip)"
)


class Frontier:
    """Gives pages of the scope, nearest to the start first."""

    def __init__(self, scope: Scope, depth: int) -> None:
        self.scope = scope
        self._depth = depth
        self._seen: set[URL] = set()
        self._waiting: deque[tuple[URL, int]] = deque()
        self._queries: Counter[str] = Counter()
        self.trapped = 0
        """Addresses that were left out because too many differ in their query only."""
        self.crowded = 0
        """Addresses that were left out because too many waited."""
        self._deep: set[URL] = set()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def deep(self) -> int:
        """Pages that were left out because only too many links lead to them; no more than `WAITING` are counted."""
        return len(self._deep - self._seen)

    def visit(self, url: URL) -> bool:
        """Mark a page as visited; False if it was before."""
        url = self.scope.normalised(url)
        if url in self._seen:
            return False
        self._seen.add(url)
        return True

    def pages_among(self, urls: Iterable[URL]) -> list[URL]:
        """The pages of the site among these, without pictures, programs and the like."""
        normalised = (self.scope.normalised(url) for url in urls if self.scope.holds(url))
        return [url for url in normalised if not _ASSETS.fullmatch(PurePosixPath(url.path).suffix.lower())]

    def add(self, urls: Iterable[URL], depth: int, *, first: bool = False) -> None:
        """Queue those pages of the site that are new, at the end or in front."""
        for url in self.pages_among(urls):
            if url in self._seen:
                continue
            if depth > self._depth:
                if len(self._deep) < WAITING:
                    self._deep.add(url)
            elif len(self._waiting) >= WAITING:
                self.crowded += 1
            elif not self._is_trap(url):
                self._seen.add(url)
                (self._waiting.appendleft if first else self._waiting.append)((url, depth))

    def next(self) -> tuple[URL, int]:
        """The next page and its depth; raises IndexError if there is none."""
        return self._waiting.popleft()

    def _is_trap(self, url: URL) -> bool:
        if not url.raw_query_string:
            return False
        self._queries[url.raw_path] += 1
        is_trap = self._queries[url.raw_path] > QUERIES
        self.trapped += is_trap
        return is_trap
