import math

import pytest
import torch

from qa_core.networks.attention import GlobalAttention, attend, dot_scores, general_scores, masked_softmax

QUERIES = torch.tensor([[[1.0, 2.0]]])  # (1, 1, 2)
STATES = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]])  # (1, 3, 2)
MASK = torch.tensor([[True, True, False]])


def test_scores_by_hand():
    assert dot_scores(QUERIES, STATES).tolist() == [[[1.0, 2.0, 15.0]]]
    # h'ᵀ W = [1 2] [[0 1] [3 0]] = [6 1]
    assert general_scores(QUERIES, STATES, torch.tensor([[0.0, 1.0], [3.0, 0.0]])).tolist() == [[[6.0, 1.0, 35.0]]]


def test_general_scores_between_unlike_sizes():
    W_a = torch.randn(4, 2)
    queries = torch.randn(1, 3, 4)
    by_hand = [[float(h @ W_a @ s) for s in STATES[0]] for h in queries[0]]
    torch.testing.assert_close(general_scores(queries, STATES, W_a), torch.tensor([by_hand]))


def test_attend_by_hand():
    scores = torch.tensor([[[0.0, math.log(3), 99.0]]])
    contexts, weights = attend(scores, STATES, MASK)
    torch.testing.assert_close(weights, torch.tensor([[[0.25, 0.75, 0.0]]]))
    torch.testing.assert_close(contexts, torch.tensor([[[0.25, 0.75]]]))


def test_a_fully_masked_row_is_zero_and_so_is_its_gradient():
    scores = torch.randn(2, 1, 3, requires_grad=True)
    mask = torch.tensor([[True, False, True], [False, False, False]])
    contexts, weights = attend(scores, STATES.expand(2, -1, -1), mask)
    assert not contexts[1].any()
    assert weights.sum(-1).flatten().tolist() == pytest.approx([1.0, 0.0])
    contexts.sum().backward()
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_masked_softmax_leaves_no_weight_on_padding(dtype):
    weights = masked_softmax(torch.tensor([[-1e4, 7.0]], dtype=dtype), torch.tensor([[True, False]]))
    assert weights.tolist() == [[1.0, 0.0]]


def test_global_attention_by_hand():
    attention = GlobalAttention(2, 2, output_size=1)
    with torch.no_grad():
        attention.W_a.copy_(torch.zeros(2, 2))  # all scores equal: the context is the mean of real states
        attention.W_c.weight.copy_(torch.tensor([[1.0, 1.0, 0.5, -0.5]]))
    z, weights = attention(QUERIES, STATES, MASK)
    # c = (.5, .5), h' = (1, 2): .5 + .5 + .5 − 1
    torch.testing.assert_close(z, torch.tensor([[[math.tanh(0.5)]]]))
    torch.testing.assert_close(weights, torch.tensor([[[0.5, 0.5, 0.0]]]))


def test_padding_changes_nothing():
    torch.manual_seed(0)
    attention = GlobalAttention(2, 2)
    longer, _ = attention(QUERIES, STATES, MASK)
    shorter, _ = attention(QUERIES, STATES[:, :2], MASK[:, :2])
    torch.testing.assert_close(longer, shorter)
