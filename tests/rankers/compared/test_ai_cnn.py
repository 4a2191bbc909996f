import numpy as np
import torch

from rankers.compared.ai_cnn import AICNN
from rankers.compared.shape import ComparedShape


def softmax(x: np.ndarray) -> np.ndarray:
    return np.exp(x) / np.exp(x).sum()


def test_the_tensor_of_interactions_by_hand(pair):
    torch.manual_seed(1)
    network = AICNN(4, ComparedShape("ai-cnn", hidden=3, filters=2, slices=2))
    first, first_mask, second, second_mask = pair
    with torch.no_grad():
        q = network.windows(first[:, :4], first_mask[:, :4])[0].numpy()
        a = network.windows(second[:, :3], second_mask[:, :3])[0].numpy()
        score = network(first, first_mask, second, second_mask)
    U = network.U.detach().numpy()
    tensor = np.array([[[np.tanh(x @ U[k] @ y) for k in range(2)] for y in a] for x in q])  # (T, S, r)
    vectors = []
    for states, largest, layer in ((q, tensor.max(1), 0), (a, tensor.max(0), 1)):
        weights = softmax(largest @ network.importance[layer].weight[0].detach().numpy())
        vectors.append(weights @ np.concatenate([states, largest], axis=1))
    expected = network.score(torch.tensor(np.concatenate(vectors), dtype=torch.float32)[None])
    torch.testing.assert_close(score, expected.detach(), rtol=1e-4, atol=1e-5)
