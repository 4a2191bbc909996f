"""The attentional encoder-decoder (thesis, ch. 2.2): stacked LSTMs with global attention after Luong et al. 2015.

Letters: B texts, T source positions, Q target positions, L layers, H state size, V words, E topics. Masks
are true at real tokens, which come first; what finite value stands elsewhere never changes a result.
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
    """Where the decoder of a batch stands, and the source that it attends to."""

    hidden: Tensor  # (L, B, H)
    cell: Tensor  # (L, B, H)
    source: Tensor  # encoder states (B, T, H)
    mask: Tensor  # (B, T)
    topic: Tensor  # (B, W), what is heard beside every word, W = `Seq2SeqConfig.topic_dim`

    def select(self, rows: Tensor) -> Self:
        """The states of these texts (N,), which may stand there repeatedly or not at all."""
        rows = rows.to(self.hidden.device)
        memory = self.source[rows], self.mask[rows], self.topic[rows]
        return type(self)(self.hidden[:, rows], self.cell[:, rows], *memory)


class Seq2Seq(nn.Module):
    """`p(y_t | y_<t, x) = softmax(W_s z_t + b_s)`, `z_t = tanh(W_c [c_t; h'_t])` (eq. 2.8 to 2.13).

    The decoder starts from the encoder's last states; attention is not fed back into it. Where it knows topics, it
    reads each word with a distribution over them beside; where nobody gives one, all are equally likely.
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
        heard = config.dimension + config.topic_dim
        self.decoder = nn.LSTM(heard, config.hidden, config.layers, batch_first=True, dropout=between)
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

        No tokens are all zeros.
        """
        heard = self._heard(topic, source)
        if bool(mask.all()):  # texts of one length need no packing, which keeps a CPU from its fast kernels
            states, (hidden, cell) = self.encoder(self.source(source))
            return State(self._joined(hidden), self._joined(cell), states, mask, heard)
        lengths = mask.sum(1).clamp(min=1)  # packing knows no empty text
        packed = pack_padded_sequence(self.source(source), lengths.cpu(), batch_first=True, enforce_sorted=False)
        output, (hidden, cell) = self.encoder(packed)
        states, _ = pad_packed_sequence(output, batch_first=True, total_length=source.shape[1])
        empty = ~mask.any(1)
        hidden, cell = (self._joined(last).masked_fill(empty.unsqueeze(-1), 0.0) for last in (hidden, cell))
        return State(hidden, cell, states.masked_fill(~mask.unsqueeze(-1), 0.0), mask, heard)

    def step(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """The tokens (B,) read last, `<s>` at first, to logits (B, V) of the next ones and the state behind them."""
        words = self.target(tokens.to(state.hidden.device).unsqueeze(1))  # (B, 1, D)
        read, (hidden, cell) = self.decoder(_beside(words, state.topic), (state.hidden, state.cell))
        z, _ = self.attention(read, state.source, state.mask)  # (B, 1, H)
        return self.output(self.dropout(z.squeeze(1))), State(hidden, cell, state.source, state.mask, state.topic)

    def token_log_likelihood(
        self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor, topic: Tensor | None = None
    ) -> Tensor:
        """`log p(y_t | y_<t, x)`, (B, Q), 0 in the padding, the true words before it given.

        Args:
            source: (B, T).
            source_mask: (B, T).
            target: (B, Q) without `<s>`; `</s>` stands at the end of each where its probability should count.
            target_mask: (B, Q).
            topic: (B, E), for a decoder that hears one.
        """
        # the softmax over all words is what costs: only where there is a word to tell
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
        """z_t (N, D_z) at the N real tokens of all targets in order, dropped out where training is on."""
        state = self.start(source, source_mask, topic)
        given = functional.pad(target[:, :-1], (1, 0), value=START_ID)  # (B, Q)
        words = _beside(self.target(given), state.topic)
        read, _ = self.decoder(words, (state.hidden, state.cell))  # padding comes last and is not read
        z, _ = self.attention(read, state.source, state.mask)  # (B, Q, D_z)
        dropped: Tensor = self.dropout(z[target_mask])
        return dropped

    def log_likelihood(
        self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor, topic: Tensor | None = None
    ) -> Tensor:
        """`Σ_t log p(y_t | y_<t, x)`, (B,); arguments as in `token_log_likelihood`."""
        return self.token_log_likelihood(source, source_mask, target, target_mask, topic).sum(1)

    def _heard(self, topic: Tensor | None, source: Tensor) -> Tensor:
        """What the decoder hears beside every word, (B, W)."""
        shape, device = (len(source), self.config.topics), source.device
        if topic is None:
            topic = torch.full(shape, 1 / max(1, self.config.topics), device=device)
        if topic.shape != shape:
            raise ValueError(f"Expected a distribution over topics of shape {shape}, but got {tuple(topic.shape)}.")
        heard: Tensor = self.topics(topic)
        return heard

    def _joined(self, last: Tensor) -> Tensor:
        """The last states of both directions side by side: (2L, B, H/2) to (L, B, H)."""
        if not self.config.bidirectional:
            return last
        return torch.cat([last[0::2], last[1::2]], dim=-1)


def _beside(words: Tensor, topic: Tensor) -> Tensor:
    """Words (B, Q, D) with what is heard beside each, (B, W)."""
    return torch.cat([words, topic.unsqueeze(1).expand(-1, words.shape[1], -1)], dim=-1) if topic.shape[1] else words
