"""Networks of transformers behind the interface of `qa_core.networks.seq2seq.Seq2Seq` and of a language model.

Letters: B texts, T source positions, Q target positions, S positions that a network reads at once, V numbers, D state
size. Numbers (`generators/pretrained/token_ids.py`) reach the network as tokens. Masks are true at
real tokens, which come first.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from generators.conversation.padded_batches import masked
from generators.pretrained.token_ids import TokenNumbers
from generators.pretrained.transformer_state import TransformerState, forked
from qa_core.networks.decoder_types import END_ID
from qa_core.types import IntArray

_LOGITS = 2**26
"""Numbers of a softmax that are held at once, 256 MB."""


class TransformerNetwork(nn.Module):
    """What causal models and encoder-decoders have in common."""

    def __init__(self, network: nn.Module, numbers: TokenNumbers, *, positions: int | None = None) -> None:
        super().__init__()
        self.network = network
        self.numbers = numbers
        self.positions = positions  # of the decoder

    @abstractmethod
    def start(self, source: Tensor, mask: Tensor, _topic: Tensor | None = None) -> TransformerState:
        """Source numbers (B, T) and mask (B, T), a token in each row, to the state before the first target token."""

    @abstractmethod
    def _read(self, source: Tensor, mask: Tensor, target: Tensor, target_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, S, tokens) of the network, and the mask of those that predict target tokens (B, S)."""

    @abstractmethod
    def _advance(self, state: TransformerState, tokens: Tensor) -> tuple[Any, Tensor]:
        """The network's output for one more token in each row (B, 1), and the new mask."""

    @torch.no_grad()
    def step(self, state: TransformerState, tokens: Tensor) -> tuple[Tensor, TransformerState]:
        """The tokens (B,) read last, `<s>` at first, to logits (B, V) of the next ones and the new state.

        If the positions are used up, the text ends.
        """
        if state.first is not None:
            return state.first, replace(state, first=None)
        if self.positions is not None and state.length >= self.positions - 1:
            ended = torch.full((len(tokens), len(self.numbers)), -torch.inf, device=state.mask.device)
            return ended.index_fill(1, torch.tensor([END_ID], device=ended.device), 0.0), state
        read = self.numbers.tokens(tokens.to(state.mask.device)).unsqueeze(1)
        output, mask = self._advance(replace(state, cache=forked(state.cache)), read)
        logits = self.numbers.logits(output.logits[:, -1])
        return logits, replace(state, cache=output.past_key_values, mask=mask, length=state.length + 1)

    def log_likelihood(
        self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor, _topic: Tensor | None = None
    ) -> Tensor:
        """`Σ_t log p(y_t | y_<t, x)`, (B,), `</s>` included; target (B, Q) without `<s>`."""
        parts = []
        for part in self._parts(source, source_mask, target, target_mask):
            logits = self._target_logits(*part)
            true = logits.gather(1, part[2][part[3]].unsqueeze(1)).squeeze(1) - logits.logsumexp(1)
            parts.append(true.new_zeros(part[3].shape).masked_scatter(part[3], true).sum(1))
        return torch.cat(parts)

    def token_distributions(
        self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor, _topic: Tensor | None = None
    ) -> Tensor:
        """`log p(· | y_<t, x)`, (N, V), at the N real tokens of all targets in order."""
        parts = self._parts(source, source_mask, target, target_mask)
        return torch.cat([self._target_logits(*part).log_softmax(1) for part in parts])

    def before_softmax(self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor) -> Tensor:
        """Inputs of the network's last layer at the N real tokens of all targets in order, (N, D)."""
        parts = []
        for part in self._parts(source, source_mask, target, target_mask):
            with _captured_inputs(self._softmax) as inputs:
                _, predicts = self._read(*part)
            parts.append(inputs[-1][:, -predicts.shape[1] :][predicts])
        return torch.cat(parts)

    @property
    def output(self) -> Softmax:
        """The last layer, over numbers."""
        bias = getattr(self._softmax, "bias", None)
        more = getattr(self.network, "final_logits_bias", None)  # of BART
        weight = self._softmax.weight
        bias = weight.new_zeros(len(weight)) if bias is None else bias
        return Softmax(self.numbers, weight, bias if more is None else bias + more.flatten())

    @property
    def _softmax(self) -> Any:
        return self.network.get_output_embeddings()  # type: ignore[operator]  # of every model with a head for tokens

    def _target_logits(self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor) -> Tensor:
        """(N, V), as in `token_distributions`."""
        logits, predicts = self._read(source, source_mask, target, target_mask)
        return self.numbers.logits(logits[predicts])

    def _parts(self, *columns: Tensor) -> Iterator[tuple[Tensor, ...]]:
        """Columns (B, ·) in parts, so that the logits of each fit into memory."""
        wide = columns[0].shape[1] + columns[2].shape[1]
        size = max(1, _LOGITS // (wide * len(self.numbers)))
        return zip(*(torch.split(column, size) for column in columns), strict=True)


@dataclass(frozen=True, slots=True, eq=False)
class Softmax:
    """A network's last layer as a linear one over numbers, without anything that the network applies to logits."""

    numbers: TokenNumbers
    table: Tensor  # (tokens, D)
    biases: Tensor  # (tokens,)

    @property
    def in_features(self) -> int:
        return self.table.shape[1]

    @property
    def weight(self) -> Tensor:
        """(V, D), computed at each call."""
        return self.numbers.rows(self.table, 0.0)

    @property
    def bias(self) -> Tensor:
        """(V,)"""
        return self.numbers.rows(self.biases, -torch.inf)

    def __call__(self, z: Tensor) -> Tensor:
        """(N, D) to logits (N, V)."""
        return self.numbers.logits(functional.linear(z, self.table, self.biases))


class CausalNetwork(TransformerNetwork):
    """A decoder alone, for which the source is the start of the text."""

    def __init__(self, network: nn.Module, numbers: TokenNumbers, *, positions: int | None = None) -> None:
        super().__init__(network, numbers, positions=positions)
        self.placed = "position_ids" in inspect.signature(network.forward).parameters

    @torch.no_grad()
    def start(self, source: Tensor, mask: Tensor, _topic: Tensor | None = None) -> TransformerState:
        order = mask.int().argsort(dim=1, stable=True)  # padding goes first
        mask = mask.gather(1, order)
        read = self.numbers.tokens(source.gather(1, order))
        output = self.network(input_ids=read, attention_mask=mask.long(), use_cache=True, **self._positions(mask, mask))
        return TransformerState(
            output.past_key_values, mask, mask.shape[1], first=self.numbers.logits(output.logits[:, -1])
        )

    def _read(self, source: Tensor, mask: Tensor, target: Tensor, target_mask: Tensor) -> tuple[Tensor, Tensor]:
        rows, predicts = [], []
        for row, real, reply, reply_real in zip(source, mask, target, target_mask, strict=True):
            before, after = row[real], reply[reply_real]
            rows.append(torch.cat([before, after[:-1]]))
            predicts.append(torch.arange(len(rows[-1]), device=source.device) >= len(before) - 1)
        known = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
        read = self.numbers.tokens(pad_sequence(rows, batch_first=True))
        output = self.network(input_ids=read, attention_mask=known, use_cache=False)
        return output.logits, pad_sequence(predicts, batch_first=True)

    def _advance(self, state: TransformerState, tokens: Tensor) -> tuple[Any, Tensor]:
        new = state.mask.new_ones(len(tokens), 1)
        mask = torch.cat([state.mask, new], dim=1)
        output = self.network(
            input_ids=tokens,
            attention_mask=mask.long(),
            past_key_values=state.cache,
            use_cache=True,
            **self._positions(mask, new),
        )
        return output, mask

    def _positions(self, mask: Tensor, new: Tensor) -> dict[str, Tensor]:
        """Positions of the last tokens, (B, ·), padding not counted."""
        positions = (mask.long().cumsum(1) - 1).clamp(min=0)[:, -new.shape[1] :]
        return {"position_ids": positions} if self.placed else {}


class EncoderDecoderNetwork(TransformerNetwork):
    """An encoder of sources, and a decoder that reads the same tokens before every target."""

    def __init__(
        self, network: nn.Module, numbers: TokenNumbers, *, begin: Sequence[int], positions: int | None = None
    ) -> None:
        super().__init__(network, numbers, positions=positions)
        self.begin = tuple(begin)

    @torch.no_grad()
    def start(self, source: Tensor, mask: Tensor, _topic: Tensor | None = None) -> TransformerState:
        encoder = self.network.get_encoder()  # type: ignore[operator]  # of every encoder-decoder
        encoded = encoder(input_ids=self.numbers.tokens(source), attention_mask=mask.long())
        state = TransformerState(None, mask, len(self.begin), None, encoded.last_hidden_state)
        output, _ = self._advance(state, torch.tensor(self.begin, device=mask.device).expand(len(mask), -1))
        return replace(state, cache=output.past_key_values, first=self.numbers.logits(output.logits[:, -1]))

    def _read(self, source: Tensor, mask: Tensor, target: Tensor, target_mask: Tensor) -> tuple[Tensor, Tensor]:
        begin = torch.tensor(self.begin, device=mask.device).expand(len(mask), -1)
        output = self.network(
            input_ids=self.numbers.tokens(source),
            attention_mask=mask.long(),
            decoder_input_ids=torch.cat([begin, self.numbers.tokens(target[:, :-1])], dim=1),
            use_cache=False,
        )
        return output.logits[:, len(self.begin) - 1 :], target_mask

    def _advance(self, state: TransformerState, tokens: Tensor) -> tuple[Any, Tensor]:
        output = self.network(
            encoder_outputs=(state.source,),
            attention_mask=state.mask.long(),
            decoder_input_ids=tokens,
            past_key_values=state.cache,
            use_cache=True,
        )
        return output, state.mask


class BackwardView(nn.Module):
    """A network that reads replies, (B, T) in numbers, and turns each into a prompt."""

    def __init__(self, network: TransformerNetwork, prompt: Callable[[Sequence[int]], IntArray]) -> None:
        super().__init__()
        self.network, self.prompt = network, prompt

    def start(self, source: Tensor, mask: Tensor, _topic: Tensor | None = None) -> TransformerState:
        return self.network.start(*self._prompted(source, mask))

    def step(self, state: TransformerState, tokens: Tensor) -> tuple[Tensor, TransformerState]:
        return self.network.step(state, tokens)

    def log_likelihood(self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor) -> Tensor:
        return self.network.log_likelihood(*self._prompted(source, source_mask), target, target_mask)

    def before_softmax(self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor) -> Tensor:
        return self.network.before_softmax(*self._prompted(source, source_mask), target, target_mask)

    @property
    def output(self) -> Softmax:
        return self.network.output

    def _prompted(self, source: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        rows = [self.prompt(row[real].tolist()) for row, real in zip(source, mask, strict=True)]
        ids, real = masked(rows)
        return torch.from_numpy(ids).to(source.device), torch.from_numpy(real).to(source.device)


class LanguageModelView(nn.Module):
    """A network as a language model: texts that reply to nothing."""

    def __init__(self, network: TransformerNetwork, prompt: IntArray) -> None:
        super().__init__()
        self.network, self.prompt = network, torch.from_numpy(prompt)

    def start(self, count: int) -> TransformerState:
        """The state before the first token of `count` texts."""
        return self.network.start(*self._source(1)).select(torch.zeros(count, dtype=torch.int64))

    def step(self, state: TransformerState, tokens: Tensor) -> tuple[Tensor, TransformerState]:
        return self.network.step(state, tokens)

    def log_likelihood(self, target: Tensor, mask: Tensor) -> Tensor:
        """`log p(T)` (B,) of targets (B, Q) without `<s>`."""
        return self.network.log_likelihood(*self._source(len(target)), target, mask)

    def token_distributions(self, target: Tensor, mask: Tensor) -> Tensor:
        """`log p(· | y_<t)`, (N, V), at the N real tokens of all targets in order."""
        return self.network.token_distributions(*self._source(len(target)), target, mask)

    def _source(self, count: int) -> tuple[Tensor, Tensor]:
        device = next(self.parameters()).device
        source = self.prompt.to(device).expand(count, -1)
        return source, torch.ones_like(source, dtype=torch.bool)


@contextmanager
def _captured_inputs(module: Any) -> Iterator[list[Tensor]]:
    """The inputs that a module gets within the block."""
    inputs: list[Tensor] = []
    handle = module.register_forward_pre_hook(lambda _module, arguments: inputs.append(arguments[0]))
    try:
        yield inputs
    finally:
        handle.remove()
