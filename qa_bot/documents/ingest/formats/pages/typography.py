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
FEW_CHARACTERS = 100  # of text outside of tables, such as a title alone
HYPHENS = ("-", "\u2010", *BREAK_HYPHENS)
CONJUNCTION = re.compile(r"(?:und|oder|bzw|sowie|bis|and)\b|(?:or|to)(?=\s+\w+-)")
"""Follows a hyphen in place of the end of the next word: "pre- and post-war", "Vor- und Nachteile"."""
PUNCTUATION = ".,;:!?…()[]\"'“”„»«"


class Typography:
    """Collects the lines of all pages, then answers about each one."""

    def __init__(self, outline: Iterable[tuple[int, str]] = (), *, larger: float = LARGER) -> None:
        self._sizes: Counter[tuple[float, bool]] = Counter()
        self._cell_sizes: Counter[float] = Counter()
        self._large: defaultdict[float, int] = defaultdict(int)
        self._words: set[str] = set()
        self._compounds: set[str] = set()
        self._left_halves: list[str] = []  # of words with a hyphen at the end of a line
        self._breaks_words = False
        self._outline = {_folded(title): level for level, title in outline}
        self._larger = larger
        self._levels: dict[float, int] = {}
        self.body = 0.0
        self._body_is_bold = False

    def count(self, lines: Iterable[Line]) -> None:
        """Take the lines of a page into account."""
        is_half = False
        for line in lines:
            self._sizes[line.size, line.is_bold] += len(line.text)
            words = [word.strip(PUNCTUATION) for word in line.text.split()]
            if is_half and CONJUNCTION.match(line.text):
                self._left_halves.pop()
            self._compounds.update(word.casefold() for word in words if "-" in word)
            self._words.update(words[is_half:-1])  # the first and the last one may be halves of words
            if is_half := line.text.endswith(HYPHENS):
                self._left_halves.append(words[-1][:-1])

    def count_cells(self, size: float, characters: int) -> None:
        """Take a table into account: what is hardly more than its title has its size as that of the body."""
        self._cell_sizes[size] += characters

    def settle(self) -> None:
        """All pages were counted."""
        if self._sizes:
            (self.body, self._body_is_bold), count = self._sizes.most_common(1)[0]
            cell_size, cells = next(iter(self._cell_sizes.most_common(1)), (0.0, 0))
            if count < FEW_CHARACTERS < cells and cell_size < self.body:
                self.body, self._body_is_bold = cell_size, False
        for size, _ in self._sizes:
            if size >= self._larger * self.body:
                self._large[_rounded(size)] += 1
        broken = sum(half not in self._words for half in self._left_halves)
        self._breaks_words = 2 * broken >= len(self._left_halves)
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
        """Two lines of a paragraph as one, with the hyphen of a broken word undone.

        That of a compound stays: the document has it elsewhere, or both of its halves, and does not break most words.
        """
        if not first.endswith(HYPHENS) or not second[:1].isalpha():
            return f"{first} {second}"
        stem = first[:-1]
        if self._is_suspended(stem, second):
            return f"{first} {second}"
        left, right = (part.strip(PUNCTUATION) for part in (stem.rpartition(" ")[2], second.partition(" ")[0]))
        are_words = not self._breaks_words and left in self._words and right in self._words
        is_compound = f"{left}-{right}".casefold() in self._compounds or are_words
        is_compound = is_compound or not second[0].islower() or not left[-1:].isalpha()
        if is_compound and left + right not in self._words:
            return f"{stem}-{second}"
        return stem + second

    def _is_suspended(self, stem: str, second: str) -> bool:
        """Whether a hyphen before a conjunction is in place of the end of a word, and breaks none ("Kür-bis")."""
        conjunction = CONJUNCTION.match(second)
        return (
            conjunction is not None and stem.rpartition(" ")[2].strip(PUNCTUATION) + conjunction[0] not in self._words
        )


def _rounded(size: float) -> float:
    return round(size)


def _folded(text: str) -> str:
    return re.sub(r"^[\d.]+\s+|\W+", "", text.casefold())
