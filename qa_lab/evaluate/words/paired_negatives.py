"""A labelled set made of paraphrases alone: each pair beside a mismatched one that looks as much alike.

The mismatched pair keeps the left phrase and takes, of all phrases of the set, another right one with as many tokens,
the same strict overlap with the left, and no line of the data that pairs the two; where none fits, the pair is left
out. So neither length nor overlap tells the two kinds apart. What a database misses stands among the mismatched ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from qa_lab.evaluate.words.string_similarity import overlap
from qa_lab.train.phrases.phrase_preparation import Phrased
from retrievers.training.phrases.trees import Tree

_TRIES = 50  # draws of a phrase without overlap, which nearly all are


def with_mismatched(
    pairs: Sequence[Phrased], *, seed: int, known: Collection[frozenset[tuple[str, ...]]] = ()
) -> list[Phrased]:
    """Pairs with gold 1, each followed by its mismatched one with gold 0.

    Args:
        known: the keys of further pairs that must not stand for mismatched ones.
    """
    rng = np.random.default_rng(seed)
    forbidden = {pair.key for pair in pairs} | set(known)
    pool = _Pool(tree for pair in pairs for tree in (pair.left, pair.right))
    made: list[Phrased] = []
    for pair in pairs:
        other = pool.like(pair, forbidden, rng)
        if other is not None:
            made += [replace(pair, gold=1.0), replace(pair, right=other, gold=0.0, features=())]
    return made


class _Pool:
    """Distinct phrases, found by length and, where they have to share words, by word."""

    def __init__(self, trees: Iterable[Tree]) -> None:
        self._of_length: dict[int, list[Tree]] = defaultdict(list)
        self._with_word: dict[tuple[int, str], list[Tree]] = defaultdict(list)
        for tree in {tree.tokens: tree for tree in trees}.values():
            self._of_length[len(tree.tokens)].append(tree)
            for word in dict.fromkeys(tree.tokens):
                self._with_word[len(tree.tokens), word].append(tree)

    def like(
        self, pair: Phrased, forbidden: Collection[frozenset[tuple[str, ...]]], rng: np.random.Generator
    ) -> Tree | None:
        """A phrase that could stand on the right by its looks, any of them as likely; None where there is none."""
        left, wanted = pair.left.tokens, overlap(pair.left.tokens, pair.right.tokens)

        def fits(tree: Tree) -> bool:
            key = frozenset((left, tree.tokens))
            return len(key) == 2 and key not in forbidden and overlap(left, tree.tokens) == wanted

        length = len(pair.right.tokens)
        if not wanted:
            same = self._of_length[length]
            drawn = (same[place] for place in rng.integers(len(same), size=_TRIES))
            return next(filter(fits, drawn), None)
        sharing = [tree for word in dict.fromkeys(left) for tree in self._with_word.get((length, word), ())]
        fitting = list({tree.tokens: tree for tree in sharing if fits(tree)}.values())
        return fitting[rng.integers(len(fitting))] if fitting else None
