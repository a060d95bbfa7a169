"""What objective perturbation of logistic regression really spends, and where that is more than it promises.

The output w of objective perturbation has the density h(b(w)) |det n Hess J(w)|, with h(b) ~ exp(-beta |b|) and
b(w) = -n lam w + sum_i s_i a_i, n Hess J(w) = n lam I + sum_i s_i (1 - s_i) a_i a_i^T. Here a_i = y_i x_i, |a_i| <= 1, and
s_i = sigma(-a_i.w), in (0, 1), is a record's pull: the logistic loss has slope -s and curvature s (1 - s). Let D and D'
differ in the records a and a', with pulls s and s', and write m = n lam.

An upper bound, in any dimension. b' - b = s' a' - s a, so |b'| - |b| <= s' + s <= 1 + s. The determinants are that of the
shared part M >= m I times 1 + s (1 - s) a^T M^-1 a <= 1 + s (1 - s)/m, and times 1 + s' (1 - s') a'^T M^-1 a' >= 1. So

    log p(w|D) - log p(w|D') <= sup_s G(s),  G(s) = beta (1 + s) + log(1 + s (1 - s)/m),  0 <= s <= 1.

The supremum is approached in the plane, hence in all d >= 2. Let w = (W, 0), a = (z/W, ~1) with sigma(-z) = s, and
a' = (-A/W, ~-1): for 1 << A << W, s' is nearly 1, without curvature, and a' is nearly -a. Shared records of length z0/W near
the first axis balance n lam W; they are curved along that axis only, which M^-1 does not show to a. Tilted a little, they
also pull b below zero on the second axis, so that b and b' have the direction of b' - b. This takes
n >= n lam W^2/0.278 records, so it needs a large n: for given n and lam the bound holds, but is approached only as lam
becomes small; `pairs.search` shows how far.

G is concave, with G'(s) = beta + (1 - 2s)/(m + s (1 - s)). It is greatest at the root of beta s^2 + (2 - beta) s =
1 + beta m, or at s = 1 if the root is not below 1, which is to say if G'(1) = beta - 1/m >= 0. Then sup G = 2 beta.

Algorithm 2 of 2008 has beta = epsilon/2. Hence it keeps its promise for all data if and only if

    n lam epsilon >= 2.

Below that it exceeds epsilon: just below, at n lam = 2 (1 - t)/epsilon, by about t^2 epsilon/(8 + 2 epsilon), and for small
n lam and epsilon by about log(1/(4 n lam)) - epsilon/4.

On the line, a > 0 > a' without loss of generality (of two on one side, turn round the one that pulls less: the curvature,
being even, stays, and the gradients differ more), and w = x >= 0. With p the length of the record that is
right there, and q that of the one that is wrong,

    sup beta (p sigma(-p x) + q sigma(q x)) + |log (m + p^2 k(p x)) - log (m + q^2 k(q x))|,  k(z) = sigma(z) sigma(-z),

is approached: many tiny records place b anywhere and curve nothing (k records of length r pull with k r/2, and curve with
k r^2/4). Multiplying p and q by a factor and dividing x by it increases all of this, so the longer has length 1. The first
term alone reaches 1.0517 beta, at x = 4.04 and p = 0.317.

CMS11 has beta = epsilon/2 - log(1 + 1/(4m)), so that sup G <= 2 beta + log(1 + 1/(4m)) = epsilon - log(1 + 1/(4m)); with the
extra regularisation, 3/4 epsilon.
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
"""How often the search on the line looks closer, each time at a third of the range."""
EXCESS = 1e-12
"""What rounding may add to a share of 1."""


def largest_log_ratio(rate: Any, n_lam: Any, d: int = 2) -> Array:
    """The supremum of |log p - log p'| over all pairs and outputs: the logistic loss, and noise of density ~ exp(-rate |b|).

    It is over all n with this n lam; arrays are taken element by element.
    """
    beta, m = (np.asarray(values, dtype=float) for values in np.broadcast_arrays(rate, n_lam))
    if not (np.all(beta > 0) and np.all(m > 0)):
        raise EpsilometerError(f"the rate is {np.min(beta):g} and n lam is {np.min(m):g}; both must be above 0")
    if d < 1:
        raise EpsilometerError(f"d is {d}; it must be at least 1")
    return _on_the_line(beta.ravel(), m.ravel()).reshape(beta.shape) if d == 1 else _in_the_plane(beta, m)


def spent_by_2008(epsilon: Any, n_lam: Any, d: int = 2) -> Array:
    """What Algorithm 2 of 2008 really spends at a promised epsilon."""
    return largest_log_ratio(np.asarray(epsilon) / 2, n_lam, d)


def spent_by_cms11(epsilon: Any, n_lam: Any, d: int = 2) -> Array:
    """What CMS11's Algorithm 2 really spends, regularising more where it must."""
    promised, m = (np.asarray(values, dtype=float) for values in np.broadcast_arrays(epsilon, n_lam))
    c = LOGISTIC.curvature_bound
    left = promised - 2 * np.log1p(c / m)
    rate = np.where(left > 0, left / 2, promised / 4)
    return largest_log_ratio(rate, np.where(left > 0, m, c / np.expm1(promised / 4)), d)


def least_n_lam(epsilon: float, d: int = 2) -> float:
    """The n lam from which on Algorithm 2 of 2008 keeps its promise: 2/epsilon, and less on the line."""
    if not epsilon > 0:
        raise EpsilometerError(f"epsilon is {epsilon:g}; it must be above 0")
    if d >= 2:
        return 2 / epsilon
    from scipy.optimize import brentq

    def excess(log_n_lam: float) -> float:
        return float(spent_by_2008(epsilon, math.exp(log_n_lam), 1)) - epsilon

    return math.exp(brentq(excess, math.log(1e-3 / math.expm1(epsilon)), math.log(2 / epsilon), xtol=1e-9))


def boundary_table(epsilons: Sequence[float], n_lams: Sequence[float], d: int = 2) -> list[dict[str, Any]]:
    """For each epsilon and n lam: what Algorithm 2 of 2008 spends, whether that exceeds epsilon, and as a share of it."""
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
    """A pair on the line, and the output 0, at which 2008 spends log(1 + 1/(4 n lam + 100 (n - 1)/n^2)) + epsilon/4.

    n - 1 records at 10/n pull b up by almost 5 and hardly curve the risk; the record -1 pulls b down by 1/2 and has a
    curvature of 1/4; a record at 0 does neither. This exceeds epsilon for n lam up to about 1/(3 epsilon), and can be worked
    out by hand.
    """
    if n < 10:
        raise EpsilometerError(f"n is {n}; this pair needs at least 10 records")
    tiny, counts = ((10 / n,), 1.0), (n - 1.0, 1.0)
    first, second = (labelled_records([tiny, (record, 1.0)], counts) for record in ((-1.0,), (0.0,)))
    reason = "an undecided record against none, among many tiny ones that put the noise on its other side"
    return NeighbouringPair(first, second, "replace-one", reason), np.zeros(1)


def _in_the_plane(beta: Array, m: Array) -> Array:
    """sup G, with the root written so that nothing cancels where beta is small."""
    pull = np.minimum(1.0, 2 * (1 + beta * m) / (2 - beta + np.sqrt(4 + beta**2 * (1 + 4 * m))))
    return beta * (1 + pull) + np.log1p(pull * (1 - pull) / m)


def _on_the_line(beta: Array, m: Array) -> Array:
    """The supremum over log x and log of the shorter length, on a grid and then on ever finer ones."""
    at_zero = beta / 2 + np.log1p(0.25 / m)  # x = 0 and p = 0, which logarithms leave out
    best = np.maximum(at_zero, beta)
    for longer_is_right in (False, True):
        for sign in (1.0, -1.0):
            best = np.maximum(best, _zoomed(beta, m, longer_is_right, sign))
    return best


def _zoomed(beta: Array, m: Array, longer_is_right: bool, sign: float) -> Array:
    """One of the four forms: which record has length 1, and which of the determinants is the larger."""
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
