"""Words that may not be negatives of a word: its paraphrases and their lemmas (Wieting et al. 2015, §5.1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import torch
from torch import Tensor

Lemmas = Callable[[str], Collection[str]]

_VOWELS = frozenset("aeiou")
_ENDINGS = (  # WordNet's rules of detachment for nouns, verbs and adjectives, morphy(7WN)
    *(
        ("ches", "ch"),
        ("shes", "sh"),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ies", "y"),
        ("ves", "f"),
        ("men", "man"),
    ),
    *(("es", "e"), ("es", ""), ("s", ""), ("ied", "y"), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    *(("ier", "y"), ("iest", "y"), ("er", "e"), ("er", ""), ("est", "e"), ("est", "")),
)
_SHORTEST = 3  # letters of a lemma, so `red` is not a form of `r`


def lemmas_among(words: Collection[str]) -> Lemmas:
    """A function from a word to its dictionary forms among `words`, by WordNet's rules of detachment.

    Doubled consonants are undone; irregular forms are unknown. WordNet is not used, so models do not depend on it.
    """
    known = frozenset(words)

    def lemmas(word: str) -> list[str]:
        return [form for form in dict.fromkeys(_detached(word)) if form in known and form != word]

    return lemmas


def _detached(word: str) -> Iterable[str]:
    for old, new in _ENDINGS:
        stem = word.removesuffix(old)
        if stem == word or len(stem) + len(new) < _SHORTEST:
            continue
        yield stem + new
        if not new and len(stem) > _SHORTEST and stem[-1] == stem[-2] and stem[-1] not in _VOWELS:
            yield stem[:-1]


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """Numbers of the words that are never negatives of word `w`: `members[offsets[w] : offsets[w + 1]]`."""

    offsets: Tensor  # (V + 1,) int64
    members: Tensor  # int64

    @classmethod
    def of(cls, words: Sequence[str], pairs: Iterable[tuple[int, int]], lemmas: Lemmas) -> Self:
        """Each word of a pair is forbidden for the other, and so are its lemmas."""
        number = {word: row for row, word in enumerate(words)}
        lemma_numbers = [[number[lemma] for lemma in lemmas(word) if lemma in number] for word in words]
        paired: list[set[int]] = [set() for _ in words]
        for left, right in pairs:
            paired[left].update((right, *lemma_numbers[right]))
            paired[right].update((left, *lemma_numbers[left]))
        return cls._packed(paired)

    @classmethod
    def _packed(cls, paired: Sequence[Collection[int]]) -> Self:
        lengths = torch.tensor([0, *map(len, paired)])
        members = torch.tensor([other for others in paired for other in sorted(others)], dtype=torch.int64)
        return cls(lengths.cumsum(0), members)

    def to(self, device: torch.device) -> Constraints:
        return Constraints(self.offsets.to(device), self.members.to(device))

    def together_with(self, further: Mapping[int, Collection[int]]) -> Constraints:
        """The union with further constraints."""
        bounds = self.offsets.tolist()
        members = self.members.tolist()
        forbidden = [members[start:end] for start, end in pairwise(bounds)]
        return self._packed([{*others, *further.get(word, ())} for word, others in enumerate(forbidden)])

    def forbidden(self, words: Tensor, candidates: Tensor) -> Tensor:
        """(N, U), true if candidate `u` may not be a negative of word `n`.

        Args:
            words: numbers, (N,).
            candidates: distinct numbers in ascending order, (U,).
        """
        counts = self.offsets[words + 1] - self.offsets[words]  # (N,)
        row = torch.repeat_interleave(counts)  # (M,), M members of all words together
        within = torch.arange(len(row), device=words.device) - (counts.cumsum(0) - counts)[row]
        member = self.members[self.offsets[words][row] + within]  # (M,)
        column = torch.searchsorted(candidates, member).clamp(max=len(candidates) - 1)
        present = candidates[column] == member
        mask = torch.zeros(len(words), len(candidates), dtype=torch.bool, device=words.device)
        mask[row[present], column[present]] = True
        return mask
