"""BiCNN: two convolutions over letter trigrams (Yih et al. 2015)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from kg_index.relations.compared.pair_network import ComparedConfig, PairNetwork, Relations
from qa_core.networks.poolings import max_pool

WIDTH = 3
"""Words of a filter."""


def trigrams(word: str) -> list[str]:
    """The letter trigrams of a word with marks at both ends: #wo, wor, ord, rd#."""
    marked = f"#{word}#"
    return [marked[start : start + 3] for start in range(len(marked) - 2)]


class TrigramConvolution(nn.Module):
    """A filter over three words, each the sum of its trigrams, maximum over the words, and a layer with tanh."""

    starts: Tensor
    ids: Tensor

    def __init__(self, words: Sequence[str], size: int) -> None:
        super().__init__()
        rows = [trigrams(word) for word in words]
        numbers = {trigram: number for number, trigram in enumerate(sorted({t for row in rows for t in row}))}
        self.filters = nn.EmbeddingBag(len(numbers), WIDTH * size, mode="sum")
        nn.init.normal_(self.filters.weight, std=0.1)
        self.semantic = nn.Linear(size, size)
        self.register_buffer("starts", torch.tensor([0, *map(len, rows)]).cumsum(0), persistent=False)  # (V + 1,)
        self.register_buffer("ids", torch.tensor([numbers[t] for row in rows for t in row]), persistent=False)

    def states(self, words: Tensor, mask: Tensor) -> Tensor:
        """Ids (N, T) to states (N, T, F): tanh of what the word before, the word and the word after add."""
        distinct, places = torch.unique(words, return_inverse=True)
        first, last = self.starts[distinct].tolist(), self.starts[distinct + 1].tolist()
        ids = torch.cat([self.ids[start:end] for start, end in zip(first, last, strict=True)])
        bags = torch.tensor([0, *(end - start for start, end in zip(first, last, strict=True))]).cumsum(0)[:-1]
        added: Tensor = self.filters(ids, bags)[places]  # (N, T, 3F)
        before, middle, after = added.masked_fill(~mask.unsqueeze(-1), 0.0).chunk(WIDTH, dim=-1)
        empty = torch.zeros_like(middle[:, :1])
        left, right = torch.cat([empty, before[:, :-1]], dim=1), torch.cat([after[:, 1:], empty], dim=1)
        return torch.tanh(left + middle + right)

    def vector(self, states: Tensor, mask: Tensor) -> Tensor:
        """States (N, T, F) to vectors (N, F)."""
        return torch.tanh(self.semantic(max_pool(states, mask)))


class BiCNN(PairNetwork):
    """One convolution for questions and one for relations; words out of the vocabulary count as one word."""

    def __init__(self, config: ComparedConfig, words: Sequence[str]) -> None:
        super().__init__()
        self.of_question = TrigramConvolution(words, 2 * config.hidden)
        self.of_relation = TrigramConvolution(words, 2 * config.hidden)

    def question(self, words: Tensor, mask: Tensor) -> Tensor:
        return self.of_question.states(words, mask)

    def relation(self, relations: Relations) -> Tensor:
        return self.of_relation.vector(self.of_relation.states(relations.words, relations.mask), relations.mask)

    def pooled(self, states: Tensor, mask: Tensor) -> Tensor:
        return self.of_question.vector(states, mask)
