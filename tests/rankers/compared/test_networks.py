import pytest
import torch

from rankers.compared.networks import NETWORKS, network_of
from rankers.compared.shape import ComparedShape


@pytest.mark.parametrize("name", NETWORKS)
def test_scores_do_not_read_the_padding_and_gradients_reach_all_weights(name, pair):
    first, first_mask, second, second_mask = pair
    torch.manual_seed(1)
    network = network_of(4, ComparedShape(name, hidden=6, filters=5)).eval()
    scores = network(first, first_mask, second, second_mask)
    assert scores.shape == (1,)
    cut = network(first[:, :4], first_mask[:, :4], second[:, :3], second_mask[:, :3])
    torch.testing.assert_close(cut, scores, rtol=1e-4, atol=1e-5)
    scores.sum().backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in network.parameters())
    matrices = [weight for weight in network.parameters() if weight.dim() > 1]
    assert all(weight.grad.abs().sum() > 0 for weight in matrices)


def test_bad_shapes_are_refused():
    with pytest.raises(ValueError, match="hidden = 0, window = -1, dropout = 1"):
        network_of(4, ComparedShape(hidden=0, window=-1, dropout=1))
