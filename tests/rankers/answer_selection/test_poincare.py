import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankers.answer_selection.poincare import RiemannianAdagrad, conformal, distance, into_ball, riemannian


def by_moebius(q, a):
    """`2 artanh ‖−q ⊕ a‖`, another formula of the same distance, in long doubles."""
    q, a = np.asarray(q, dtype=np.longdouble), np.asarray(a, dtype=np.longdouble)
    inner, qq, aa = -(q @ a), q @ q, a @ a
    added = ((1 + 2 * inner + aa) * -q + (1 - qq) * a) / (1 + 2 * inner + qq * aa)
    return 2 * np.arctanh(np.sqrt(added @ added))


def direction(rng, norm):
    point = rng.normal(size=8)
    return point / np.linalg.norm(point) * norm


def test_distances_by_hand():
    origin, half = torch.zeros(2), torch.tensor([0.5, 0.0])
    assert distance(origin, half).item() == pytest.approx(math.log(3))  # 2 artanh ½
    assert distance(-half, half).item() == pytest.approx(2 * math.log(3))  # along a line through the origin
    # arcosh(1 + 2 · ½ / ¾²)
    assert distance(half, torch.tensor([0.0, 0.5])).item() == pytest.approx(math.acosh(1 + 16 / 9))
    assert distance(half, half).item() == 0
    assert distance(torch.zeros(3, 1, 2), torch.zeros(4, 2)).shape == (3, 4)


@given(st.integers(0, 10_000), st.floats(0, 0.999), st.floats(0, 0.999))
@settings(max_examples=40)
def test_distances_equal_another_formula(seed, first, second):
    rng = np.random.default_rng(seed)
    q, a = direction(rng, first), direction(rng, second)
    assert distance(torch.tensor(q), torch.tensor(a)).item() == pytest.approx(
        float(by_moebius(q, a)), rel=1e-6, abs=1e-6
    )


@pytest.mark.parametrize("short", [1e-2, 1e-3, 1e-4, 1e-5])
def test_near_the_boundary_in_single_precision(short):
    rng = np.random.default_rng(1)
    for other in (0.0, 0.5, 1 - short):
        q, a = (torch.tensor(direction(rng, norm), dtype=torch.float32) for norm in (1 - short, other))
        q.requires_grad_()
        apart = distance(q, a)
        assert apart.item() == pytest.approx(float(by_moebius(q.detach().numpy(), a.numpy())), rel=1e-5)
        apart.backward()
        expected = equation_5(q.detach().double().numpy(), a.double().numpy())
        np.testing.assert_allclose(q.grad.numpy(), expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())


def equation_5(q, a):
    alpha, beta = 1 - q @ q, 1 - a @ a
    gamma = 1 + 2 / (alpha * beta) * ((q - a) @ (q - a))
    return 4 / (beta * np.sqrt(gamma**2 - 1)) * ((a @ a - 2 * q @ a + 1) / alpha**2 * q - a / alpha)


def test_gradients():
    rng = np.random.default_rng(2)
    q, a = (
        torch.tensor(np.stack([direction(rng, norm) for norm in (0.1, 0.6, 0.95)]), requires_grad=True) for _ in "qa"
    )
    assert torch.autograd.gradcheck(distance, (q, a))
    same = q.detach().clone().requires_grad_()
    distance(same, same.detach()).sum().backward()
    assert same.grad.abs().max() == 0  # no direction, and no NaN
    close = (q.detach() + 1e-9).requires_grad_()
    distance(close, q.detach()).sum().backward()
    assert close.grad.isfinite().all()
    wide = torch.tensor([[3.0, 4.0], [0.3, 0.4]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda points: into_ball(points, edge=0.1), (wide,))


def test_into_the_ball():
    points = torch.tensor([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0], [1e20, 0.0]])
    inside = into_ball(points, edge=0.1)
    np.testing.assert_allclose(inside.numpy(), [[0.54, 0.72], [0.3, 0.4], [0, 0], [0.9, 0]], rtol=1e-6)
    assert (into_ball(torch.randn(50, 4) * 10).norm(dim=-1) < 1).all()
    outside = torch.tensor([1.5, 0.0], requires_grad=True)  # outside the ball, yet finite
    apart = distance(outside, torch.zeros(2))
    apart.backward()
    assert apart.isfinite()
    assert outside.grad.isfinite().all()


def test_riemannian_gradients_by_hand():
    points = torch.tensor([[0.0, 0.0], [0.6, 0.0], [0.0, 0.8]], requires_grad=True)
    (riemannian(points) * torch.tensor([1.0, 2.0])).sum().backward()
    # (1 − ‖θ‖²)² / 4: ¼, .64² / 4, .36² / 4
    np.testing.assert_allclose(conformal(points.detach()).squeeze().numpy(), [0.25, 0.1024, 0.0324], rtol=1e-6)
    np.testing.assert_allclose(points.grad.numpy(), [[0.25, 0.5], [0.1024, 0.2048], [0.0324, 0.0648]], rtol=1e-6)


def test_steps_by_hand():
    point = torch.nn.Parameter(torch.tensor([[0.6, 0.0]]))
    free = torch.nn.Parameter(torch.tensor([2.0, 3.0]))
    groups = [{"params": [point], "ball": True}, {"params": [free], "l2": 0.5}]
    optimiser = RiemannianAdagrad(groups, learning_rate=0.1)
    point.grad, free.grad = torch.tensor([[3.0, -4.0]]), torch.tensor([1.0, -2.5])
    optimiser.step()
    # Riemannian (.3072, −.4096), root of the mean square .362; free: (1 + 1, −2.5 + 1.5) over their sizes
    np.testing.assert_allclose(point.detach().numpy(), [[0.6 - 0.06 * math.sqrt(2), 0.08 * math.sqrt(2)]], rtol=1e-5)
    np.testing.assert_allclose(free.detach().numpy(), [1.9, 3.1], rtol=1e-6)
    optimiser.step()
    step = 0.1 * 1.95 / math.sqrt(4 + 1.95**2)
    assert free[0].item() == pytest.approx(1.9 - step)
    plain = torch.nn.Parameter(torch.tensor([[0.6, 0.0]]))
    plain.grad = torch.tensor([[3.0, -4.0]])
    RiemannianAdagrad([plain], learning_rate=0.1, ball=True, adaptive=False).step()
    np.testing.assert_allclose(plain.detach().numpy(), [[0.6 - 0.03072, 0.04096]], rtol=1e-6)
    plain.grad = torch.tensor([[-1e6, 0.0]])
    RiemannianAdagrad([plain], learning_rate=1.0, ball=True, adaptive=False, edge=0.01).step()
    np.testing.assert_allclose(plain.detach().norm().numpy(), 0.99, rtol=1e-6)
    with pytest.raises(ValueError, match="positive learning rate, but got 0"):
        RiemannianAdagrad([plain], learning_rate=0.0)


@pytest.mark.parametrize("adaptive", [True, False])
def test_points_reach_their_target_inside_the_ball(adaptive):
    target = torch.tensor([[0.3, -0.4], [0.0, 0.9]])
    points = torch.nn.Parameter(torch.tensor([[-0.7, 0.7], [0.1, -0.2]]))
    optimiser = RiemannianAdagrad([points], learning_rate=0.3 if adaptive else 0.2, ball=True, adaptive=adaptive)
    for _ in range(150):
        optimiser.zero_grad()
        distance(points, target).square().sum().backward()
        optimiser.step()
        assert (points.norm(dim=-1) < 1).all()
    np.testing.assert_allclose(points.detach().numpy(), target.numpy(), atol=5e-2)
