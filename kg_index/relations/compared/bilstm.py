"""BiLSTM with relation names: a relation is one token, its name (a row of Wang 2018, table 4.2)."""

from __future__ import annotations

from torch import Tensor, nn

from kg_index.relations.compared.pair_network import ComparedConfig, FrozenWords, PairNetwork, Relations
from qa_core.networks.poolings import MaskedLSTM


class BiLSTM(PairNetwork):
    """A BiLSTM reads the question, and its states are pooled; another reads the name, a sequence of one vector."""

    def __init__(self, config: ComparedConfig) -> None:
        super().__init__()
        self.words = FrozenWords(config)
        self.names = nn.Embedding(config.relations, config.dimension)
        self.reader = MaskedLSTM(config.dimension, config.hidden)
        self.name_reader = MaskedLSTM(config.dimension, config.hidden)

    def question(self, words: Tensor, mask: Tensor) -> Tensor:
        states: Tensor = self.reader(self.words(words), mask)
        return states

    def relation(self, relations: Relations) -> Tensor:
        names = relations.names.unsqueeze(1)  # (R, 1)
        states: Tensor = self.name_reader(self.names(names), names >= 0)
        return states.squeeze(1)
