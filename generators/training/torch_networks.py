"""Torch networks in training and in inference: evaluation mode, weights as arrays, and the numpy interface."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import nn

from generators.inference.activations import Mask
from qa_core.types import FloatArray, IntArray

_BLOCK = 1_024
"""Rows whose logits are held at once."""


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """No dropout and no gradients within; afterwards as before."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)


def arrays(module: nn.Module) -> dict[str, FloatArray]:
    """Parameters and buffers as new numpy arrays; a tensor that two layers share comes once."""
    tensors = (*module.named_parameters(), *module.named_buffers())
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors}


@dataclass(frozen=True, slots=True, eq=False)
class TorchState:
    """The state of a torch network in a batch of texts."""

    state: Any

    def select(self, rows: IntArray) -> Self:
        return type(self)(self.state.select(torch.from_numpy(rows)))


@dataclass(frozen=True, slots=True, eq=False)
class TorchNetwork:
    """A torch network in evaluation mode, behind the interface of `generators.conversation.reply_model`."""

    network: Any  # with `start`, `step`, `before_softmax` and `output` if they are used
    device: torch.device

    def start(self, count: int) -> TorchState:
        """The state before the first word of `count` texts."""
        return TorchState(self.network.start(count))

    def start_source(self, source: IntArray, mask: Mask) -> TorchState:
        """The state before the first word that follows each of sources (B, T)."""
        with torch.no_grad():
            return TorchState(self.network.start(self._tensor(source), self._tensor(mask)))

    def step(self, state: TorchState, tokens: IntArray) -> tuple[FloatArray, TorchState]:
        """Read tokens (B,); return logits (B, V) of the next ones and the new state."""
        with torch.no_grad():
            logits, after = self.network.step(state.state, torch.from_numpy(tokens))
        return logits.cpu().numpy(), TorchState(after)

    def before_softmax(self, source: IntArray, source_mask: Mask, target: IntArray, target_mask: Mask) -> FloatArray:
        """z (N, D) at the N real tokens of all targets in order."""
        columns = [self._tensor(column) for column in (source, source_mask, target, target_mask)]
        with torch.no_grad():
            z: FloatArray = self.network.before_softmax(*columns).cpu().numpy()
        return z

    @property
    def output(self) -> TorchOutput:
        return TorchOutput(self.network.output, self.device)

    def _tensor(self, values: IntArray | Mask) -> torch.Tensor:
        return torch.from_numpy(values).to(self.device)


@dataclass(frozen=True, slots=True, eq=False)
class TorchOutput:
    """The last layer of a torch network, in numpy."""

    output: Any
    device: torch.device

    @property
    def in_features(self) -> int:
        size: int = self.output.in_features
        return size

    def rows(self, words: IntArray) -> tuple[FloatArray, FloatArray]:
        """Weights (N, D) and biases (N,) of words (N,)."""
        weight, bias = (tensor.detach().cpu().numpy()[words] for tensor in (self.output.weight, self.output.bias))
        return weight, bias

    @torch.no_grad()
    def log_totals(self, z: FloatArray) -> FloatArray:
        """`log Σ_w exp(W_s z + b_s)` (N,) of z (N, D)."""
        blocks = torch.split(torch.from_numpy(z), _BLOCK)
        totals = [self.output(block.to(self.device)).logsumexp(1).cpu() for block in blocks]
        joined: FloatArray = torch.cat(totals).numpy()
        return joined
