import math

import pytest
import torch
from torch.autograd import gradcheck

from qa_core.networks.losses import (
    Affine,
    in_batch_cross_entropy,
    in_batch_softmax,
    pairwise_cross_entropy,
    sampled_softmax,
    slam_softmax,
    triplet,
)

# cosines of three questions (rows) and three answers; question 1 scores a wrong answer far above its own
R = torch.tensor([[0.5, 0.25, 0.0], [0.75, 0.25, 0.5], [0.0, 0.125, 1.0]], dtype=torch.float64)


def logsumexp(*numbers: float) -> float:
    return math.log(sum(math.exp(number) for number in numbers))


def test_slam_by_hand():
    """s = 2, m_a = .25, m_s = .25. ψ = .25, 0, .75, so sψ = .5, 0, 1.5.

    Rows: row 0 keeps both negatives (.25 and 0 are at most .75); in row 1 .75 > .5 is dropped and .5, a tie, stays; row
    2 keeps both. Columns: column 0 drops nothing (.75 is a tie with .5 + .25); columns 1 and 2 keep all.
    """
    rows = logsumexp(0.5, 0.5, 0.0) - 0.5 + logsumexp(0.0, 1.0) - 0.0 + logsumexp(1.5, 0.0, 0.25) - 1.5
    columns = logsumexp(0.5, 1.5, 0.0) - 0.5 + logsumexp(0.0, 0.5, 0.25) - 0.0 + logsumexp(1.5, 0.0, 1.0) - 1.5
    loss = slam_softmax(R, scale=2.0, margin=0.25, filter_margin=0.25)
    assert loss.item() == pytest.approx((rows + columns) / 3, abs=1e-12)


def test_a_filtered_negative_has_no_gradient_and_a_tie_has():
    r = R.clone().requires_grad_()
    only_rows = slam_softmax(r, scale=2.0, margin=0.25, filter_margin=0.25, allowed=None)
    (gradient,) = torch.autograd.grad(only_rows, r)
    # cell (1, 0) is filtered in its row; the rest of its gradient comes from column 0, in which .75 is a tie
    column = torch.softmax(torch.tensor([0.5, 1.5, 0.0], dtype=torch.float64), 0)  # sψ_0, s r_10, s r_20
    assert gradient[1, 0].item() == pytest.approx(2 / 3 * column[1].item(), abs=1e-12)
    lower = R.clone()
    lower[1, 0] += 1e-9  # no longer a tie in column 0 either
    (gradient,) = torch.autograd.grad(slam_softmax(lower.requires_grad_(), filter_margin=0.25), lower)
    assert gradient[1, 0].item() == 0.0


def test_the_filter_never_drops_the_positive():
    worst = torch.tensor([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]], requires_grad=True)
    loss = slam_softmax(worst, filter_margin=0.0)
    assert loss.item() == 0.0  # nothing but the positive is left
    loss.backward()
    assert torch.equal(worst.grad, torch.zeros(3, 3))
    everything_right = torch.zeros(3, 3, dtype=torch.bool)
    assert slam_softmax(R, allowed=everything_right).item() == 0.0


def test_the_margin_asks_for_more_than_a_higher_score():
    right = torch.eye(3, dtype=torch.float64) * 0.1  # each answer is ahead of the others by .1
    losses = [slam_softmax(right, margin=margin).item() for margin in (0.0, 0.05, 0.1, 0.2)]
    assert losses == sorted(losses)
    # margin and lead are equal: the positive is worth as much as each of the two negatives
    assert losses[2] == pytest.approx(2 * math.log(3), abs=1e-12)


def test_hard_negatives_count_for_questions_alone():
    wide = torch.cat([R, torch.tensor([[0.5], [-1.0], [-1.0]], dtype=torch.float64)], dim=1)
    extra = slam_softmax(wide, scale=2.0, margin=0.25, filter_margin=0.25) - slam_softmax(
        R, scale=2.0, margin=0.25, filter_margin=0.25
    )
    rows = logsumexp(0.5, 0.5, 0.0, 1.0) - logsumexp(0.5, 0.5, 0.0)
    rows += logsumexp(0.0, 1.0, -2.0) - logsumexp(0.0, 1.0) + logsumexp(1.5, 0.0, 0.25, -2.0) - logsumexp(1.5, 0, 0.25)
    assert extra.item() == pytest.approx(rows / 3, abs=1e-12)


def test_sampled_softmax_takes_the_next_columns_around():
    one = sampled_softmax(R, negatives=1, scale=2.0).item()  # columns 1, 2, 0
    by_hand = logsumexp(1.0, 0.5) - 1.0 + logsumexp(0.5, 1.0) - 0.5 + logsumexp(2.0, 0.0) - 2.0
    assert one == pytest.approx(by_hand / 3, abs=1e-12)
    all_of_them = sampled_softmax(R, negatives=20, scale=2.0)
    assert all_of_them.item() == pytest.approx(in_batch_softmax(2.0 * R).item(), abs=1e-12)


def test_in_batch_softmax_by_hand():
    rows = logsumexp(0.5, 0.25, 0.0) - 0.5 + logsumexp(0.75, 0.25, 0.5) - 0.25 + logsumexp(0.0, 0.125, 1.0) - 1.0
    assert in_batch_softmax(R).item() == pytest.approx(rows / 3, abs=1e-12)


def test_in_batch_cross_entropy_by_hand():
    cells = sum(math.log1p(math.exp(-R[i, j] if i == j else R[i, j])) for i in range(3) for j in range(3))
    assert in_batch_cross_entropy(R).item() == pytest.approx(cells / 9, abs=1e-12)
    selected = torch.zeros(3, 3, dtype=torch.bool)
    positives = sum(math.log1p(math.exp(-R[i, i])) for i in range(3))
    assert in_batch_cross_entropy(R, allowed=selected).item() == pytest.approx(positives / 3, abs=1e-12)


def test_triplet_by_hand():
    # max(0, .5 − .5 + .25), max(0, .5 − .25 + .75), max(0, .5 − 1 + .125)
    assert triplet(R).item() == pytest.approx((0.25 + 1.0 + 0.0) / 3, abs=1e-12)
    selected = torch.tensor([[1, 0, 0], [0, 1, 1], [1, 1, 1]], dtype=torch.bool)  # row 0 has no negative left
    assert triplet(R, allowed=selected).item() == pytest.approx((0.0 + 0.75 + 0.0) / 3, abs=1e-12)


def test_triplet_with_one_negative_by_hand():
    # the columns after the diagonal, cyclically: r_01, r_12, r_20
    by_hand = [max(0.0, 0.5 - float(R[i, i]) + float(R[i, j])) for i, j in ((0, 1), (1, 2), (2, 0))]
    assert triplet(R, negative="one").item() == pytest.approx(sum(by_hand) / 3, abs=1e-12)
    selected = torch.tensor([[1, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=torch.bool)  # row 0 has none, row 1 its first
    by_hand = [0.0, max(0.0, 0.5 - float(R[1, 1]) + float(R[1, 0])), by_hand[2]]
    assert triplet(R, allowed=selected, negative="one").item() == pytest.approx(sum(by_hand) / 3, abs=1e-12)


def test_pairwise_cross_entropy_by_hand():
    logits, labels = torch.tensor([0.0, 2.0, -1.0]), torch.tensor([1, 0, 0])
    by_hand = math.log(2) + math.log1p(math.exp(2)) + math.log1p(math.exp(-1))
    assert pairwise_cross_entropy(logits, labels).item() == pytest.approx(by_hand / 3, abs=1e-6)


def test_affine_is_learned():
    affine = Affine(alpha=3.0, beta=-1.0)
    logits = affine(torch.tensor([0.5, -1.0]))
    assert logits.tolist() == [0.5, -4.0]
    logits.sum().backward()
    assert (affine.alpha.grad.item(), affine.beta.grad.item()) == (-0.5, 2.0)


KEPT = torch.tensor([[1, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 1]], dtype=torch.bool)
LOSSES = {
    "slam": lambda r: slam_softmax(r, scale=4.0, allowed=KEPT),
    "slam, filter off": lambda r: slam_softmax(r, scale=4.0, filter_margin=math.inf),
    "sampled softmax": lambda r: sampled_softmax(r, negatives=2, scale=4.0, allowed=KEPT),
    "in-batch softmax": lambda r: in_batch_softmax(r, allowed=KEPT),
    "in-batch cross-entropy": lambda r: in_batch_cross_entropy(r, allowed=KEPT),
    "triplet": lambda r: triplet(r, allowed=KEPT),
    "pairwise": lambda r: pairwise_cross_entropy(r[0], torch.tensor([1, 0, 0, 1])),
    "affine": lambda r: in_batch_softmax(Affine(alpha=2.0).double()(r)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_of_finite_differences(name: str):
    r = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(3)) / 2
    assert gradcheck(LOSSES[name], (r.requires_grad_(),))


@pytest.mark.parametrize("shape", [(3,), (3, 2), (0, 4)])
def test_scores_without_a_column_for_each_answer_are_refused(shape: tuple[int, ...]):
    with pytest.raises(ValueError, match="M ≥ N ≥ 1"):
        slam_softmax(torch.zeros(shape))
