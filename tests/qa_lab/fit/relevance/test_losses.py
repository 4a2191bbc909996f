"""The losses of groups, worked by hand."""

import math

import pytest
import torch

from qa_lab.fit.relevance.losses import LARGEST, LISTWISE, listwise, relevance_loss

LOGITS = torch.tensor([math.log(3), 0.0, 0.0, math.log(4), 1.0])
LABELS = torch.tensor([1.0, 0.0, 0.0, 1.0, 0.0])
OWNERS = torch.tensor([0, 0, 1, 1, 2])


def test_the_right_passage_is_compared_with_its_group() -> None:
    # groups (3, 1), (1, 4) and (e): the right ones have 3/4 and 4/5; the last group has none and does not count
    expected = -(math.log(3 / 4) + math.log(4 / 5)) / 2
    assert float(listwise(LOGITS, LABELS, OWNERS)) == pytest.approx(expected)


def test_groups_without_a_right_passage_alone_give_nothing() -> None:
    logits = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = listwise(logits, torch.zeros(2), torch.tensor([0, 0]))
    loss.backward()
    assert (float(loss.detach()), logits.grad.tolist()) == (0.0, [0.0, 0.0])


def test_large_logits_are_cut_in_the_softmax() -> None:
    logits = torch.tensor([-1000.0, 1000.0])
    loss = listwise(logits, torch.tensor([1.0, 0.0]), torch.tensor([0, 0]))
    assert float(loss) == pytest.approx(2 * LARGEST)


def test_the_whole_is_the_weighted_sum() -> None:
    logits, labels, owners = torch.tensor([0.0, 0.0]), torch.tensor([1.0, 0.0]), torch.tensor([0, 0])
    whole = relevance_loss(logits, labels, owners)
    assert float(whole) == pytest.approx((1 + LISTWISE) * math.log(2)), "both losses are log 2"
