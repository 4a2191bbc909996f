"""Builds a labelled set from paraphrases: each pair is followed by a mismatched pair that looks similar.

The mismatched pair has the same left phrase and another right phrase of the set with as many tokens and the same strict
overlap with the left, which the data does not pair with it; without such a phrase, the pair is left out. So neither
length nor overlap distinguishes the two kinds. Paraphrases that the database lacks may be among the mismatched pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from qa_lab.data.phrases.phrase_preparation import Phrased
from qa_lab.data.phrases.string_similarity import overlap
from retrievers.training.phrases.trees import Tree

_TRIES = 50  # draws of a phrase without overlap; nearly all have none

SEED = 20150601
"""For the mismatched pairs of development and test sets, which are the same in every run."""


def with_mismatched(
    pairs: Sequence[Phrased], *, seed: int, known: Collection[frozenset[tuple[str, ...]]] = ()
) -> list[Phrased]:
    """Pairs with gold 1, each followed by its mismatched one with gold 0.

    Args:
        known: keys of further pairs that must not become mismatched ones.
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
    """Distinct phrases by length, and by length and word."""

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
        """A random phrase that fits as the right side; None if there is none."""
        left, target = pair.left.tokens, overlap(pair.left.tokens, pair.right.tokens)

        def fits(tree: Tree) -> bool:
            key = frozenset((left, tree.tokens))
            return len(key) == 2 and key not in forbidden and overlap(left, tree.tokens) == target

        length = len(pair.right.tokens)
        if not target:
            same = self._of_length[length]
            drawn = (same[i] for i in rng.integers(len(same), size=_TRIES))
            return next(filter(fits, drawn), None)
        sharing = [tree for word in dict.fromkeys(left) for tree in self._with_word.get((length, word), ())]
        fitting = list({tree.tokens: tree for tree in sharing if fits(tree)}.values())
        return fitting[rng.integers(len(fitting))] if fitting else None
