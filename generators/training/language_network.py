"""The LSTM language model in torch, for training; `generators/inference/language_model.py` runs what it has learnt.

Letters: B texts, Q positions, H state size, D_z size of z, V words. Masks are true at real tokens, which come first.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from generators.inference.language_model import LanguageModelConfig
from qa_core.networks.decoder_types import START_ID
from qa_core.networks.poolings import WordEmbedding


class LanguageNetwork(nn.Module):
    """`p(y_t | y_<t) = softmax(W_s z_t + b_s)`, `z_t = tanh(W_z h_t)`."""

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.config = config
        between = config.dropout if config.layers > 1 else 0.0
        width = config.dimension if config.tied else config.hidden
        self.words = WordEmbedding(config.vocabulary, config.dimension)
        self.lstm = nn.LSTM(config.dimension, config.hidden, config.layers, batch_first=True, dropout=between)
        self.z = nn.Linear(config.hidden, width, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(width, config.vocabulary)
        if config.tied:
            self.output.weight = self.words.table
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -config.uniform, config.uniform)

    def token_distributions(self, target: Tensor, mask: Tensor) -> Tensor:
        """`log p(· | y_<t)`, (N, V), at the N real tokens of all targets (B, Q) in order."""
        logits: Tensor = self.output(self.before_softmax(target, mask))
        return logits.log_softmax(1)

    def before_softmax(self, target: Tensor, mask: Tensor) -> Tensor:
        """z_t (N, D_z) at the N real tokens of all targets in order, with dropout while training."""
        words = self.words(functional.pad(target[:, :-1], (1, 0), value=START_ID))  # (B, Q, D)
        states, _ = self.lstm(words)
        z: Tensor = self.dropout(torch.tanh(self.z(states[mask])))
        return z

    def log_likelihood(self, target: Tensor, mask: Tensor) -> Tensor:
        """`Σ_t log p(y_t | y_<t)` (B,) of targets (B, Q) without `<s>`."""
        logits = self.output(self.before_softmax(target, mask))
        losses = functional.cross_entropy(logits, target[mask], reduction="none")
        return losses.new_zeros(target.shape).masked_scatter(mask, -losses).sum(1)
