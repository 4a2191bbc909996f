"""HR-BiLSTM: hierarchical residual BiLSTM (Yu et al. 2017)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from kg_index.relations.compared.pair_network import ComparedConfig, FrozenWords, PairNetwork, Relations
from qa_core.networks.poolings import MaskedLSTM, max_pool


class HierarchicalResidualBiLSTM(PairNetwork):
    """Two layers read the question, and their states are added; a relation is read by its words and by its name.

    One BiLSTM reads the words of a relation and then its name. It reads the name from the last states of the words, so
    that a relation whose name has no vector still has a meaning. The vector of a relation is the maximum
    over the states of both; that of a question is the maximum over the sums of both layers.
    """

    def __init__(self, config: ComparedConfig) -> None:
        super().__init__()
        self.words = FrozenWords(config)
        self.names = nn.Embedding(config.relations, config.dimension)
        self.first = MaskedLSTM(config.dimension, config.hidden)
        self.second = MaskedLSTM(self.first.output_size, config.hidden)
        self.relation_reader = nn.LSTM(config.dimension, config.hidden, batch_first=True, bidirectional=True)

    def question(self, words: Tensor, mask: Tensor) -> Tensor:
        first: Tensor = self.first(self.words(words), mask)
        second: Tensor = self.second(first, mask)
        return first + second

    def relation(self, relations: Relations) -> Tensor:
        vectors, lengths = self.words(relations.words), relations.mask.sum(1)
        packed = pack_padded_sequence(vectors, lengths.cpu(), batch_first=True, enforce_sorted=False)
        read, last = self.relation_reader(packed)
        words, _ = pad_packed_sequence(read, batch_first=True, total_length=relations.words.shape[1])  # (R, L, 2H)
        name, _ = self.relation_reader(self.names(relations.names).unsqueeze(1), last)  # (R, 1, 2H)
        mask = torch.cat([relations.mask, torch.ones_like(relations.mask[:, :1])], dim=1)
        return max_pool(torch.cat([words, name], dim=1), mask)
