"""Matching from several perspectives, beside loops over words and perspectives."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from qa_core.networks.poolings import pad
from rankers.paraphrase.bilateral_matching import BilateralMatching, MatchingConfig
from rankers.paraphrase.perspectives import LEAST, Perspectives


def cosine(u: Tensor, v: Tensor) -> float:
    lengths = [math.sqrt(float((x * x).sum()) + LEAST) for x in (u, v)]
    return float((u * v).sum()) / (lengths[0] * lengths[1])


def test_cosines_worked_by_hand() -> None:
    perspectives = Perspectives(2, 2)
    with torch.no_grad():
        perspectives.weights.copy_(torch.tensor([[1.0, 1.0], [2.0, 0.0]]))
        cosines = perspectives(torch.tensor([1.0, 1.0]), torch.tensor([1.0, -1.0]))
        assert cosines.tolist() == pytest.approx([0.0, 1.0], abs=1e-5)  # the second sees the first dimension only
        assert perspectives(torch.zeros(2), torch.ones(2)).tolist() == [0.0, 0.0]


def test_all_pairs_are_the_cosines_of_each_pair() -> None:
    torch.manual_seed(0)
    perspectives, first, second = Perspectives(4, 3), torch.randn(2, 5, 4), torch.randn(2, 3, 4)
    with torch.no_grad():
        pairs = perspectives.all_pairs(first, second)
        for i, j in np.ndindex(5, 3):
            torch.testing.assert_close(pairs[:, i, j], perspectives(first[:, i], second[:, j]))


def test_the_network_step_by_step() -> None:
    """One pair without batches, masks or padding."""
    torch.manual_seed(1)
    network = BilateralMatching(MatchingConfig(12, 6, hidden=8, perspectives=2)).eval()

    def direction(states: Tensor, others: Tensor, last: Tensor, ways: torch.nn.ModuleList) -> list[list[float]]:
        rows = []
        for state in states:
            cosines = [cosine(state, other) for other in others]
            mean = sum(c * other for c, other in zip(cosines, others, strict=True))
            best = others[int(np.argmax(cosines))]
            row: list[float] = []
            for way, against in zip(ways, ([last], others, [mean], [best]), strict=True):
                for weights in way.weights:
                    row.append(max(cosine(weights * state, weights * other) for other in against))
            rows.append(row)
        return rows

    def read(tokens: list[int]) -> Tensor:
        return network.read.lstm(network.embedding(torch.tensor(tokens)))[0]

    def matched(states: Tensor, others: Tensor) -> Tensor:
        ahead = direction(states[:, :4], others[:, :4], others[-1, :4], network.forward_ways)
        back = direction(states[:, 4:], others[:, 4:], others[0, 4:], network.backward_ways)
        aggregated = network.aggregate.lstm(torch.tensor([a + b for a, b in zip(ahead, back, strict=True)]))[0]
        return torch.cat([aggregated[-1, :4], aggregated[0, 4:]])

    with torch.no_grad():
        first, second = read([1, 2, 3]), read([4, 5])
        there, back = matched(first, second), matched(second, first)
        pairs = torch.cat([there, back]), torch.cat([back, there])
        expected = sum(float(network.predict(pair)) for pair in pairs)
        got = network(*pad([[1, 2, 3], [6], [4, 5], [7, 8, 9, 10]]))
    assert got[0].item() == pytest.approx(expected, abs=1e-4)
