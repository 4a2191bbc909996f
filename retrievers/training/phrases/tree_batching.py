"""Batches of trees: their nodes in order of height, so that one product composes all nodes of a height."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Self

import torch
from torch import Tensor

from retrievers.training.phrases.trees import Tree


@dataclass(frozen=True, slots=True)
class Numbered:
    """A phrase as input of a network: numbers of its words, and the merges of its tree, lower ones first."""

    words: tuple[int, ...]
    merges: tuple[tuple[int, int], ...]
    heights: tuple[int, ...]  # of the merges

    @classmethod
    def of(cls, tree: Tree, numbers: Sequence[int]) -> Self:
        """The tree with numbers in place of its tokens."""
        heights = tree.levels()
        order = sorted(range(len(heights)), key=heights.__getitem__)
        leaves = len(tree.tokens)
        renamed = {leaves + old: leaves + new for new, old in enumerate(order)}
        merges = [(renamed.get(left, left), renamed.get(right, right)) for left, right in tree.merges]
        return cls(tuple(numbers), tuple(merges[k] for k in order), tuple(heights[k] for k in order))


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Trees to compose together; nodes are in order of height: all leaves, all nodes of height 1, …"""

    words: Tensor  # (L,) int64, at the leaves
    owners: Tensor  # (L,) int64, the tree of each leaf
    levels: tuple[Tensor, ...]  # per height (n, 2) int64, nodes of the children
    roots: Tensor  # (N,) int64, nodes

    @classmethod
    def of(cls, phrases: Sequence[Numbered]) -> Self:
        """Raises ValueError without phrases."""
        if not phrases:
            raise ValueError("Expected phrases to compose, but got none.")
        lengths = [len(phrase.words) for phrase in phrases]
        starts = [0, *accumulate(lengths)]
        nodes = [list(range(start, end)) for start, end in pairwise(starts)]  # of each tree
        levels: list[Tensor] = []
        total = starts[-1]
        for merges in _by_height(phrases):
            children = [[nodes[tree][left], nodes[tree][right]] for tree, (left, right) in merges]
            levels.append(torch.tensor(children))
            for tree, _ in merges:
                nodes[tree].append(total)
                total += 1
        words = torch.tensor([word for phrase in phrases for word in phrase.words])
        owners = torch.repeat_interleave(torch.tensor(lengths))
        return cls(words, owners, tuple(levels), torch.tensor([tree_nodes[-1] for tree_nodes in nodes]))


def _by_height(phrases: Sequence[Numbered]) -> list[list[tuple[int, tuple[int, int]]]]:
    """The merges of each height, from 1, with their trees."""
    levels: list[list[tuple[int, tuple[int, int]]]] = [
        [] for _ in range(max(max(p.heights, default=0) for p in phrases))
    ]
    for tree, phrase in enumerate(phrases):
        for merge, height in zip(phrase.merges, phrase.heights, strict=True):
            levels[height - 1].append((tree, merge))
    return levels
