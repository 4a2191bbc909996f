"""What the sizes and weights of a document's lines mean: its body text, and the levels of its headings."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from qa_bot.documents.ingest.formats.pages.lines import BREAK_HYPHENS, Line

LARGER = 1.12  # times the body's size
LONGEST_HEADING = 200  # characters
LONGEST_BOLD_HEADING = 120
LEVELS = 5


class Typography:
    """Collects the lines of all pages, then answers about each one."""

    def __init__(self, outline: Iterable[tuple[int, str]] = (), *, larger: float = LARGER) -> None:
        self._sizes: Counter[tuple[float, bool]] = Counter()
        self._large: defaultdict[float, int] = defaultdict(int)
        self._words: set[str] = set()
        self._outline = {_folded(title): level for level, title in outline}
        self._larger = larger
        self._levels: dict[float, int] = {}
        self.body = 0.0
        self._body_is_bold = False

    def count(self, lines: Iterable[Line]) -> None:
        """Take the lines of a page into account."""
        for line in lines:
            self._sizes[line.size, line.is_bold] += len(line.text)
            self._words.update(line.text.split()[:-1])  # the last one may be the half of a word

    def settle(self) -> None:
        """All pages were counted."""
        if self._sizes:
            (self.body, self._body_is_bold), _ = self._sizes.most_common(1)[0]
        for size, _ in self._sizes:
            if size >= self._larger * self.body:
                self._large[_rounded(size)] += 1
        self._levels = {size: min(LEVELS, level) for level, size in enumerate(sorted(self._large, reverse=True), 1)}

    def level(self, line: Line) -> int | None:
        """The level of a heading, or None for other lines."""
        text = line.text
        if not any(character.isalpha() for character in text) or len(text) > LONGEST_HEADING:
            return None
        if line.size >= self._larger * self.body:
            return self._levels.get(_rounded(line.size), LEVELS)
        lowest = min(LEVELS, len(self._levels) + 1)
        outlined = self._outline.get(_folded(text))
        if outlined is not None and len(text) > 3:
            return max(lowest, min(LEVELS, outlined + 1)) if self._levels else min(LEVELS, outlined + 1)
        is_set_off = line.is_bold and not self._body_is_bold and line.size >= 0.9 * self.body
        is_heading = is_set_off and len(text) <= LONGEST_BOLD_HEADING and text[-1] not in ".,;"
        return lowest if is_heading else None

    def together(self, first: str, second: str) -> str:
        """Two lines of a paragraph as one, with the hyphen of a broken word undone."""
        if not first.endswith(("-", *BREAK_HYPHENS)) or not second[:1].isalpha():
            return f"{first} {second}"
        stem = first[:-1]
        left, right = stem.rpartition(" ")[2], second.partition(" ")[0]
        is_compound = f"{left}-{right}" in self._words or not second[0].islower() or not left[-1:].isalpha()
        if is_compound and left + right not in self._words:
            return f"{stem}-{second}"
        return stem + second


def _rounded(size: float) -> float:
    return round(size)


def _folded(text: str) -> str:
    return re.sub(r"^[\d.]+\s+|\W+", "", text.casefold())
