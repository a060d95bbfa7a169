"""One batched solver for many fits on different parts of one pool of records: the shadow models of membership inference.

Fit i holds record j of the pool k_ij times, n_i = sum_j k_ij, and minimises

    J_i(w) = lam_i N(w) + (1/n_i) sum_j k_ij phi(a_j . w) + c_i . w,      a_j = y_j x_j.

The fits share the rows a_j but not the Hessians, so they are solved in blocks. A solution is returned only if every
component of its gradient, evaluated in double precision, is at most the tolerance. Algorithm: docs/proofs/solver.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError, require_positive
from epsilometer.erm.losses import SmoothLoss
from epsilometer.erm.objective import Objective
from epsilometer.erm.regularisers import QUADRATIC, Regulariser
from epsilometer.erm.solver import TOLERANCE, minimise

FITS_AT_ONCE = 128
ROWS_AT_ONCE = 512  # a chunk of margins (fits x rows) stays in the second-level cache
SHARES_AT_ONCE = 1 << 22  # 32 MB
SINGLE_STEPS, SMALLEST_FRACTION = 12, 0.1  # beyond these limits a fit continues in double precision
DOWNHILL_STEPS, HALVINGS = 200, 60


def minimise_shadows(
    loss: SmoothLoss,
    signed: Array,
    counts: NDArray[Any],
    lam: float | Array,
    linear: Array | None = None,
    regulariser: Regulariser = QUADRATIC,
    tolerance: float = TOLERANCE,
) -> Array:
    """The minimisers (fits, d) of J_i, for the pool's rows a_j (N, d) and counts k_ij (fits, N).

    Counts may be a mask; lam is one number or one for each fit; linear terms c_i (fits, d) are 0 unless given.
    """
    rows = np.ascontiguousarray(signed, dtype=np.float64)
    _require_counts(counts, rows)
    fits, d = len(counts), rows.shape[1]
    lams = _broadcast_lam(lam, fits)
    terms = np.zeros((fits, d)) if linear is None else _require_linear(linear, (fits, d))
    step = max(1, min(FITS_AT_ONCE, SHARES_AT_ONCE // len(rows)))
    solutions, residual = np.empty((fits, d)), np.empty(fits)
    with np.errstate(over="ignore"):  # exp(margin) overflows to inf for a saturated record, which is correct
        in_single, in_double = (_Pool.of(loss, regulariser, rows, dtype) for dtype in (np.float32, np.float64))
        anchor = _Anchor.of(in_double, float(np.median(lams)))
        for part in (slice(first, first + step) for first in range(0, fits, step)):
            single, double = (_Block.of(pool, counts[part], lams[part], terms[part]) for pool in (in_single, in_double))
            solutions[part], residual[part] = _solve(single, double, anchor, tolerance)
    for fit in np.flatnonzero(~(residual <= tolerance)):
        held = counts[fit] > 0
        alone = Objective(loss, rows[held], float(lams[fit]), regulariser, counts[fit, held].astype(float))
        solutions[fit] = minimise(alone, terms[fit], tolerance)[0]
    return solutions


def _require_counts(counts: NDArray[Any], rows: Array) -> None:
    if rows.ndim != 2 or counts.ndim != 2 or not len(counts) or counts.shape[1] != len(rows):
        raise EpsilometerError(
            f"the counts have shape {counts.shape} for rows of shape {rows.shape}; there must be one or more fits, "
            "and for each a count of every record of the pool"
        )
    if counts.dtype.kind not in "buif":
        raise EpsilometerError(f"the counts are of type {counts.dtype}; they must be numbers or a mask")
    if counts.size and not counts.min() >= 0:
        raise EpsilometerError(f"the smallest count is {counts.min():g}; a count must be 0 or above")
    totals = counts.sum(axis=1, dtype=np.float64)
    good = (totals > 0) & (totals < np.inf)
    if not good.all():
        fit = int(np.argmin(good))
        raise EpsilometerError(f"the counts of fit {fit + 1} sum to {totals[fit]:g}; every fit needs a record")


def _broadcast_lam(lam: float | Array, fits: int) -> Array:
    lams = np.asarray(lam, dtype=np.float64)
    if lams.shape not in ((), (fits,)):
        raise EpsilometerError(f"lam has shape {lams.shape}; it must be one number, or one for each of the {fits} fits")
    require_positive(lam=float(lams.max()))
    require_positive(lam=float(lams.min()))
    return np.broadcast_to(lams, (fits,))


def _require_linear(linear: Array, shape: tuple[int, int]) -> Array:
    if linear.shape != shape:
        raise EpsilometerError(
            f"the linear terms have shape {linear.shape}; they must have shape {shape}, a row for each fit"
        )
    if not np.isfinite(linear).all():
        raise EpsilometerError(f"a linear term is {linear[~np.isfinite(linear)][0]:g}; each must be finite")
    return np.asarray(linear, dtype=np.float64)


def _solve(single: _Block, double: _Block, anchor: _Anchor, tolerance: float) -> tuple[Array, Array]:
    """Solutions of a block and their largest gradient components."""
    solutions, inverse = _newton_in_single_precision(single, anchor, tolerance)
    solutions, residual = _iterate_chord(double, solutions, inverse, tolerance)
    left = np.flatnonzero(~(residual <= tolerance))
    if len(left):
        solutions[left], residual[left] = _damped_newton(double.take(left), solutions[left], tolerance)
    return solutions, residual


def _newton_in_single_precision(block: _Block, anchor: _Anchor, tolerance: float) -> tuple[Array, Array]:
    """Approximate solutions and the inverse Hessians there, by Newton's method in single precision from the anchor.

    A step is halved until the norm of the gradient decreases. Fits that have converged are not iterated further.
    """
    here = np.repeat(anchor.place[None], len(block.linear), axis=0)
    gradient, inverse = block.gradient_and_inverse_at(anchor)
    floor = np.maximum(tolerance, 3e-7 * (1 + np.abs(block.linear).max(axis=1)))
    fraction = np.ones(len(here))
    for _ in range(SINGLE_STEPS):
        left = np.flatnonzero((np.abs(gradient).max(axis=1) > floor) & (fraction >= SMALLEST_FRACTION))
        if not len(left):
            break
        before = gradient[left]
        trial = here[left] - fraction[left, None] * _multiply(inverse[left], before)
        trial_gradient, trial_inverse = block.take(left).gradient_and_inverse(trial)
        falls = np.linalg.norm(trial_gradient, axis=1) <= (1 - 1e-4 * fraction[left]) * np.linalg.norm(before, axis=1)
        better = left[falls]
        here[better], gradient[better], inverse[better] = trial[falls], trial_gradient[falls], trial_inverse[falls]
        fraction[left] = np.where(falls, 1.0, fraction[left] / 2)
    return here, inverse


def _iterate_chord(block: _Block, start: Array, inverse: Array, tolerance: float) -> tuple[Array, Array]:
    """The chord method: steps with fixed inverse Hessians, as long as each halves the largest gradient component.

    Every fit takes at least one step, so that its last digits are computed in double precision.
    """
    gradient = block.gradient(start)
    best, residual = start.copy(), np.abs(gradient).max(axis=1)
    left, here = np.arange(len(start)), start - _multiply(inverse, gradient)
    while len(left):
        gradient = block.take(left).gradient(here)
        largest = np.abs(gradient).max(axis=1)
        halved = largest <= residual[left] / 2
        best[left[halved]], residual[left[halved]] = here[halved], largest[halved]
        on = halved & (largest > tolerance)
        left, here = left[on], here[on] - _multiply(inverse[left[on]], gradient[on])
    return best, residual


def _damped_newton(block: _Block, start: Array, tolerance: float) -> tuple[Array, Array]:
    """Newton's method with a line search for sufficient decrease of J_i; converged fits are not iterated further."""
    here = start.copy()
    residual = np.full(len(start), np.inf)
    left = np.arange(len(start))
    for _ in range(DOWNHILL_STEPS):
        gradient, inverse = block.take(left).gradient_and_inverse(here[left])
        residual[left] = np.abs(gradient).max(axis=1)
        on = residual[left] > tolerance
        left = left[on]
        if not len(left):
            break
        step = -_multiply(inverse[on], gradient[on])
        here[left] += _step_fraction(block.take(left), here[left], step, gradient[on])[:, None] * step
    return here, residual


def _step_fraction(block: _Block, here: Array, step: Array, gradient: Array) -> Array:
    """The fraction t of each fit's step: 1, halved until J_i decreases by at least 0.05 t |s|.

    The slope of J_i along the step is s < 0 at 0 and non-decreasing. If it is at most -0.2 |s| at t/2 and at most 0.1 |s| at
    t, then J_i decreases by at least 0.2 |s| t/2 on the first half and increases by at most 0.1 |s| t/2 on the second. Only
    slopes are compared, because rounding hides small changes of J_i itself.
    """
    steepness = -np.einsum("ki,ki->k", gradient, step)
    fraction = np.ones(len(here))
    end = _directional_slope(block, here, step, fraction)
    left = np.arange(len(here))
    for _ in range(HALVINGS):
        middle = _directional_slope(block.take(left), here[left], step[left], fraction[left] / 2)
        short = ~((end <= 0.1 * steepness[left]) & (middle <= -0.2 * steepness[left]))
        left, end = left[short], middle[short]
        if not len(left):
            break
        fraction[left] /= 2
    return fraction


def _directional_slope(block: _Block, here: Array, step: Array, fraction: Array) -> Array:
    return np.einsum("ki,ki->k", block.gradient(here + fraction[:, None] * step), step)


@dataclass(frozen=True)
class _Pool:
    """The rows a_j of the pool and the packed upper triangles of a_j a_j^T, in single or double precision."""

    loss: SmoothLoss
    regulariser: Regulariser
    rows: Array
    products: Array

    @classmethod
    def of(cls, loss: SmoothLoss, regulariser: Regulariser, signed: Array, dtype: type) -> _Pool:
        rows: Array = signed.astype(dtype)
        first, second = np.triu_indices(rows.shape[1])
        return cls(loss, regulariser, rows, rows[:, first] * rows[:, second])


@dataclass(frozen=True)
class _Anchor:
    """The minimiser for the whole pool, at which every fit starts, and each record's gradient and Hessian there."""

    place: Array
    pulls: Array
    curvatures: Array

    @classmethod
    def of(cls, pool: _Pool, lam: float) -> _Anchor:
        origin = np.zeros((1, pool.rows.shape[1]))
        whole = _Block.of(pool, np.ones((1, len(pool.rows))), np.array([lam]), origin)
        place = _damped_newton(whole, origin, TOLERANCE)[0][0]
        margins = (pool.rows @ place)[:, None]
        pulls, curvatures = -pool.loss.slope(margins) * pool.rows, pool.loss.curvature(margins) * pool.products
        return cls(place, pulls.astype(np.float32), curvatures.astype(np.float32))


@dataclass(frozen=True)
class _Block:
    """A block of fits: their shares k_ij/n_i of every record, in the precision of the pool, lam_i and c_i."""

    pool: _Pool
    shares: Array
    lam: Array
    linear: Array

    @classmethod
    def of(cls, pool: _Pool, counts: NDArray[Any], lam: Array, linear: Array) -> _Block:
        shares = counts.astype(pool.rows.dtype)
        shares /= counts.sum(axis=1, dtype=np.float64, keepdims=True)
        return cls(pool, shares, lam[:, None], linear)

    def take(self, fits: NDArray[np.intp]) -> _Block:
        """The block of the fits with these indices."""
        if len(fits) == len(self.shares):
            return self
        return replace(self, shares=self.shares[fits], lam=self.lam[fits], linear=self.linear[fits])

    def gradient(self, w: Array) -> Array:
        """The gradients of J_i at the rows of w."""
        return self._gradient_from_pull(w, self._mean_pull_and_curvature(w, with_curvature=False)[0])

    def gradient_and_inverse(self, w: Array) -> tuple[Array, Array]:
        """The gradients and the inverse Hessians of J_i at the rows of w."""
        pull, curvature = self._mean_pull_and_curvature(w, with_curvature=True)
        return self._gradient_from_pull(w, pull), self._invert_hessian(w, curvature)

    def gradient_and_inverse_at(self, anchor: _Anchor) -> tuple[Array, Array]:
        """The gradients and the inverse Hessians of all J_i at the anchor, in single precision."""
        place = anchor.place[None]
        return self._gradient_from_pull(place, self.shares @ anchor.pulls), self._invert_hessian(
            place, self.shares @ anchor.curvatures
        )

    def _mean_pull_and_curvature(self, w: Array, with_curvature: bool) -> tuple[Array, Array]:
        """The means of s_j a_j, s_j = -phi'(a_j.w), and, on request, of the packed phi''(a_j.w) a_j a_j^T."""
        pool, small = self.pool, w.astype(self.shares.dtype)
        pull, curvature = np.zeros(w.shape), np.zeros((len(w), pool.products.shape[1]))
        for first in range(0, len(pool.rows), ROWS_AT_ONCE):
            chunk = slice(first, first + ROWS_AT_ONCE)
            shares = self.shares[:, chunk]
            margins = small @ pool.rows[chunk].T
            pool.loss.turn_into_pulls(margins)
            pull += (margins * shares) @ pool.rows[chunk]
            if with_curvature:
                pool.loss.turn_into_curvatures(margins)
                margins *= shares
                curvature += margins @ pool.products[chunk]
        return pull, curvature

    def _gradient_from_pull(self, w: Array, pull: Array) -> Array:
        return self.lam * self.pool.regulariser.gradient(w) + self.linear - pull

    def _invert_hessian(self, w: Array, curvature: Array) -> Array:
        d = w.shape[1]
        first, second = np.triu_indices(d)
        hessian = np.empty((len(curvature), d, d))
        hessian[:, first, second] = hessian[:, second, first] = curvature
        hessian += self.lam[:, :, None] * self.pool.regulariser.hessian(w)
        inverse: Array = np.linalg.inv(hessian)  # type: ignore[assignment]
        return inverse


def _multiply(matrices: Array, vectors: Array) -> Array:
    return np.einsum("kij,kj->ki", matrices, vectors)
