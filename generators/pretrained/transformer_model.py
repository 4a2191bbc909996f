"""A local transformer in place of a chat model: a causal one or an encoder-decoder, trained elsewhere.

One network gives `p(T|S)`, `p(S|T)` with S and T exchanged, and `p(T)` with nothing to reply to. Drawing, ranking and
quoting use it like a `ChatModel`; it has no topics.

It comes without an acceptor. The features of one depend on how a tokenizer splits words and on how sure the network is,
so that the acceptor of another model would be useless. Until `with_acceptor` has trained one, words are drawn without
selection, and `log p(T)` is the network's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from generators.conversation.padded_batches import SourceTarget, masked, row_scores
from generators.inference.acceptor import Acceptor, AcceptorConfig
from generators.inference.shapes import acceptor_shapes
from generators.pretrained.prompts import Prompts
from generators.pretrained.transformer_loading import Loaded, load_transformer
from generators.pretrained.transformer_networks import (
    BackwardView,
    CausalNetwork,
    EncoderDecoderNetwork,
    LanguageModelView,
    TransformerNetwork,
)
from generators.topics.steering import TopicHint
from generators.training.acceptor_training import AcceptorNetwork, train_acceptor
from generators.training.chat_training import acceptor_examples
from generators.training.torch_networks import TorchNetwork, TorchState, evaluating
from qa_core.networks.checkpoints import load_config, load_weights, save_model
from qa_core.networks.translator import Columns
from qa_core.types import FloatArray, IntArray

ACCEPTOR = "acceptor"
"""The folder of a trained acceptor in that of a model."""
MAX_SOURCE = 128
"""Tokens of a context that count, even if the network could take more: each candidate has a copy of them."""
MAX_TARGET = 64
_ACCEPTOR = AcceptorConfig()


@dataclass(frozen=True, slots=True)
class PretrainedConfig:
    max_source: int  # tokens of a context that count, its last
    max_target: int  # tokens of a reply that count, its first


@dataclass(frozen=True, slots=True, eq=False)
class PretrainedModel:
    """As `generators.conversation.chat_model.ChatModel`; its tokens are numbered like the words of that."""

    network: TransformerNetwork
    backward_view: BackwardView  # the same network, which reads replies
    language_view: LanguageModelView  # the same network, which reads nothing
    vocabulary: Prompts
    config: PretrainedConfig
    acceptor: Acceptor | None = None
    steering: None = None

    @classmethod
    def load(cls, folder: Path, *, max_source: int = MAX_SOURCE) -> Self:
        """From a folder that `save_pretrained` wrote, with its acceptor if there is one.

        Args:
            max_source: tokens of a context that count; fewer if the network cannot take as many.

        Raises:
            FileNotFoundError, ModuleNotFoundError, ValueError: these name what is missing or wrong.
        """
        model = cls.of(load_transformer(folder), max_source=max_source)
        if not (folder / ACCEPTOR).is_dir():
            return model
        shapes = acceptor_shapes(load_config(folder / ACCEPTOR, AcceptorConfig))
        return replace(model, acceptor=Acceptor(load_weights(folder / ACCEPTOR, shapes=shapes)))

    @classmethod
    def of(cls, source: Loaded, *, max_source: int = MAX_SOURCE) -> Self:
        numbers, positions = source.numbers, source.positions
        config = _sizes(source, max_source)
        network: TransformerNetwork
        if source.encoded:
            network = EncoderDecoderNetwork(source.network, numbers, begin=source.begin, positions=positions)
        else:
            network = CausalNetwork(source.network, numbers, positions=positions)
        prompts = Prompts.made(source.tokenizer, numbers, longest=config.max_source, encoded=source.encoded)
        backward, language = BackwardView(network, prompts.of_reply), LanguageModelView(network, prompts.empty())
        return cls(network.eval(), backward.eval(), language.eval(), prompts, config)

    def with_acceptor(
        self,
        exchanges: Sequence[tuple[Sequence[str], str]],
        config: AcceptorConfig = _ACCEPTOR,
        *,
        seed: int,
        limit: int = 50_000,
    ) -> Self:
        """The same with an acceptor for selective sampling, which learns from contexts and their replies.

        Args:
            limit: true words in its training data, at most.

        Raises:
            ValueError: there are no words to learn from.
        """
        rows = [self.forward_row(context, reply) for context, reply in exchanges]
        generator = torch.Generator().manual_seed(seed)
        examples = acceptor_examples(self.network, self.language_view, rows, generator=generator, limit=limit)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            acceptor = AcceptorNetwork(config)
        for _ in train_acceptor(acceptor, examples, config, seed=seed):
            pass
        return replace(self, acceptor=acceptor.inference())

    def save_acceptor(self, folder: Path, *, card: str) -> None:
        """Write the acceptor into the model's folder, where `load` looks for it; raises ValueError without one."""
        if self.acceptor is None:
            raise ValueError("Expected a model with an acceptor, but got one without; train it first.")
        config = AcceptorConfig(hidden=len(self.acceptor.weights["layers.0.bias"]))
        save_model(folder / ACCEPTOR, config=config, weights=self.acceptor.weights, card=card)

    def start_state(
        self,
        context: Sequence[str],
        count: int,
        *,
        hints: Sequence[TopicHint] = (),  # noqa: ARG002  # for models with topics
    ) -> TorchState:
        """The state before the first token of `count` replies to the last turns; hints have no effect."""
        state = self.forward.start_source(*masked([self.source(context)]))
        return state.select(np.zeros(count, dtype=np.int64))

    @property
    def forward(self) -> TorchNetwork:
        """`p(T|S)`."""
        return TorchNetwork(self.network, self.device)

    @property
    def backward(self) -> TorchNetwork:
        """`p(S|T)`."""
        return TorchNetwork(self.backward_view, self.device)

    @property
    def language(self) -> TorchNetwork:
        """`p(T)`."""
        return TorchNetwork(self.language_view, self.device)

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device

    @property
    def parameters(self) -> int:
        """Trained numbers of the network."""
        return sum(tensor.numel() for tensor in self.network.parameters())

    @property
    def fingerprint(self) -> str:
        """A hash of the tokenizer and of all weights rounded to 16 bits."""
        tokens = sorted(self.vocabulary.tokenizer.get_vocab().items())
        digest = hashlib.blake2b(repr(tokens).encode(), digest_size=8)
        for name, tensor in sorted(self.network.named_parameters()):
            digest.update(name.encode() + tensor.detach().half().cpu().numpy().tobytes())
        return digest.hexdigest()

    def to(self, device: torch.device) -> Self:
        self.network.to(device)
        return self

    def source(self, turns: Sequence[str]) -> IntArray:
        """Numbers of the prompt that the last turns are, (T,)."""
        return self.vocabulary.of(turns)

    def target(self, text: str) -> IntArray:
        """Numbers of the tokens of a reply, `</s>` at the end, (Q,)."""
        return self.vocabulary.target(text, self.config.max_target)

    def forward_row(self, turns: Sequence[str], reply: str) -> SourceTarget:
        """The source and the target of `p(T|S)`."""
        return self.source(turns), self.target(reply)

    def enclosed(self, words: IntArray) -> IntArray:
        """The same words: a prompt marks its turns already."""
        return words

    def backward_row(self, turns: Sequence[str], reply: str) -> SourceTarget:
        """The source and the target of `p(S|T)`: the reply, and the end of the last turn before it."""
        return self.target(reply)[:-1], self.vocabulary.last_tokens(turns[-1] if turns else "", self.config.max_target)

    def language_row(self, text: str) -> SourceTarget:
        """The target of `p(T)`, and an empty source."""
        return np.zeros(0, dtype=np.int64), self.target(text)

    def log_forward(self, rows: Sequence[SourceTarget]) -> FloatArray:
        """`log p(T|S)` (N,) of rows."""
        return self._scored(self.network, rows, lambda row: self.network.log_likelihood(*_columns(row)))

    def log_backward(self, rows: Sequence[SourceTarget]) -> FloatArray:
        """`log p(S|T)` (N,) of backward rows."""
        return self._scored(self.backward_view, rows, lambda row: self.backward_view.log_likelihood(*_columns(row)))

    def log_language(self, rows: Sequence[SourceTarget]) -> FloatArray:
        """`log p(T)` (N,) of the targets of rows."""
        return self._scored(
            self.language_view, rows, lambda row: self.language_view.log_likelihood(row.target, row.target_mask)
        )

    def text(self, ids: Iterable[int]) -> str:
        """The readable text of numbers."""
        return self.vocabulary.text(ids)

    def _scored(
        self, module: nn.Module, rows: Sequence[SourceTarget], score: Callable[[Columns], Tensor]
    ) -> FloatArray:
        with evaluating(module):
            return row_scores(rows, lambda batch: score(Columns.of(batch, self.device)).cpu().numpy())


def _sizes(loaded: Loaded, max_source: int) -> PretrainedConfig:
    """Lengths of prompts and replies that fit into the network's positions together."""
    positions = loaded.positions
    max_target = MAX_TARGET if positions is None else max(1, min(MAX_TARGET, positions // 2 - 1))
    limits = [max_source]
    if positions is not None:
        limits.append(positions if loaded.encoded else positions - max_target - 1)
    if loaded.longest is not None:
        limits.append(loaded.longest)
    return PretrainedConfig(max(1, min(limits)), max_target)


def _columns(row: Columns) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return row.source, row.source_mask, row.target, row.target_mask
