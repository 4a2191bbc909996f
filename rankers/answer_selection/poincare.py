"""The Poincaré ball: distance, projection and Riemannian gradients.

Tay, Tuan and Hui (2018, HyperQA), equations 4, 5, 8 and 9; Nickel and Kiela (2017). The last dimension of a tensor is a
point, of norm below 1. All computations are in double precision: at a norm of 1 − 1e−5, rounding a norm to float32
would change `1 − ‖θ‖²` by a percent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, overload

import torch
from torch import Tensor, nn

EDGE = 1e-5
"""Minimum distance of points from the boundary."""

_TINY = 1e-30  # minimum excess of the argument of arcosh over 1; below it, the slope of the root would overflow


def distance(q: Tensor, a: Tensor) -> Tensor:
    """`d(q, a) = arcosh(1 + 2‖q − a‖² / ((1 − ‖q‖²)(1 − ‖a‖²)))`: (..., D) and (..., D) to (...), in float64.

    Equal points have distance 0 and gradient 0, where the true gradient is undefined.
    """
    q, a = q.double(), a.double()
    squared = (q - a).square().sum(-1)
    excess: Tensor = 2 * squared / (_inside(q) * _inside(a))  # x, arcosh(1 + x) = log1p(x + √(x (x + 2)))
    x = excess.clamp(min=_TINY)
    apart = torch.log1p(x + (x * (x + 2)).sqrt())
    return torch.where(excess >= _TINY, apart, torch.zeros_like(apart))


def into_ball(points: Tensor, *, edge: float = EDGE) -> Tensor:
    """Points (..., D) in float64, scaled to norm `1 − edge` if their norm is above it."""
    points = points.double()
    limit = 1 - edge
    norms: Tensor = points.norm(dim=-1, keepdim=True)
    projected: Tensor = points * limit / norms.clamp(min=limit)
    return projected


def conformal(points: Tensor) -> Tensor:
    """`(1 − ‖θ‖²)² / 4`, the inverse of the metric at points of the ball: (..., D) to (..., 1), in float64."""
    return _inside(points.double()).square().unsqueeze(-1) / 4


def riemannian(points: Tensor) -> Tensor:
    """The same points, whose gradient is turned into the Riemannian one, `(1 − ‖θ‖²)²/4 ∇_E`."""
    return _Riemannian.apply(points)  # type: ignore[no-any-return, no-untyped-call] # torch leaves it without annotations


class RiemannianAdagrad(torch.optim.Optimizer):
    """AdaGrad, in which the rows of some parameters are points of the ball.

    In a group with `ball`, the rows of parameters (..., D) are points of the ball: a step turns their gradient into the
    Riemannian one and projects the result into the ball. A row has one rate (the root of the mean of its squared
    gradients), so the step keeps the direction of the Riemannian gradient. Other groups use plain AdaGrad.
    """

    def __init__(
        self,
        parameters: Iterable[Any],
        *,
        learning_rate: float = 0.1,
        l2: float = 0.0,
        edge: float = EDGE,
        ball: bool = False,
        adaptive: bool = True,
    ) -> None:
        """`l2` adds `l2 · θ` to the Euclidean gradient; without `adaptive` the steps are plain gradient descent."""
        if not learning_rate > 0:
            raise ValueError(f"Expected a positive learning rate, but got {learning_rate}.")
        defaults = {"lr": learning_rate, "l2": l2, "edge": edge, "ball": ball, "adaptive": adaptive}
        super().__init__(parameters, defaults)

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], float]) -> float: ...
    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """One step, without a closure."""
        assert closure is None, "gradients are computed once per step"
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, parameter.grad + group["l2"] * parameter, group)
        return None

    def _update(self, parameter: nn.Parameter, gradient: Tensor, group: dict[str, Any]) -> None:
        if not group["ball"]:
            parameter.sub_(group["lr"] * self._scaled(parameter, gradient, group, by_row=False))
            return
        direction = self._scaled(parameter, conformal(parameter) * gradient.double(), group, by_row=True)
        parameter.copy_(into_ball(parameter.double() - group["lr"] * direction, edge=group["edge"]))

    def _scaled(self, parameter: nn.Parameter, gradient: Tensor, group: dict[str, Any], *, by_row: bool) -> Tensor:
        """The gradient divided by the root of the sum of its squares so far."""
        if not group["adaptive"]:
            return gradient
        squares = gradient.square().mean(-1, keepdim=True) if by_row else gradient.square()
        state = self.state[parameter]
        state["sum"] = state["sum"] + squares if "sum" in state else squares
        root: Tensor = state["sum"].sqrt()
        return gradient / root.where(root > 0, 1.0)


class _Riemannian(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, points: Tensor) -> Tensor:
        ctx.save_for_backward(points)
        return points.view_as(points)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (points,) = ctx.saved_tensors
        return (conformal(points) * gradients[0]).to(gradients[0].dtype)


def _inside(points: Tensor) -> Tensor:
    """`1 − ‖θ‖²`, (...), at least a tiny positive number."""
    return (1 - points.square().sum(-1)).clamp(min=1e-15)
