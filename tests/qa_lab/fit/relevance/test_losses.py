"""The losses of groups, worked by hand."""

import math

import pytest
import torch

from qa_lab.fit.relevance.losses import LARGEST, LossWeights, listwise, relevance_loss, teacher_error

UNKNOWN = float("nan")
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


def test_the_teacher_counts_where_it_has_read() -> None:
    targets = torch.tensor([0.0, 2.0, UNKNOWN])
    logits = torch.tensor([1.0, -1.0, 5.0], requires_grad=True)
    loss = teacher_error(logits, targets)  # (1 + 9) / 2
    loss.backward()
    assert float(loss.detach()) == 5.0
    assert logits.grad.tolist() == [1.0, -3.0, 0.0]
    assert float(teacher_error(logits.detach(), torch.full((3,), UNKNOWN))) == 0.0


def test_the_whole_is_the_weighted_sum() -> None:
    logits, labels, owners = torch.tensor([0.0, 0.0]), torch.tensor([1.0, 0.0]), torch.tensor([0, 0])
    weights = LossWeights(binary=1.0, listwise=0.5, teacher=0.25)
    alone = relevance_loss(logits, labels, owners, None, weights)
    assert float(alone) == pytest.approx(1.5 * math.log(2))  # both losses are log 2
    taught = relevance_loss(logits, labels, owners, torch.tensor([2.0, UNKNOWN]), weights)
    assert float(taught) == pytest.approx(1.5 * math.log(2) + 0.25 * 4)
