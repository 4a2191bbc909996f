import numpy as np
import torch

from rankers.compared.arc import ArcI, ArcII
from rankers.compared.shape import ComparedShape


def relu(x):
    return np.maximum(x, 0)


def windows(rows: np.ndarray) -> list[np.ndarray]:
    """Each row with its neighbours, (3, D); zeros outside."""
    padded = np.pad(rows, ((1, 1), (0, 0)))
    return [padded[t : t + 3] for t in range(len(rows))]


def test_a_text_by_two_layers_by_hand(pair):
    torch.manual_seed(1)
    network = ArcI(4, ComparedShape("arc-i", filters=3))
    vectors, mask, *_ = pair
    maps = vectors[0, :4].numpy()
    for layer in (network.lower, network.upper):
        weight, bias = (weight.detach().numpy() for weight in layer.parameters())
        states = np.array([relu(np.einsum("fdk,kd->f", weight, window) + bias) for window in windows(maps)])
        maps = np.array([states[t : t + 2].max(0) for t in range(0, len(states), 2)])
    np.testing.assert_allclose(network.encode(vectors, mask)[0].detach(), maps.max(0), rtol=1e-4, atol=1e-6)


def test_the_grid_of_windows_by_hand(pair):
    torch.manual_seed(2)
    network = ArcII(4, ComparedShape("arc-ii", filters=3))
    first, first_mask, second, second_mask = pair
    (one, bias), (two,) = (tuple(w.detach().numpy() for w in x.parameters()) for x in (network.first, network.second))
    x = [np.einsum("fdk,kd->f", one, window) + bias for window in windows(first[0, :4].numpy())]
    y = [np.einsum("fdk,kd->f", two, window) for window in windows(second[0, :3].numpy())]
    grid = np.array([[relu(a + b) for b in y] for a in x])  # (4, 3, F)
    pooled = np.array([[grid[i : i + 2, j : j + 2].max((0, 1)) for j in (0, 2)] for i in (0, 2)])
    weight, bias = (weight.detach().numpy() for weight in network.upper.parameters())
    padded = np.pad(pooled, ((1, 1), (1, 1), (0, 0)))
    upper = [
        relu(np.einsum("gfij,ijf->g", weight, padded[i : i + 3, j : j + 3]) + bias) for i in range(2) for j in range(2)
    ]
    expected = network.score(torch.tensor(np.max(upper, axis=0), dtype=torch.float32)[None])
    torch.testing.assert_close(network(first, first_mask, second, second_mask), expected, rtol=1e-4, atol=1e-5)
