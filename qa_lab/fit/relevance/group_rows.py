"""Groups as rows of states, and batches of whole groups with little padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from qa_core.types import FloatArray, IntArray
from qa_lab.fit.relevance.groups import Group
from qa_lab.fit.relevance.token_states import TokenStates

POOL = 4000
"""Groups that are sorted by length together."""
QUESTION = 3
"""What a token of a question costs, in tokens of passages: the layers read questions."""


class GroupBatch(NamedTuple):
    """Pairs of some groups: the inputs of the network; tensors (B,)."""

    pairs: tuple[Tensor, ...]
    labels: Tensor  # 1: right
    owners: Tensor  # the group of each pair, counted from 0 in the batch


@dataclass(frozen=True, slots=True)
class GroupRows:
    """The pairs (N,) of all groups (G,) in order; those of group `i` begin at `bounds[i]`."""

    states: TokenStates
    questions: IntArray  # (N,) places of the texts
    passages: IntArray  # (N,)
    labels: FloatArray  # (N,)
    bounds: IntArray  # (G + 1,)

    @classmethod
    def of(cls, groups: Sequence[Group], states: TokenStates) -> Self:
        places = states.places
        questions = np.array([places[group.question] for group in groups for _ in group.passages], np.int64)
        passages = np.array([places[passage] for group in groups for passage in group.passages], np.int64)
        labels = np.array([is_right for group in groups for is_right in group.is_right], dtype=np.float32)
        return cls(states, questions, passages, labels, np.cumsum([0, *(len(group.passages) for group in groups)]))

    def places(self, group: int) -> IntArray:
        """The places of a group's pairs."""
        return np.arange(self.bounds[group], self.bounds[group + 1])

    def batch(self, groups: IntArray) -> GroupBatch:
        places = np.concatenate([self.places(group) for group in groups])
        owners = np.repeat(np.arange(len(groups)), np.diff(self.bounds)[groups])
        return GroupBatch(self.pairs(places), torch.from_numpy(self.labels[places]), torch.from_numpy(owners))

    def pairs(self, places: IntArray) -> tuple[Tensor, ...]:
        """What the network reads of some pairs."""
        texts = self.questions[places].tolist(), self.passages[places].tolist()
        return tuple(torch.from_numpy(part) for rows in texts for part in self.states.padded(rows))

    def costs(self) -> IntArray:
        """Of each pair (N,): the tokens of its passage, and some for those of its question."""
        return self.states.lengths(self.passages) + QUESTION * self.states.lengths(self.questions)

    def batches(self, groups: IntArray, rng: np.random.Generator, *, tokens: int) -> Iterator[IntArray]:
        """All groups in random batches that cost up to `tokens`, padding included, or of one group.

        Groups of a batch are of similar length.
        """
        longest, sizes = np.maximum.reduceat(self.costs(), self.bounds[:-1]), np.diff(self.bounds)
        order = rng.permutation(groups)
        parts: list[IntArray] = []
        for first in range(0, len(order), POOL):
            pool = order[first : first + POOL]
            pool = pool[np.argsort(longest[pool], kind="stable")]
            start = pairs = 0
            for end, group in enumerate(pool):
                if end > start and longest[group] * (pairs + sizes[group]) > tokens:
                    parts.append(pool[start:end])
                    start, pairs = end, 0
                pairs += sizes[group]
            parts.append(pool[start:])
        for number in rng.permutation(len(parts)):
            yield parts[number]


def figures(rows: GroupRows, logits: FloatArray) -> dict[str, float]:
    """Of groups with right and wrong passages: how often a right one is first, and the area under the curve of pairs.

    Args:
        logits: of all pairs (N,).
    """
    from sklearn.metrics import roc_auc_score

    parts = np.split(np.arange(len(logits)), rows.bounds[1:-1])
    is_right = rows.labels > 0
    first = [logits[part][is_right[part]].max() > logits[part][~is_right[part]].max() for part in parts]
    area = roc_auc_score(is_right, logits)
    return {"groups": len(parts), "first": float(np.mean(first)), "AUC": float(area)}
