"""One batched solver for every restart of a fit.

The restarts of objective perturbation minimise

    J_r(w) = lam/2 |w|^2 + (1/n) sum_i log(1 + exp(-a_i . w)) + c_r . w,      a_i = y_i x_i,

which share everything but the linear term c_r, so they are solved as columns of one matrix:

1. damped Newton on the unperturbed problem (one column) gives an anchor;
2. damped Newton on a subsample of the rows, in single precision, brings every column close; the subsample's gradient is
   corrected so that it agrees with that of all rows at the anchor;
3. quasi-Newton steps on all rows, starting from the subsample's Hessian, first in single and then in double precision,
   finish the work: each costs one gradient and no Hessian;
4. whatever is left, in hard cases, goes through damped Newton on all rows.

A solution is returned only if its gradient, evaluated in double precision on all rows, is small enough.
"""

from __future__ import annotations

import numpy as np

from epsilometer.core import Array, EpsilometerError

TOLERANCE = 1e-9
"""Largest absolute gradient component of a returned solution."""

ROWS_AT_ONCE = 256  # a chunk of margins (rows x restarts) stays in the second-level cache
COARSE_ROWS = 1500  # rows of the subsample; more make its steps dearer, fewer make its Hessian worse


class NotConvergedError(EpsilometerError):
    """The solver could not bring every gradient below the tolerance."""


def minimise_logistic(signed: Array, lam: float, linear: Array, tolerance: float = TOLERANCE) -> Array:
    """The minimisers (restarts, d) of J_r, for rows a_i (n, d) and linear terms c_r (restarts, d)."""
    signed = np.ascontiguousarray(signed, dtype=np.float64)
    linear_columns = np.ascontiguousarray(np.atleast_2d(linear).T, dtype=np.float64)
    with np.errstate(over="ignore"):  # exp overflows to inf for a saturated record, whose weight is then rightly zero
        solutions = _minimise(signed, lam, linear_columns, tolerance)
    return np.ascontiguousarray(solutions.T)


def _minimise(signed: Array, lam: float, linear: Array, tolerance: float) -> Array:
    d, restarts = linear.shape
    anchor, anchor_inverse, residual = _newton(signed, lam, np.zeros((d, 1)), np.zeros((d, 1)), tolerance, np.float64)
    if not linear.any():
        _check(residual, tolerance)
        return np.repeat(anchor, restarts, axis=1)

    start = anchor - anchor_inverse[0] @ linear
    solutions, inverse = _coarse(signed, lam, linear, anchor, start)
    single_precision_floor = 3e-7 * (1 + np.abs(linear).max())
    solutions, _ = _quasi_newton(signed, lam, linear, solutions, inverse, single_precision_floor, np.float32)
    solutions, residual = _quasi_newton(signed, lam, linear, solutions, inverse, tolerance, np.float64)
    hard = residual > tolerance
    if hard.any():
        solutions[:, hard], _, residual[hard] = _newton(
            signed, lam, linear[:, hard], solutions[:, hard], tolerance, np.float64
        )
    _check(residual, tolerance)
    return solutions


def _check(residual: Array, tolerance: float) -> None:
    if not (residual <= tolerance).all():
        raise NotConvergedError(
            f"{np.sum(~(residual <= tolerance))} of {residual.size} fits did not converge: the largest gradient component "
            f"is {np.nanmax(residual):.2g}, the tolerance is {tolerance:.2g}; rescale the data or regularise more"
        )


def _coarse(signed: Array, lam: float, linear: Array, anchor: Array, start: Array) -> tuple[Array, Array]:
    """Solutions and inverse Hessians of a subsample of the rows, whose gradient is right at the anchor."""
    rows = signed[:: max(1, len(signed) // COARSE_ROWS)]
    pull, _ = _pull_and_curvature(rows, anchor, None)
    correction = pull - lam * anchor
    solutions, inverse, _ = _newton(rows, lam, linear + correction, start, 1e-3 * np.sqrt(lam), np.float32, max_steps=12)
    return solutions, inverse


def _newton(
    signed: Array, lam: float, linear: Array, start: Array, tolerance: float, dtype: type, max_steps: int = 100
) -> tuple[Array, Array, Array]:
    """Newton's method, each column's step halved until its gradient norm falls: globally convergent for J_r.

    Returns the solutions, the inverse Hessians there, and the largest gradient component of each.
    """
    rows: Array = signed.astype(dtype)
    products = _row_products(rows)

    def gradient_and_inverse(w: Array) -> tuple[Array, Array]:
        pull, curvature = _pull_and_curvature(rows, w.astype(dtype), products)
        inverse: Array = np.linalg.inv(_unpack(curvature, lam, len(w)))  # type: ignore[assignment]
        return lam * w + linear - pull, inverse

    here = start
    gradient, inverse = gradient_and_inverse(start)
    fraction = np.ones(linear.shape[1])
    for _ in range(max_steps):
        if (np.abs(gradient).max(axis=0) <= tolerance).all() or (fraction < 1e-10).all():
            break
        trial = here - fraction * np.einsum("rij,jr->ir", inverse, gradient)
        trial_gradient, trial_inverse = gradient_and_inverse(trial)
        norm, trial_norm = np.linalg.norm(gradient, axis=0), np.linalg.norm(trial_gradient, axis=0)
        better = trial_norm <= (1 - 1e-4 * fraction) * norm
        here = np.where(better, trial, here)
        gradient = np.where(better, trial_gradient, gradient)
        inverse = np.where(better[:, None, None], trial_inverse, inverse)
        fraction = np.where(better, 1.0, fraction / 2)
    return here, inverse, np.abs(gradient).max(axis=0)


def _quasi_newton(
    signed: Array, lam: float, linear: Array, start: Array, inverse: Array, tolerance: float, dtype: type
) -> tuple[Array, Array]:
    """BFGS steps of full length from a good inverse Hessian, which is improved in place; columns leave as they converge.

    A column whose gradient stops falling is left where it was best. In single precision a column also takes the step that
    its last gradient gives: the next stage measures what that was worth.
    """
    rows: Array = signed.astype(dtype)
    best = start.copy()
    residual = np.full(linear.shape[1], np.inf)
    active = np.arange(linear.shape[1])
    here, step, gradient = start, None, None
    for _ in range(12):
        pull, _ = _pull_and_curvature(rows, here.astype(dtype), None)
        new_gradient = lam * here + linear[:, active] - pull
        if step is not None and gradient is not None:
            inverse[active] = _bfgs_update(inverse[active], step, new_gradient - gradient)
        largest = np.abs(new_gradient).max(axis=0)
        improved = largest < residual[active]
        new_step = -np.einsum("rij,jr->ir", inverse[active], new_gradient)
        best[:, active[improved]] = (here + new_step if dtype is np.float32 else here)[:, improved]
        residual[active[improved]] = largest[improved]
        going_on = improved & (largest > tolerance)
        if not going_on.any():
            break
        active, gradient, step = active[going_on], new_gradient[:, going_on], new_step[:, going_on]
        here = here[:, going_on] + step
    return best, residual


def _bfgs_update(inverse: Array, step: Array, change: Array) -> Array:
    """The BFGS update of each column's inverse Hessian, for a step s and the change y that it made to the gradient."""
    s, y = step.T, change.T
    hy = np.einsum("rij,rj->ri", inverse, y)
    sy = np.einsum("ri,ri->r", s, y)
    sy = np.where(sy > 0, sy, np.inf)  # no update where rounding hides the curvature
    scale = (1 + np.einsum("ri,ri->r", y, hy) / sy) / sy
    cross = s[:, :, None] * hy[:, None, :] / sy[:, None, None]
    return inverse + scale[:, None, None] * s[:, :, None] * s[:, None, :] - cross - cross.transpose(0, 2, 1)


def _pull_and_curvature(rows: Array, w: Array, products: Array | None) -> tuple[Array, Array]:
    """The means of s_i a_i and, given the rows' products, of s_i (1 - s_i) a_i a_i^T, packed; s_i = 1/(1 + exp(a_i.w))."""
    pull = np.zeros(w.shape)
    curvature = np.zeros((0 if products is None else products.shape[1], w.shape[1]))
    buffer = np.empty((min(ROWS_AT_ONCE, len(rows)), w.shape[1]), dtype=w.dtype)
    for first in range(0, len(rows), ROWS_AT_ONCE):
        chunk = rows[first : first + ROWS_AT_ONCE]
        weight = buffer[: len(chunk)]
        np.dot(chunk, w, out=weight)
        np.exp(weight, out=weight)
        weight += 1
        np.reciprocal(weight, out=weight)
        pull += chunk.T @ weight
        if products is not None:
            weight -= weight * weight
            curvature += products[first : first + ROWS_AT_ONCE].T @ weight
    return pull / len(rows), curvature / len(rows)


def _row_products(rows: Array) -> Array:
    """The upper triangle of a_i a_i^T, one row each."""
    first, second = np.triu_indices(rows.shape[1])
    return rows[:, first] * rows[:, second]


def _unpack(curvature: Array, lam: float, d: int) -> Array:
    """Full Hessians (restarts, d, d) from packed upper triangles (d(d+1)/2, restarts)."""
    first, second = np.triu_indices(d)
    hessian = np.empty((curvature.shape[1], d, d))
    hessian[:, first, second] = hessian[:, second, first] = curvature.T
    hessian[:, np.arange(d), np.arange(d)] += lam
    return hessian
