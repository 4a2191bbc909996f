"""The attentional encoder-decoder of Wang (2018), ch. 2.2: stacked LSTMs with global attention (Luong et al. 2015).

Letters: B texts, T source positions, Q target positions, L layers, H state size, V words, E topics. Masks
are true at real tokens, which come first; values in the padding never change a result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from qa_core.networks.attention import GlobalAttention
from qa_core.networks.decoder_types import START_ID, Seq2SeqConfig
from qa_core.networks.poolings import WordEmbedding


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The decoder's state for a batch, and the source that it attends to."""

    hidden: Tensor  # (L, B, H)
    cell: Tensor  # (L, B, H)
    source: Tensor  # encoder states (B, T, H)
    mask: Tensor  # (B, T)
    topic: Tensor  # (B, W), read with every word; W = `Seq2SeqConfig.topic_dim`

    def select(self, rows: Tensor) -> Self:
        """The states of the texts at these rows (N,); rows may repeat."""
        rows = rows.to(self.hidden.device)
        memory = self.source[rows], self.mask[rows], self.topic[rows]
        return type(self)(self.hidden[:, rows], self.cell[:, rows], *memory)


class Seq2Seq(nn.Module):
    """`p(y_t | y_<t, x) = softmax(W_s z_t + b_s)`, `z_t = tanh(W_c [c_t; h'_t])` (eq. 2.8 to 2.13).

    The decoder starts from the encoder's last states; attention is not fed back into it. A decoder with topics reads a
    distribution over them with each word; by default all topics are equally likely.
    """

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        directions = 1 + config.bidirectional
        between = config.dropout if config.layers > 1 else 0.0
        self.source = WordEmbedding(config.vocabulary, config.dimension, pretrained=config.pretrained)
        self.target = WordEmbedding(config.vocabulary, config.dimension, pretrained=config.pretrained)
        self.encoder = nn.LSTM(
            config.dimension,
            config.hidden // directions,
            config.layers,
            batch_first=True,
            dropout=between,
            bidirectional=config.bidirectional,
        )
        mapped = config.topics and config.topic_width
        self.topics = nn.Linear(config.topics, config.topic_dim, bias=False) if mapped else nn.Identity()
        inputs = config.dimension + config.topic_dim
        self.decoder = nn.LSTM(inputs, config.hidden, config.layers, batch_first=True, dropout=between)
        width = config.dimension if config.tied else config.hidden
        self.attention = GlobalAttention(config.hidden, config.hidden, output_size=width)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(width, config.vocabulary)
        if config.tied:
            self.target = self.source
            self.output.weight = self.source.table
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -config.uniform, config.uniform)

    def start(self, source: Tensor, mask: Tensor, topic: Tensor | None = None) -> State:
        """Source tokens (B, T), mask (B, T) and topics (B, E) to the state before the first target token.

        The state of a text without tokens is zero.
        """
        topics = self._topics(topic, source)
        if bool(mask.all()):  # texts of one length need no packing, which disables the CPU's fast kernels
            states, (hidden, cell) = self.encoder(self.source(source))
            return State(self._concat(hidden), self._concat(cell), states, mask, topics)
        lengths = mask.sum(1).clamp(min=1)  # an empty text cannot be packed
        packed = pack_padded_sequence(self.source(source), lengths.cpu(), batch_first=True, enforce_sorted=False)
        output, (hidden, cell) = self.encoder(packed)
        states, _ = pad_packed_sequence(output, batch_first=True, total_length=source.shape[1])
        empty = ~mask.any(1)
        hidden, cell = (self._concat(last).masked_fill(empty.unsqueeze(-1), 0.0) for last in (hidden, cell))
        return State(hidden, cell, states.masked_fill(~mask.unsqueeze(-1), 0.0), mask, topics)

    def step(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """From the last tokens (B,), `<s>` at first, to logits (B, V) of the next tokens and the next state."""
        words = self.target(tokens.to(state.hidden.device).unsqueeze(1))  # (B, 1, D)
        read, (hidden, cell) = self.decoder(_with_topic(words, state.topic), (state.hidden, state.cell))
        z, _ = self.attention(read, state.source, state.mask)  # (B, 1, H)
        return self.output(self.dropout(z.squeeze(1))), State(hidden, cell, state.source, state.mask, state.topic)

    def token_log_likelihood(
        self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor, topic: Tensor | None = None
    ) -> Tensor:
        """`log p(y_t | y_<t, x)`, (B, Q), 0 in the padding, with the true words as history.

        Args:
            source: (B, T).
            source_mask: (B, T).
            target: (B, Q) without `<s>`; with `</s>` at the end if its probability should count.
            target_mask: (B, Q).
            topic: (B, E), for a decoder with topics.
        """
        # the softmax over all words is the slow part: computed at real tokens only
        logits = self.output(self.before_softmax(source, source_mask, target, target_mask, topic))
        losses = functional.cross_entropy(logits, target[target_mask], reduction="none")
        return losses.new_zeros(target.shape).masked_scatter(target_mask, -losses)

    def token_distributions(
        self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor, topic: Tensor | None = None
    ) -> Tensor:
        """`log p(· | y_<t, x)`, (N, V), at the N real tokens of all targets in order; arguments as above."""
        logits: Tensor = self.output(self.before_softmax(source, source_mask, target, target_mask, topic))
        return logits.log_softmax(1)

    def before_softmax(
        self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor, topic: Tensor | None = None
    ) -> Tensor:
        """z_t (N, D_z) at the N real tokens of all targets in order, with dropout in training."""
        state = self.start(source, source_mask, topic)
        history = functional.pad(target[:, :-1], (1, 0), value=START_ID)  # (B, Q)
        words = _with_topic(self.target(history), state.topic)
        read, _ = self.decoder(words, (state.hidden, state.cell))  # padding comes last and is not read
        z, _ = self.attention(read, state.source, state.mask)  # (B, Q, D_z)
        dropped: Tensor = self.dropout(z[target_mask])
        return dropped

    def log_likelihood(
        self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor, topic: Tensor | None = None
    ) -> Tensor:
        """`Σ_t log p(y_t | y_<t, x)`, (B,); arguments as in `token_log_likelihood`."""
        return self.token_log_likelihood(source, source_mask, target, target_mask, topic).sum(1)

    def _topics(self, topic: Tensor | None, source: Tensor) -> Tensor:
        """The topic features (B, W) that the decoder reads with every word."""
        shape, device = (len(source), self.config.topics), source.device
        if topic is None:
            topic = torch.full(shape, 1 / max(1, self.config.topics), device=device)
        if topic.shape != shape:
            raise ValueError(f"Expected a distribution over topics of shape {shape}, but got {tuple(topic.shape)}.")
        features: Tensor = self.topics(topic)
        return features

    def _concat(self, last: Tensor) -> Tensor:
        """The last states of both directions side by side: (2L, B, H/2) to (L, B, H)."""
        if not self.config.bidirectional:
            return last
        return torch.cat([last[0::2], last[1::2]], dim=-1)


def _with_topic(words: Tensor, topic: Tensor) -> Tensor:
    """Words (B, Q, D), each with the topic features (B, W) of its text."""
    return torch.cat([words, topic.unsqueeze(1).expand(-1, words.shape[1], -1)], dim=-1) if topic.shape[1] else words
