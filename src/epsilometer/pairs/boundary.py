"""The largest privacy loss of objective perturbation for logistic regression, and where it exceeds the claimed epsilon.

With noise of density ~ exp(-beta |b|) and m = n lam, the supremum of the privacy loss over all pairs and outputs, in two or
more dimensions, is the maximum of beta (1 + s) + log(1 + s (1 - s)/m) over 0 <= s <= 1. So Algorithm 2 of 2008, with
beta = epsilon/2, satisfies its claim for all data if and only if n lam epsilon >= 2.

Proof, with the case of one dimension and the calibration of CMS11: docs/proofs/boundary.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from epsilometer.core import Array, EpsilometerError, NeighbouringPair
from epsilometer.erm import LOGISTIC
from epsilometer.mechanisms.neighbours import labelled_records

ZOOMS = 14
"""The number of refinements of the grid in one dimension; each halves the spacing."""
EXCESS = 1e-12
"""The relative excess over epsilon that is attributed to rounding."""


def largest_log_ratio(rate: Any, n_lam: Any, d: int = 2) -> Array:
    """The supremum of |log p - log p'| over all pairs and outputs, for the logistic loss and noise ~ exp(-rate |b|).

    The supremum includes all n with this n lam. Arrays are broadcast and evaluated element by element.
    """
    beta, m = (np.asarray(values, dtype=float) for values in np.broadcast_arrays(rate, n_lam))
    if not (np.all(beta > 0) and np.all(m > 0)):
        raise EpsilometerError(f"the rate is {np.min(beta):g} and n lam is {np.min(m):g}; both must be above 0")
    if d < 1:
        raise EpsilometerError(f"d is {d}; it must be at least 1")
    return _supremum_on_line(beta.ravel(), m.ravel()).reshape(beta.shape) if d == 1 else _supremum_in_plane(beta, m)


def spent_by_2008(epsilon: Any, n_lam: Any, d: int = 2) -> Array:
    """The largest privacy loss of Algorithm 2 of 2008 at a claimed epsilon."""
    return largest_log_ratio(np.asarray(epsilon) / 2, n_lam, d)


def spent_by_cms11(epsilon: Any, n_lam: Any, d: int = 2) -> Array:
    """The largest privacy loss of CMS11's Algorithm 2 at a claimed epsilon, with extra regularisation where it is needed."""
    promised, m = (np.asarray(values, dtype=float) for values in np.broadcast_arrays(epsilon, n_lam))
    c = LOGISTIC.curvature_bound
    left = promised - 2 * np.log1p(c / m)
    rate = np.where(left > 0, left / 2, promised / 4)
    return largest_log_ratio(rate, np.where(left > 0, m, c / np.expm1(promised / 4)), d)


def least_n_lam(epsilon: float, d: int = 2) -> float:
    """The smallest n lam at which Algorithm 2 of 2008 satisfies its claim: 2/epsilon, and less in one dimension."""
    if not epsilon > 0:
        raise EpsilometerError(f"epsilon is {epsilon:g}; it must be above 0")
    if d >= 2:
        return 2 / epsilon
    from scipy.optimize import brentq

    def excess(log_n_lam: float) -> float:
        return float(spent_by_2008(epsilon, math.exp(log_n_lam), 1)) - epsilon

    return math.exp(brentq(excess, math.log(1e-3 / math.expm1(epsilon)), math.log(2 / epsilon), xtol=1e-9))


def boundary_table(epsilons: Sequence[float], n_lams: Sequence[float], d: int = 2) -> list[dict[str, Any]]:
    """For each epsilon and n lam: the largest loss of Algorithm 2 of 2008, and whether it exceeds epsilon."""
    grid = [(float(epsilon), float(n_lam)) for epsilon in epsilons for n_lam in n_lams]
    promised, strength = np.array(grid).T
    spent = spent_by_2008(promised, strength, d)
    return [
        {
            "epsilon": epsilon,
            "n_lam": n_lam,
            "spent": value,
            "exceeds": bool(value > epsilon * (1 + EXCESS)),
            "share": value / epsilon,
        }
        for (epsilon, n_lam), value in zip(grid, spent.tolist(), strict=True)
    ]


def undecided_record(n: int) -> tuple[NeighbouringPair, Array]:
    """A pair in one dimension, and the output 0, that can be verified by hand.

    The privacy loss of Algorithm 2 of 2008 there is log(1 + 1/(4 n lam + 100 (n - 1)/n^2)) + epsilon/4, which exceeds
    epsilon for n lam up to about 1/(3 epsilon). The n - 1 shared records at 10/n contribute almost 5 to b(0) and little
    curvature. The record -1 contributes -1/2 and a curvature of 1/4; the record 0 contributes nothing.
    """
    if n < 10:
        raise EpsilometerError(f"n is {n}; this pair needs at least 10 records")
    tiny, counts = ((10 / n,), 1.0), (n - 1.0, 1.0)
    first, second = (labelled_records([tiny, (record, 1.0)], counts) for record in ((-1.0,), (0.0,)))
    reason = "an undecided record against none, among many tiny ones that put the noise on its other side"
    return NeighbouringPair(first, second, "replace-one", reason), np.zeros(1)


def _supremum_in_plane(beta: Array, m: Array) -> Array:
    """The supremum in two or more dimensions; the root is written so that nothing cancels for small beta."""
    pull = np.minimum(1.0, 2 * (1 + beta * m) / (2 - beta + np.sqrt(4 + beta**2 * (1 + 4 * m))))
    return beta * (1 + pull) + np.log1p(pull * (1 - pull) / m)


def _supremum_on_line(beta: Array, m: Array) -> Array:
    """The supremum in one dimension, over log x and the log-length of the shorter record, on successively finer grids."""
    at_zero = beta / 2 + np.log1p(0.25 / m)  # x = 0 and p = 0, which a grid of logarithms does not contain
    best = np.maximum(at_zero, beta)
    for longer_is_right in (False, True):
        for sign in (1.0, -1.0):
            best = np.maximum(best, _zoom(beta, m, longer_is_right, sign))
    return best


def _zoom(beta: Array, m: Array, longer_is_right: bool, sign: float) -> Array:
    """The supremum for one of the four cases: which record has length 1, and which determinant is larger."""
    log_x, log_length = np.meshgrid(np.linspace(-5, 4, 28), np.linspace(-12, 0, 25), indexing="ij")
    x, length = (np.broadcast_to(grid.ravel(), (len(beta), grid.size)) for grid in (log_x, log_length))
    steps = 1 / 3, 1 / 2
    near = np.stack(np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 5)), axis=-1).reshape(-1, 2)
    best = np.full(len(beta), -np.inf)
    for zoom in range(ZOOMS):
        values = _line_value(np.exp(x), np.exp(length), beta[:, None], m[:, None], longer_is_right, sign)
        rows, at = np.arange(len(beta)), values.argmax(axis=1)
        best = np.maximum(best, values[rows, at])
        width = 2.0**-zoom
        x = x[rows, at][:, None] + width * steps[0] * near[:, 0]
        length = np.minimum(length[rows, at][:, None] + width * steps[1] * near[:, 1], 0.0)
    return best


def _line_value(x: Array, length: Array, beta: Array, m: Array, longer_is_right: bool, sign: float) -> Array:
    right, wrong = (np.ones_like(length), length) if longer_is_right else (length, np.ones_like(length))
    easy, hard = expit(-right * x), expit(wrong * x)
    determinants = np.log1p(wrong**2 * hard * (1 - hard) / m) - np.log1p(right**2 * easy * (1 - easy) / m)
    return beta * (right * easy + wrong * hard) + sign * determinants
