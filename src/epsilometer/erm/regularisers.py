"""Regularisers N(w): twice differentiable and strongly convex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from epsilometer.core import Array, EpsilometerError


class Regulariser(Protocol):
    """A function of w, for many w at once: the rows of an array (k, d)."""

    @property
    def strong_convexity(self) -> float:
        """A lower bound on the eigenvalues of every Hessian, above 0."""

    def value(self, w: Array) -> Array:
        """N of each row, (k,)."""

    def gradient(self, w: Array) -> Array:
        """The gradients, (k, d)."""

    def hessian(self, w: Array) -> Array:
        """The Hessians, (k, d, d), or (d, d) where they are all the same."""


@dataclass(frozen=True)
class Quadratic:
    """N(w) = |w|^2/2."""

    strong_convexity = 1.0

    def value(self, w: Array) -> Array:
        return np.einsum("ki,ki->k", w, w) / 2

    def gradient(self, w: Array) -> Array:
        return w

    def hessian(self, w: Array) -> Array:
        return np.eye(w.shape[1])


@dataclass(frozen=True)
class DiagonalQuadratic:
    """N(w) = sum_j k_j w_j^2 / 2, with a factor k_j for each coordinate."""

    factors: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.factors or not all(0 < factor < np.inf for factor in self.factors):
            raise EpsilometerError(f"the factors are {self.factors}; there must be some, and each a number above 0")

    @property
    def strong_convexity(self) -> float:
        return min(self.factors)

    def value(self, w: Array) -> Array:
        return w**2 @ self._checked_factors(w) / 2

    def gradient(self, w: Array) -> Array:
        return w * self._checked_factors(w)

    def hessian(self, w: Array) -> Array:
        return np.diag(self._checked_factors(w))

    def _checked_factors(self, w: Array) -> Array:
        if w.shape[1] != len(self.factors):
            raise EpsilometerError(f"there are {len(self.factors)} factors for {w.shape[1]} coordinates")
        return np.array(self.factors)


QUADRATIC = Quadratic()
