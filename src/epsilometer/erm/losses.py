"""Losses: functions of the margin z = y w.x, and the distance to a point.

A record has norm at most 1, so a margin loss with |phi'| <= L is L-Lipschitz in w, and one with phi'' <= c has a Hessian of
rank one whose eigenvalue is at most c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.special import expit

from epsilometer.core import Array, EpsilometerError, require_positive


class MarginLoss(Protocol):
    """A convex function phi of the margin."""

    @property
    def name(self) -> str:
        """The name of the loss in messages."""

    @property
    def lipschitz(self) -> float:
        """The largest |phi'|."""

    def value(self, margins: Array) -> Array:
        """phi(z)."""

    def slope(self, margins: Array) -> Array:
        """phi'(z); at a kink, a subgradient."""


@runtime_checkable
class SmoothLoss(MarginLoss, Protocol):
    """A margin loss with a continuous derivative that is differentiable almost everywhere."""

    @property
    def curvature_bound(self) -> float:
        """c, the largest phi''."""

    @property
    def bounded_slope(self) -> bool:
        """Whether `lipschitz` holds for every margin, not only on a ball."""

    def curvature(self, margins: Array) -> Array:
        """phi''(z), where it exists."""

    def turn_into_pulls(self, margins: Array) -> None:
        """Replace margins by s = -phi'(z), in place; called in the solver's inner loop, in single or double precision."""

    def turn_into_curvatures(self, pulls: Array) -> None:
        """Replace the pulls s = -phi'(z) by phi''(z), in place; for the losses here s determines phi''(z)."""


@dataclass(frozen=True)
class Logistic:
    """phi(z) = log(1 + e^-z); L = 1, c = 1/4 (nips08)."""

    name = "logistic loss"
    lipschitz = 1.0
    curvature_bound = 0.25
    bounded_slope = True

    def value(self, margins: Array) -> Array:
        return np.logaddexp(0.0, -margins)

    def slope(self, margins: Array) -> Array:
        return -expit(-margins)

    def curvature(self, margins: Array) -> Array:
        return expit(margins) * expit(-margins)

    def turn_into_pulls(self, margins: Array) -> None:
        np.exp(margins, out=margins)  # inf for a saturated record; its pull is then 0, which is correct
        margins += 1
        np.reciprocal(margins, out=margins)

    def turn_into_curvatures(self, pulls: Array) -> None:
        pulls -= pulls * pulls


@dataclass(frozen=True)
class Huber:
    """The hinge with its kink rounded over 1 - h <= z <= 1 + h; L = 1, c = 1/(2h) (Chaudhuri, Monteleoni and Sarwate 2011).

    phi(z) = 0 above the rounding, (1 + h - z)^2/(4h) within, 1 - z below. The second derivative jumps at z = 1 - h and
    z = 1 + h.
    """

    width: float = 0.5
    name = "Huber loss"
    lipschitz = 1.0
    bounded_slope = True

    def __post_init__(self) -> None:
        require_positive(width=self.width)

    @property
    def curvature_bound(self) -> float:
        return 1 / (2 * self.width)

    def value(self, margins: Array) -> Array:
        h = self.width
        return np.where(margins < 1 - h, 1 - margins, np.maximum(1 + h - margins, 0.0) ** 2 / (4 * h))

    def slope(self, margins: Array) -> Array:
        return -np.clip((1 + self.width - margins) / (2 * self.width), 0.0, 1.0)

    def curvature(self, margins: Array) -> Array:
        return np.where(np.abs(1 - margins) <= self.width, self.curvature_bound, 0.0)

    def turn_into_pulls(self, margins: Array) -> None:
        np.subtract(1 + self.width, margins, out=margins)
        margins *= self.curvature_bound
        np.clip(margins, 0.0, 1.0, out=margins)

    def turn_into_curvatures(self, pulls: Array) -> None:
        pulls[...] = np.where((pulls > 0) & (pulls < 1), self.curvature_bound, 0.0)


@dataclass(frozen=True)
class Squared:
    """phi(z) = (1 - z)^2, which is (w.x - y)^2 for labels -1 and 1; c = 2, and L = 2 (1 + radius) where |w| <= radius."""

    radius: float
    name = "squared loss"
    curvature_bound = 2.0
    bounded_slope = False

    def __post_init__(self) -> None:
        require_positive(radius=self.radius)

    @property
    def lipschitz(self) -> float:
        return 2 * (1 + self.radius)

    def value(self, margins: Array) -> Array:
        return (1 - margins) ** 2

    def slope(self, margins: Array) -> Array:
        return -2 * (1 - margins)

    def curvature(self, margins: Array) -> Array:
        return np.full_like(margins, self.curvature_bound)

    def turn_into_pulls(self, margins: Array) -> None:
        np.subtract(1, margins, out=margins)
        margins *= 2

    def turn_into_curvatures(self, pulls: Array) -> None:
        pulls.fill(self.curvature_bound)


@dataclass(frozen=True)
class Hinge:
    """phi(z) = max(0, 1 - z), the support vector machine's; L = 1, with a kink at z = 1 (cs860)."""

    name = "hinge loss"
    lipschitz = 1.0

    def value(self, margins: Array) -> Array:
        return np.maximum(0.0, 1 - margins)

    def slope(self, margins: Array) -> Array:
        return np.where(margins < 1, -1.0, 0.0)


@dataclass(frozen=True)
class Distance:
    """|w - x| for unlabelled points x, whose mean the geometric median minimises; L = 1, with a kink at x (cs860)."""

    name = "distance to a point"
    lipschitz = 1.0


Loss = MarginLoss | Distance
LOGISTIC = Logistic()


def require_smooth(loss: Loss) -> SmoothLoss:
    """The loss; an error unless its derivative is continuous and bounded, which objective perturbation requires."""
    if not isinstance(loss, SmoothLoss):
        raise EpsilometerError(
            f"the {loss.name} is not differentiable everywhere, so objective perturbation protects nothing with it; "
            "take output perturbation, or the Huber loss"
        )
    if not loss.bounded_slope:
        raise EpsilometerError(
            f"the {loss.name} has a bounded slope on a ball only, which the noise of objective perturbation leaves; "
            "take output perturbation, or a loss with a bounded slope"
        )
    return loss
