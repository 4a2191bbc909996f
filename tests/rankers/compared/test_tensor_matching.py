import numpy as np
import torch

from rankers.compared.shape import ComparedShape
from rankers.compared.tensor_matching import CNTN, NeuralTensor, k_max_pool


def test_the_largest_values_keep_their_order():
    states = torch.tensor([[[4.0, -1.0], [1.0, -2.0], [3.0, -3.0], [9.0, 9.0]]])
    mask = torch.tensor([[True, True, True, False]])
    assert k_max_pool(states, mask, 2).tolist() == [[[4.0, -1.0], [3.0, -2.0]]]
    assert k_max_pool(states, mask, 5)[0, :, 0].tolist() == [4.0, 1.0, 3.0, 0.0, 0.0]  # fewer words than values
    assert not k_max_pool(states, ~mask.logical_or(~mask), 3).any()


def test_a_neural_tensor_by_hand():
    torch.manual_seed(1)
    tensor = NeuralTensor(3, 2)
    M, b, V, u = (weight.detach().numpy() for weight in tensor.parameters())
    q, a = np.array([1.0, 2.0, -1.0]), np.array([0.5, -1.0, 2.0])
    slices = [q @ M[r] @ a + V[r] @ np.concatenate([q, a]) + b[r] for r in range(2)]
    expected = u[0] @ np.tanh(slices)
    scores = tensor(torch.tensor(q, dtype=torch.float32)[None], torch.tensor(a, dtype=torch.float32)[None])
    np.testing.assert_allclose(scores.detach(), [expected], rtol=1e-5)


def test_a_text_is_encoded_by_its_largest_filters(pair):
    torch.manual_seed(1)
    network = CNTN(4, ComparedShape(filters=2, hidden=3, window=1))
    vectors, mask, *_ = pair
    weight, bias = (weight.detach().numpy() for weight in network.windows.convolution.parameters())
    states = np.tanh(vectors[0, :4].numpy() @ weight[:, :, 0].T + bias)  # (4, F)
    rows = [np.sort(np.argsort(-states[:, f])[:3]) for f in range(2)]
    largest = np.stack([states[rows[f], f] for f in range(2)], axis=1)
    dense, offset = (weight.detach().numpy() for weight in network.dense.parameters())
    expected = np.tanh(dense @ largest.ravel() + offset)
    np.testing.assert_allclose(network.encode(vectors, mask)[0].detach(), expected, rtol=1e-4, atol=1e-6)
