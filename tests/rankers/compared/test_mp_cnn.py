import numpy as np
import torch

from rankers.compared.mp_cnn import MPCNN, compare, compare_units
from rankers.compared.shape import ComparedShape


def test_blocks_and_their_comparison_by_hand(pair):
    """Filters by loops over windows, one text at a time, in numpy."""
    torch.manual_seed(1)
    network = MPCNN(4, ComparedShape(window=2, filters=3, single=2))
    vectors, mask, *_ = pair
    words = vectors[0, :4].numpy()
    blocks = network.blocks(vectors, mask)
    for row, width in enumerate((1, 2)):
        padded = np.concatenate([np.zeros((width - 1, 4)), words])
        weight, bias = (weight.detach().numpy() for weight in network.holistic[row].convolution.parameters())
        states = [np.tanh(np.einsum("fdw,wd->f", weight, padded[t : t + width]) + bias) for t in range(4)]
        expected = [np.max(states, 0), np.min(states, 0), np.mean(states, 0)]
        np.testing.assert_allclose(blocks.holistic[0, :, row].detach(), expected, rtol=1e-4, atol=1e-6)
        weight, bias = (weight.detach().numpy() for weight in network.single[row].convolution.parameters())
        for dimension in range(4):
            for k in range(2):
                number = 2 * dimension + k
                column = [
                    np.tanh(weight[number, 0] @ padded[t : t + width, dimension] + bias[number]) for t in range(4)
                ]
                expected = [max(column), min(column)]
                np.testing.assert_allclose(blocks.single[0, :, row, k, dimension].detach(), expected, rtol=1e-4)
    np.testing.assert_allclose(blocks.whole[0], [words.max(0), words.min(0), words.mean(0)], rtol=1e-5)


def test_units_of_comparison():
    x, y = torch.tensor([[3.0, 4.0]]), torch.tensor([[4.0, 3.0]])
    cosine, distance = compare(x, y)
    torch.testing.assert_close((cosine.item(), distance.item()), (24 / 25, 2**0.5), rtol=1e-5, atol=0)
    assert compare_units(x, y)[2].tolist() == [[1.0, 1.0]]
