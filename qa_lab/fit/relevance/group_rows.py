"""Groups as rows of tokens, and batches of whole groups with little padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from qa_core.encoders.pair_tokens import PairRow, TextPair
from qa_core.training.pair_classifier import PairBatch
from qa_core.types import FloatArray, IntArray
from qa_lab.fit.relevance.groups import Group

POOL = 4000
"""Groups that are sorted by length together."""
_TOKENISED = 20_000  # pairs at once: the tokeniser's results are much larger than the rows


class GroupBatch(NamedTuple):
    """Pairs of some groups; tensors (B,)."""

    pairs: PairBatch
    labels: Tensor  # 1: right
    owners: Tensor  # the group of each pair, counted from 0 in the batch
    targets: Tensor | None  # the teacher's logits, NaN for pairs that it has not read


@dataclass(frozen=True, slots=True)
class GroupRows:
    """The pairs (N,) of all groups (G,) in order; those of group `i` begin at `bounds[i]`."""

    rows: Sequence[PairRow]
    labels: FloatArray  # (N,)
    bounds: IntArray  # (G + 1,)
    targets: FloatArray | None = None  # (N,)

    @classmethod
    def of(
        cls,
        groups: Sequence[Group],
        tokenise: Callable[[Sequence[TextPair]], list[PairRow]],
        targets: FloatArray | None = None,
    ) -> Self:
        pairs = [(group.question, passage) for group in groups for passage in group.passages]
        rows = [
            row for start in range(0, len(pairs), _TOKENISED) for row in tokenise(pairs[start : start + _TOKENISED])
        ]
        labels = np.array([is_right for group in groups for is_right in group.is_right], dtype=np.float32)
        return cls(rows, labels, np.cumsum([0, *(len(group.passages) for group in groups)]), targets)

    def places(self, group: int) -> IntArray:
        """The places of a group's pairs."""
        return np.arange(self.bounds[group], self.bounds[group + 1])

    def batch(self, groups: IntArray, device: torch.device) -> GroupBatch:
        places = np.concatenate([self.places(group) for group in groups])
        owners = np.repeat(np.arange(len(groups)), np.diff(self.bounds)[groups])
        targets = None if self.targets is None else torch.from_numpy(self.targets[places]).to(device)
        return GroupBatch(
            PairBatch.of([self.rows[place] for place in places], device),
            torch.from_numpy(self.labels[places]).to(device),
            torch.from_numpy(owners).to(device),
            targets,
        )

    def batches(self, groups: IntArray, rng: np.random.Generator, *, tokens: int) -> Iterator[IntArray]:
        """All groups in random batches of up to `tokens` tokens, padding included, or of one group.

        Groups of a batch are of similar length.
        """
        lengths = np.array([len(row.tokens) for row in self.rows])
        longest, sizes = np.maximum.reduceat(lengths, self.bounds[:-1]), np.diff(self.bounds)
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
