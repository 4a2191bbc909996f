"""The state of a network of transformers in a batch of texts: its keys and values, gathered by rows.

A step does not change the state that it starts from. Letters: B texts, T source positions, S positions in the
cache, V numbers, D state size.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, Self

from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class TransformerState:
    """The state of a network in a batch of texts."""

    cache: Any  # keys and values of transformers
    mask: Tensor  # (B, S) of a causal model's cache, (B, T) of an encoder's source
    length: int  # positions that the decoder has read
    first: Tensor | None  # logits (B, V) of the first token, if no step was fork yet
    source: Tensor | None = None  # encoder states (B, T, D)

    def select(self, rows: Tensor) -> Self:
        """The states of these texts (N,); a text may be repeated or left out."""
        rows = rows.to(self.mask.device)
        first, source = (tensor if tensor is None else tensor[rows] for tensor in (self.first, self.source))
        cache = forked(self.cache)
        cache.reorder_cache(rows)
        return replace(self, cache=cache, mask=self.mask[rows], first=first, source=source)


def forked(cache: Any) -> Any:
    """A separate cache over the same tensors: transformers replaces them by longer ones and never changes them.

    Raises TypeError for a cache of another form, such as that of recurrent layers.
    """
    fork = copy.copy(cache)
    if hasattr(cache, "self_attention_cache"):
        fork.self_attention_cache = forked(cache.self_attention_cache)
        fork.cross_attention_cache = forked(cache.cross_attention_cache)
        fork.is_updated = dict(cache.is_updated)
        return fork
    layers = getattr(cache, "layers", None)
    if not layers or not all(isinstance(getattr(layer, "keys", None), Tensor) for layer in layers):
        raise TypeError(f"Expected keys and values of attention, but got {type(cache).__name__}.")
    fork.layers = [copy.copy(layer) for layer in layers]
    return fork
