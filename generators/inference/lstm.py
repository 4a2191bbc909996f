"""Stacked LSTMs (Hochreiter and Schmidhuber 1997), with the weights and the gate order of `torch.nn.LSTM`.

Letters: B texts, T positions, D input size, L layers, H state size, K directions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from generators.inference.activations import Mask, sigmoid
from qa_core.types import FloatArray

Weights = Mapping[str, FloatArray]
"""Arrays of 32 bits by the names that torch gives them."""


@dataclass(frozen=True, slots=True, eq=False)
class LSTMState:
    """The states after the last position that was read."""

    hidden: FloatArray  # (L·K, B, H)
    cell: FloatArray  # (L·K, B, H)


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """One layer, read in one direction."""

    inputs: FloatArray  # (4H, D)
    recurrent: FloatArray  # (4H, H)
    bias: FloatArray  # (4H,)

    @classmethod
    def of(cls, weights: Weights, name: str) -> Self:
        """Of the weights whose names end with `name`, such as "l0" or "l0_reverse"."""
        bias = weights[f"bias_ih_{name}"] + weights[f"bias_hh_{name}"]
        return cls(weights[f"weight_ih_{name}"], weights[f"weight_hh_{name}"], bias)

    def step(self, inputs: FloatArray, hidden: FloatArray, cell: FloatArray) -> tuple[FloatArray, FloatArray]:
        """h and c (B, H) after the inputs (B, D) of one position."""
        gates = inputs @ self.inputs.T + hidden @ self.recurrent.T + self.bias  # (B, 4H)
        i, f, g, o = np.split(gates, 4, axis=1)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(cell), cell

    def read(
        self, inputs: FloatArray, mask: Mask, hidden: FloatArray, cell: FloatArray, *, backwards: bool = False
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Inputs (B, T, D) from states (B, H) to outputs (B, T, H), zero in the padding, and the last states."""
        outputs = np.zeros((*inputs.shape[:2], hidden.shape[1]), dtype=np.float32)
        positions = range(inputs.shape[1])
        for position in reversed(positions) if backwards else positions:
            real = mask[:, position, None]
            after, after_cell = self.step(inputs[:, position], hidden, cell)
            hidden, cell = np.where(real, after, hidden), np.where(real, after_cell, cell)
            outputs[:, position] = after * real
        return outputs, hidden, cell


@dataclass(frozen=True, slots=True, eq=False)
class LSTM:
    layers: tuple[tuple[Direction, ...], ...]  # (L, K)

    @classmethod
    def of(cls, weights: Weights, layers: int, *, bidirectional: bool = False) -> Self:
        ends = ("", "_reverse")[: 1 + bidirectional]
        return cls(tuple(tuple(Direction.of(weights, f"l{layer}{end}") for end in ends) for layer in range(layers)))

    def zeros(self, count: int) -> LSTMState:
        """The state before anything is read."""
        directions = [direction for layer in self.layers for direction in layer]
        states = np.zeros((len(directions), count, directions[0].recurrent.shape[1]), dtype=np.float32)
        return LSTMState(states, states)

    def read(self, inputs: FloatArray, mask: Mask, state: LSTMState) -> tuple[FloatArray, LSTMState]:
        """Inputs (B, T, D) and mask (B, T) to outputs (B, T, K·H), zero in the padding, and the states after them."""
        hidden, cells, index = [], [], 0
        for layer in self.layers:
            outputs = []
            for backwards, direction in enumerate(layer):
                starts = state.hidden[index], state.cell[index]
                output, *last = direction.read(inputs, mask, *starts, backwards=bool(backwards))
                outputs.append(output)
                hidden.append(last[0])
                cells.append(last[1])
                index += 1
            inputs = outputs[0] if len(outputs) == 1 else np.concatenate(outputs, axis=-1)
        return inputs, LSTMState(np.stack(hidden), np.stack(cells))

    def step(self, inputs: FloatArray, state: LSTMState) -> tuple[FloatArray, LSTMState]:
        """One position (B, D) of a one-way LSTM to outputs (B, H) and the states after it."""
        hidden, cells = [], []
        for index, (direction,) in enumerate(self.layers):
            inputs, cell = direction.step(inputs, state.hidden[index], state.cell[index])
            hidden.append(inputs)
            cells.append(cell)
        return inputs, LSTMState(np.stack(hidden), np.stack(cells))
