"""The Poincaré ball: distance, projection into it, and gradients as Riemannian ones.

Tay, Tuan and Hui 2018 (HyperQA), equations 4, 5, 8 and 9; Nickel and Kiela 2017. Points are the last dimension of
tensors and have a norm below 1. Everything is computed in double precision: at a norm of 1 − 1e−5 the rounding of a
float32 norm alone would move `1 − ‖θ‖²` by a percent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, overload

import torch
from torch import Tensor, nn

EDGE = 1e-5
"""How far inside the boundary points are kept."""

_TINY = 1e-30  # of arcosh's argument above 1: below, the slope of its root would overflow


def distance(q: Tensor, a: Tensor) -> Tensor:
    """`d(q, a) = arcosh(1 + 2‖q − a‖² / ((1 − ‖q‖²)(1 − ‖a‖²)))`: (..., D) and (..., D) to (...), in float64.

    Of two points in one place the distance is 0 and so is the gradient, where the true one has no direction.
    """
    q, a = q.double(), a.double()
    squared = (q - a).square().sum(-1)
    excess: Tensor = 2 * squared / (_inside(q) * _inside(a))  # x, arcosh(1 + x) = log1p(x + √(x (x + 2)))
    x = excess.clamp(min=_TINY)
    apart = torch.log1p(x + (x * (x + 2)).sqrt())
    return torch.where(excess >= _TINY, apart, torch.zeros_like(apart))


def into_ball(points: Tensor, *, edge: float = EDGE) -> Tensor:
    """Points (..., D) of norm above `1 − edge` scaled to that norm, the others as they are; in float64."""
    points = points.double()
    most = 1 - edge
    norms: Tensor = points.norm(dim=-1, keepdim=True)
    kept: Tensor = points * most / norms.clamp(min=most)
    return kept


def conformal(points: Tensor) -> Tensor:
    """`(1 − ‖θ‖²)² / 4`, the inverse of the metric at points of the ball: (..., D) to (..., 1), in float64."""
    return _inside(points.double()).square().unsqueeze(-1) / 4


def riemannian(points: Tensor) -> Tensor:
    """The same points; the gradient that flows back through them is the Riemannian one, `(1 − ‖θ‖²)²/4 ∇_E`."""
    return _Riemannian.apply(points)  # type: ignore[no-any-return, no-untyped-call] # torch leaves it without annotations


class RiemannianAdagrad(torch.optim.Optimizer):
    """AdaGrad, with the rows of some parameters as points of the ball.

    A group with `ball` set holds parameters (..., D) whose rows live in the ball: their Euclidean gradient is turned
    into the Riemannian one, AdaGrad's step is taken, and the retraction is the projection into the ball. With one rate
    for a whole row (the root of the mean of its squared gradients) the step keeps the direction of the Riemannian
    gradient. Other groups are plain AdaGrad, a rate for each number.
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
        """`l2` adds `l2 · θ` to the Euclidean gradient; without `adaptive` it is (Riemannian) gradient descent."""
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
        """One step; a closure has no use here."""
        assert closure is None, "gradients are computed once a step"
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, parameter.grad + group["l2"] * parameter, group)
        return None

    def _update(self, parameter: nn.Parameter, gradient: Tensor, group: dict[str, Any]) -> None:
        if not group["ball"]:
            parameter.sub_(group["lr"] * self._scaled(parameter, gradient, group, by_row=False))
            return
        towards = self._scaled(parameter, conformal(parameter) * gradient.double(), group, by_row=True)
        parameter.copy_(into_ball(parameter.double() - group["lr"] * towards, edge=group["edge"]))

    def _scaled(self, parameter: nn.Parameter, gradient: Tensor, group: dict[str, Any], *, by_row: bool) -> Tensor:
        """The gradient over the root of the sum of its squares so far."""
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
    """`1 − ‖θ‖²`, (...); a point on the boundary or outside counts as one that is just inside."""
    return (1 - points.square().sum(-1)).clamp(min=1e-15)
