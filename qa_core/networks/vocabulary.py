"""The vocabulary of a model: maps words to ids and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PAD, UNKNOWN, START, END = "<pad>", "<unk>", "<s>", "</s>"


@dataclass(frozen=True)
class Vocabulary:
    """Distinct words; the id of a word is its index. Special tokens are ordinary words, by convention the first.

    Raises ValueError for an empty word, a word with a line break, and a repeated word.
    """

    tokens: tuple[str, ...]

    def __post_init__(self) -> None:
        for number, word in enumerate(self.tokens, 1):
            if not word or "\n" in word:
                raise ValueError(f"Expected words of one line, but got {word!r} as word {number}; leave it out.")
        if len(self._numbers) < len(self.tokens):
            number, word = next((n, w) for n, w in enumerate(self.tokens, 1) if self._numbers[w] != n - 1)
            first = self._numbers[word] + 1
            raise ValueError(f"Expected distinct words, but got {word!r} as word {first} and word {number}; drop one.")

    @classmethod
    def from_counts(
        cls, counts: Mapping[str, int], *, size: int, minimum: int = 1, specials: Iterable[str] = (PAD, UNKNOWN)
    ) -> Vocabulary:
        """The special tokens, then the most frequent words with at least `minimum` occurrences, `size` tokens in all.

        Words of equal count are in alphabetical order.
        """
        first = tuple(specials)
        if size < len(first):
            raise ValueError(f"Expected a size of at least {len(first)} (the special tokens), but got {size}.")
        frequent = (word for word, count in counts.items() if count >= minimum and word not in first)
        ranked = sorted(frequent, key=lambda word: (-counts[word], word))
        return cls(first + tuple(ranked[: size - len(first)]))

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Read one word per line, UTF-8. Raises ValueError that names the bad line."""
        data = path.read_bytes()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise ValueError(f"Expected UTF-8 in {path}, but got {data[error.start]:#04x} in line {line}.") from error
        if text and not text.endswith("\n"):
            raise ValueError(f"Expected a line break at the end of {path}, but got none: the file is truncated.")
        try:
            return cls(tuple(text.split("\n")[:-1]))
        except ValueError as error:
            raise ValueError(f"{path} (one word per line): {error}") from None

    def save(self, path: Path) -> None:
        """Write one word per line, UTF-8."""
        path.write_bytes("".join(f"{word}\n" for word in self.tokens).encode("utf-8"))

    def ids(self, words: Iterable[str]) -> list[int]:
        """Ids of words; unknown words get the id of `<unk>`, or are left out if the vocabulary lacks it."""
        unknown = self._numbers.get(UNKNOWN)
        numbers = (self._numbers.get(word, unknown) for word in words)
        return [number for number in numbers if number is not None]

    def words(self, ids: Iterable[int]) -> list[str]:
        """Words of ids. Raises IndexError for an id outside the vocabulary."""
        return [self._word(number) for number in ids]

    def __contains__(self, word: object) -> bool:
        return word in self._numbers

    def __len__(self) -> int:
        return len(self.tokens)

    def _word(self, number: int) -> str:
        if not 0 <= number < len(self.tokens):
            raise IndexError(f"Expected a word number from 0 to {len(self.tokens) - 1}, but got {number}.")
        return self.tokens[number]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in reversed(list(enumerate(self.tokens)))}
