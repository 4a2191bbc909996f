import pytest
import torch
from torch.nn import functional

from generators.training.sampled_softmax import sampled_loss, tail_sample


def layer(words: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    z, weight, bias = torch.randn(6, 3), torch.randn(words, 3), torch.randn(words)
    return z, weight, bias, torch.tensor([0, 2, 5, words - 1, 7, 4])


def test_a_sample_of_all_rare_words_gives_the_full_softmax():
    z, weight, bias, target = layer(12)
    sample = tail_sample(12, 8, head=4)
    assert sorted(sample.tolist()) == list(range(4, 12))
    loss = sampled_loss(z, weight, bias, target, sample, head=4)
    # all rare words are in the sample, so the loss is exact
    assert loss.item() == pytest.approx(functional.cross_entropy(z @ weight.t() + bias, target).item(), abs=1e-6)


def test_a_sample_by_hand():
    z, weight, bias = torch.zeros(2, 1), torch.zeros(8, 1), torch.zeros(8)
    # words 0 and 1 always count; 3 of the 6 others are sampled, so each counts twice
    loss = sampled_loss(z, weight, bias, torch.tensor([0, 5]), torch.tensor([2, 3, 5]), head=2)
    frequent = torch.tensor(2.0 + 3 * 2).log()  # 8, the exact sum
    rare = torch.tensor(2.0 + 2 * 2 + 1).log()  # word 5 counts once, the two others twice
    assert loss.item() == pytest.approx((frequent + rare).item() / 2, abs=1e-6)


def test_the_mean_estimate_is_near_the_true_loss():
    z, weight, bias, target = layer(40)
    weight, bias = weight / 2, bias / 2
    true = functional.cross_entropy(z @ weight.t() + bias, target).item()
    losses = [sampled_loss(z, weight, bias, target, tail_sample(40, 12, head=4), head=4).item() for _ in range(300)]
    assert sum(losses) / len(losses) == pytest.approx(true, abs=0.08)


def test_samples_are_drawn_from_torchs_generator():
    torch.manual_seed(3)
    first = tail_sample(100, 5, head=10)
    torch.manual_seed(3)
    assert first.tolist() == tail_sample(100, 5, head=10).tolist()
    assert len(set(first.tolist())) == 5
    assert min(first.tolist()) >= 10
