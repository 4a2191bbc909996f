"""AMPCNN: a convolution with attentive max pooling (Yin et al. 2016)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kg_index.relations.compared.pair_network import ComparedConfig, FrozenWords, PairNetwork, Relations
from qa_core.networks.poolings import max_pool, unit

WIDTH = 3
"""Words of a filter."""


class AttentiveMaxPoolingCNN(PairNetwork):
    """One convolution reads question and relation; the relation says at which word each dimension is pooled.

    With the vector v of the relation and the states F of the question, the attention of word i is a_i = cos(v, F_i).
    Each dimension d is taken from the word with the largest a_i F_id, without its attention.
    """

    def __init__(self, config: ComparedConfig) -> None:
        super().__init__()
        self.words = FrozenWords(config)
        self.filters = nn.Conv1d(config.dimension, 2 * config.hidden, WIDTH, padding=WIDTH // 2)

    def question(self, words: Tensor, mask: Tensor) -> Tensor:
        vectors = self.words(words).masked_fill(~mask.unsqueeze(-1), 0.0)
        return torch.tanh(self.filters(vectors.transpose(1, 2))).transpose(1, 2)

    def relation(self, relations: Relations) -> Tensor:
        return max_pool(self.question(relations.words, relations.mask), relations.mask)

    def score(self, states: Tensor, mask: Tensor, relations: Tensor, real: Tensor) -> Tensor:
        question, place = torch.nonzero(real, as_tuple=True)  # (N,): pools are of very different sizes
        vectors = unit(relations[question, place])  # (N, F)
        read = states.index_select(0, question)  # (N, T, F)
        with torch.no_grad():  # a choice has no gradient
            attention = unit(states).index_select(0, question) @ vectors.unsqueeze(-1)  # (N, T, 1)
            weighted = (attention * read).masked_fill_(~mask[question].unsqueeze(-1), torch.finfo(states.dtype).min)
            chosen = weighted.argmax(1, keepdim=True)  # (N, 1, F)
        pooled = read.gather(1, chosen).squeeze(1)  # (N, F)
        scores = (unit(pooled) * vectors).sum(-1)
        return scores.new_zeros(real.shape).index_put((question, place), scores)
