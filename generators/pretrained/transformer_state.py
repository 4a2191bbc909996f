"""Where a network of transformers stands in a batch of texts: its keys and values, gathered by rows.

A state stays what it was when a step has been made from it. Letters: B texts, T source positions, S positions in the
cache, V numbers, D state size.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, Self

from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class TransformerState:
    """Where a network stands in a batch of texts."""

    cache: Any  # keys and values of transformers
    mask: Tensor  # (B, S) of a causal model's cache, (B, T) of an encoder's source
    length: int  # positions that the decoder has read
    first: Tensor | None  # logits (B, V) of the first token, which are known before anyone asks
    source: Tensor | None = None  # encoder states (B, T, D)

    def select(self, rows: Tensor) -> Self:
        """The states of these texts (N,), which may stand there repeatedly or not at all."""
        rows = rows.to(self.mask.device)
        first, source = (each if each is None else each[rows] for each in (self.first, self.source))
        cache = forked(self.cache)
        cache.reorder_cache(rows)
        return replace(self, cache=cache, mask=self.mask[rows], first=first, source=source)


def forked(cache: Any) -> Any:
    """A cache of its own over the same tensors, which transformers never changes but puts longer ones in the place of.

    Raises TypeError for a cache that is kept in another way, such as that of recurrent layers.
    """
    made = copy.copy(cache)
    if hasattr(cache, "self_attention_cache"):
        made.self_attention_cache = forked(cache.self_attention_cache)
        made.cross_attention_cache = forked(cache.cross_attention_cache)
        made.is_updated = dict(cache.is_updated)
        return made
    layers = getattr(cache, "layers", None)
    if not layers or not all(isinstance(getattr(layer, "keys", None), Tensor) for layer in layers):
        raise TypeError(f"Expected keys and values of attention, but got {type(cache).__name__}.")
    made.layers = [copy.copy(layer) for layer in layers]
    return made
