"""Topics of training batches: a reply's own words are its hint.

By default half of the replies get none, since few users give a hint; in Wang (2018), ch. 8.5.1, all get theirs.

Letters: B texts, Q words, E cells.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from generators.topics.steering import Steering
from qa_core.networks.translator import Columns

SHARE = 0.5
"""Of the replies in training that come with their topics."""


def posteriors(steering: Steering, target: Tensor, mask: Tensor) -> Tensor:
    """`p(k | words)` (B, E) of word numbers (B, Q); uniform if the grid knows none of them."""
    logs = torch.from_numpy(steering.logs).to(target.device)[target] * mask.unsqueeze(-1)  # (B, Q, E)
    return logs.sum(1).softmax(1)


def with_topics(
    steering: Steering | None, batch: Columns, rng: np.random.Generator | None = None, *, share: float = SHARE
) -> Columns:
    """The batch with the topics of its targets; with a generator only a share of them, the others uniform."""
    if steering is None:
        return batch
    topic = posteriors(steering, batch.target, batch.target_mask)
    if rng is not None:
        left_out = torch.from_numpy(rng.random(len(batch)) >= share)
        topic[left_out.to(topic.device)] = 1 / topic.shape[1]
    return replace(batch, topic=topic)
