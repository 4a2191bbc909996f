"""Surface similarity of two phrases: edit distance, token overlap and lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Same = Callable[[str, str], bool]


def edit_distance(left: str, right: str) -> int:
    """Levenshtein: the fewest insertions, deletions and replacements of a character."""
    row = list(range(len(right) + 1))
    for done, a in enumerate(left, 1):
        diagonal, row[0] = row[0], done
        for j, b in enumerate(right, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def overlap(left: Sequence[str], right: Sequence[str], same: Same = str.__eq__) -> float:
    """The share of the shorter phrase's tokens that the longer one has; of equal lengths, the left is the shorter."""
    shorter, longer = (left, right) if len(left) <= len(right) else (right, left)
    if not shorter:
        return 0.0
    return sum(any(same(token, other) for other in longer) for token in shorter) / len(shorter)


def nearly(a: str, b: str) -> bool:
    """Whether two tokens have an edit distance of at most 1."""
    return a == b or (abs(len(a) - len(b)) <= 1 and edit_distance(a, b) <= 1)


def length_ratio(left: Sequence[str], right: Sequence[str]) -> float:
    """Length of the shorter phrase divided by that of the longer, in tokens, in (0, 1]."""
    return min(len(left), len(right)) / max(len(left), len(right), 1)


def effective_size(left: Sequence[str], right: Sequence[str]) -> int:
    """The larger number of tokens with more than one character (Wieting et al. 2015, §3.1)."""
    return max(sum(len(token) > 1 for token in side) for side in (left, right))
