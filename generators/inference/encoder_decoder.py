"""The attentional encoder-decoder of `qa_core/networks/seq2seq.py`, run with numpy.

Letters: B texts, T source positions, Q target positions, L layers, H state size, D_z size of z, V words, E topics,
W `Seq2SeqConfig.topic_dim`. Masks are true at real tokens, which come first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from generators.inference.activations import Mask, masked_softmax
from generators.inference.lstm import LSTM, LSTMState, Weights
from generators.inference.output_layer import OutputLayer
from qa_core.networks.decoder_types import START_ID, Seq2SeqConfig
from qa_core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class DecoderState:
    """The state of the decoder in a batch of texts, and the sources that it attends to."""

    hidden: FloatArray  # (L, B, H)
    cell: FloatArray  # (L, B, H)
    source: FloatArray  # encoder states (B, T, H)
    mask: Mask  # (B, T)
    topic: FloatArray  # (B, W), read beside every word

    def select(self, rows: IntArray) -> Self:
        """The states of these texts (N,); a text may be repeated or left out."""
        memory = self.source[rows], self.mask[rows], self.topic[rows]
        return type(self)(self.hidden[:, rows], self.cell[:, rows], *memory)


@dataclass(frozen=True, eq=False)
class EncoderDecoder:
    """`p(y_t | y_<t, x) = softmax(W_s z_t + b_s)`, `z_t = tanh(W_c [c_t; h'_t])` (Wang 2018, eq. 2.8 to 2.13)."""

    config: Seq2SeqConfig
    weights: Weights  # by the names of torch; a tied table stands once, as source.E_tune

    def start(self, source: IntArray, mask: Mask, topic: FloatArray | None = None) -> DecoderState:
        """The state before the first target token.

        Args:
            source: (B, T); an empty text has the state zero.
            mask: (B, T).
            topic: distributions over topics (B, E); None for equally likely ones.
        """
        encoder = self._encoder
        states, last = encoder.read(self._words("source", source), mask, encoder.zeros(len(source)))
        return DecoderState(
            self._join(last.hidden), self._join(last.cell), states, mask, self._topic(topic, len(source))
        )

    def step(self, state: DecoderState, tokens: IntArray) -> tuple[FloatArray, DecoderState]:
        """Read tokens (B,), `<s>` at first; return logits (B, V) of the next ones and the new state."""
        inputs = np.concatenate([self._words("target", tokens), state.topic], axis=-1)
        read, last = self._decoder.step(inputs, LSTMState(state.hidden, state.cell))
        z = self._attend(read[:, None], state)[:, 0]
        return self.output.logits(z), DecoderState(last.hidden, last.cell, state.source, state.mask, state.topic)

    def log_likelihood(
        self,
        source: IntArray,
        source_mask: Mask,
        target: IntArray,
        target_mask: Mask,
        topic: FloatArray | None = None,
    ) -> FloatArray:
        """`Σ_t log p(y_t | y_<t, x)` (B,) of targets (B, Q) without `<s>`."""
        z = self.before_softmax(source, source_mask, target, target_mask, topic)
        log_p = np.zeros(target.shape, dtype=np.float32)
        log_p[target_mask] = self.output.log_likelihoods(z, target[target_mask])
        totals: FloatArray = log_p.sum(axis=1)
        return totals

    def before_softmax(
        self,
        source: IntArray,
        source_mask: Mask,
        target: IntArray,
        target_mask: Mask,
        topic: FloatArray | None = None,
    ) -> FloatArray:
        """z_t (N, D_z) at the N real tokens of all targets in order."""
        state = self.start(source, source_mask, topic)
        words = self._words("target", preceding(target))
        topics = np.broadcast_to(state.topic[:, None], (*target.shape, state.topic.shape[1]))
        inputs = np.concatenate([words, topics], axis=-1)
        read, _ = self._decoder.read(inputs, target_mask, LSTMState(state.hidden, state.cell))
        return self._attend(read, state)[target_mask]

    @cached_property
    def output(self) -> OutputLayer:
        table = self.weights["source.E_tune" if self.config.tied else "output.weight"]
        return OutputLayer(table, self.weights["output.bias"])

    @cached_property
    def _encoder(self) -> LSTM:
        return LSTM.of(part(self.weights, "encoder"), self.config.layers, bidirectional=self.config.bidirectional)

    @cached_property
    def _decoder(self) -> LSTM:
        return LSTM.of(part(self.weights, "decoder"), self.config.layers)

    def _words(self, side: str, tokens: IntArray) -> FloatArray:
        """Word vectors (…, D), `E_pre[w] + E_tune[w]`."""
        if self.config.tied:
            side = "source"
        vectors: FloatArray = self.weights[f"{side}.E_tune"][tokens]
        return vectors + self.weights[f"{side}.E_pre"][tokens] if self.config.pretrained else vectors

    def _topic(self, topic: FloatArray | None, count: int) -> FloatArray:
        """What the decoder reads beside every word, (B, W)."""
        topics = self.config.topics
        if topic is None:
            topic = np.full((count, topics), 1 / max(1, topics), dtype=np.float32)
        if topic.shape != (count, topics):
            raise ValueError(f"Expected a distribution over topics of shape {(count, topics)}, but got {topic.shape}.")
        return topic @ self.weights["topics.weight"].T if topics and self.config.topic_width else topic

    def _attend(self, queries: FloatArray, state: DecoderState) -> FloatArray:
        """z (B, Q, D_z) of decoder outputs (B, Q, H); Luong et al. (2015), general scores, eq. 5."""
        keys = state.source.transpose(0, 2, 1)  # (B, H, T)
        scores: FloatArray = np.matmul(queries @ self.weights["attention.W_a"], keys)  # (B, Q, T)
        contexts = masked_softmax(scores, state.mask[:, None]) @ state.source
        z: FloatArray = np.tanh(np.concatenate([contexts, queries], axis=-1) @ self.weights["attention.W_c.weight"].T)
        return z

    def _join(self, last: FloatArray) -> FloatArray:
        """The last states of both directions side by side: (2L, B, H/2) to (L, B, H)."""
        return np.concatenate([last[0::2], last[1::2]], axis=-1) if self.config.bidirectional else last


def preceding(target: IntArray) -> IntArray:
    """What the decoder has read before each token of targets (B, Q): `<s>`, and the tokens before."""
    shifted = np.full_like(target, START_ID)
    shifted[:, 1:] = target[:, :-1]
    return shifted


def part(weights: Weights, name: str) -> dict[str, FloatArray]:
    """The weights of a part, without its name in front of theirs."""
    return {key.removeprefix(f"{name}."): array for key, array in weights.items() if key.startswith(f"{name}.")}
