"""Gradient descent without noise: the bound of Theorem 2, descent on the line, the worst function for the last iterate."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from epsilometer.core import Array


def convergence_bound(steps: int) -> float:
    """What E[F(theta_T) - F*] is at most, in units of |C| G, with eta(t) = |C|/(G sqrt(t)): 1.5 (2 + log(T+1))/sqrt(T+1).

    Shamir and Zhang 2013, Theorem 2, with the constant that their argument gives. Proof: docs/proofs/cs860.md.
    """
    return 1.5 * (2 + math.log(steps + 1)) / math.sqrt(steps + 1)


def descend(slope: Callable[[Array], Array], start: Array, steps: int, rate: float, radius: float) -> Array:
    """theta_T on the line for many starts: theta_t = Proj(theta_(t-1) - rate slope/sqrt(t)) onto [-radius, radius]."""
    theta = start
    for step in range(1, steps + 1):
        theta = np.clip(theta - rate / math.sqrt(step) * slope(theta), -radius, radius)
    return theta


def sign(theta: Array) -> Array:
    """A subgradient of |theta|; 1 at the kink."""
    return np.where(theta < 0, -1.0, 1.0)


def steps_until_small(n: int) -> int:
    """The number of steps after which every start has an excess n |theta| of |C| L = 2 or less, among the first (2n)^2."""
    theta, last = np.linspace(-1, 1, 201), 0
    for step in range(1, (2 * n) ** 2 + 1):
        theta = np.clip(theta - 2 / math.sqrt(step) * sign(theta), -1, 1)
        if np.max(n * np.abs(theta)) > 2:
            last = step
    return last + 1


def last_iterate(steps: int) -> float:
    """The T-th iterate's excess, in units of |C| G/sqrt(T), on the worst function of Harvey, Liaw, Plan and Randhawa 2019.

    F(w) = max over i <= T+1 of h_i.w in R^T, on the ball of radius 1/2, with h_i = (a_1, ..., a_(i-1), -b_i, 0, ...),
    a_j = 1/(8 (T-j+1)) and b_j = sqrt(j/T)/2; of equal terms the first leads. As F* <= 0, the excess is F(w_T) or more.
    Proof: docs/proofs/cs860.md.
    """
    order = np.arange(1, steps + 1)
    a, b = 1 / (8 * (steps - order + 1)), np.sqrt(order / steps) / 2

    def terms(w: Array) -> Array:
        return np.append(0.0, np.cumsum(a * w)) - np.append(b * w, 0.0)

    w = np.zeros(steps)
    for step in range(1, steps + 1):
        leading = int(np.argmax(terms(w)))
        gradient = np.where(order <= leading, a, 0.0)
        if leading < steps:
            gradient[leading] = -b[leading]
        w = w - gradient / math.sqrt(step)
        assert np.linalg.norm(w) <= 0.5  # so that there is nothing to project
    return float(np.max(terms(w))) * math.sqrt(steps)
