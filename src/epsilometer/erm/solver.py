"""One batched solver for every restart of a fit.

The restarts of objective perturbation minimise

    J_r(w) = lam N(w) + (1/n) sum_i k_i phi(a_i . w) + c_r . w,      a_i = y_i x_i,

and differ only in the linear term c_r, so they are solved as columns of one matrix. A solution is returned only if every
component of its gradient, evaluated in double precision on all rows, is at most the tolerance; otherwise the solver raises
an error. Algorithm, and the proof that this test suffices: docs/proofs/solver.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from epsilometer.core import Array, EpsilometerError
from epsilometer.erm.losses import LOGISTIC
from epsilometer.erm.objective import Objective

TOLERANCE = 1e-9
"""Largest absolute gradient component of a returned solution."""

ROWS_AT_ONCE = 256  # a chunk of margins (rows x restarts) stays in the second-level cache
MARGINS_AT_ONCE = 1 << 16
COARSE_ROWS = 1500  # rows of the subsample: a trade-off between the cost of a step and the error of the Hessian
NEWTON_STEPS = (8, 8, 16, 32, 64, 128)  # after each number of steps, only columns that have not converged continue
LINE_SEARCHES = 200


class NotConvergedError(EpsilometerError):
    """The solver could not bring every gradient below the tolerance."""


def minimise_logistic(signed: Array, lam: float, linear: Array, tolerance: float = TOLERANCE) -> Array:
    """The minimisers for the logistic loss and N(w) = |w|^2/2; rows a_i (n, d) and linear terms c_r (restarts, d)."""
    return minimise(Objective(LOGISTIC, signed, lam), linear, tolerance)


def minimise(objective: Objective, linear: Array, tolerance: float = TOLERANCE) -> Array:
    """The minimisers (restarts, d) of J_r, for linear terms c_r (restarts, d)."""
    problem = replace(objective, signed=np.ascontiguousarray(objective.signed, dtype=np.float64))
    columns = np.ascontiguousarray(np.atleast_2d(linear).T, dtype=np.float64)
    rows = len(problem.signed)
    step = max(1, MARGINS_AT_ONCE // min(ROWS_AT_ONCE, rows))
    with np.errstate(over="ignore"):  # exp(margin) overflows to inf for a saturated record, which is correct
        if rows <= ROWS_AT_ONCE:
            parts = [_solve_few_rows(problem, columns[:, i : i + step], tolerance) for i in range(0, columns.shape[1], step)]
        else:
            parts = _solve_many_rows(
                problem, [columns[:, i : i + step] for i in range(0, columns.shape[1], step)], tolerance
            )
    solutions, residuals = (np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))
    _require_converged(residuals, tolerance)
    return np.ascontiguousarray(solutions.T)


def minimise_roughly(objective: Objective, linear: Array, gradient_norm: float) -> Array:
    """Approximate minimisers (restarts, d): the first iterates with |grad J_r| <= gradient_norm.

    Nesterov's accelerated gradient descent from 0, with the step size 1/S, where S bounds the eigenvalues of the Hessian.
    """
    linear = np.atleast_2d(linear).astype(float)
    largest = _largest_curvature(objective)
    ratio = math.sqrt(largest / objective.strong_convexity)
    momentum = (ratio - 1) / (ratio + 1)
    solutions = np.full(linear.shape, np.nan)
    active = np.arange(len(linear))
    here = before = np.zeros(linear.shape)
    for _ in range(100 + int(200 * ratio)):
        gradient = objective.gradient(here) + linear[active]
        done = np.linalg.norm(gradient, axis=1) <= gradient_norm
        solutions[active[done]] = here[done]
        going_on = ~done
        if not going_on.any():
            return solutions
        active, after = active[going_on], (here - gradient / largest)[going_on]
        here, before = after + momentum * (after - before[going_on]), after
    raise NotConvergedError(
        f"{len(active)} of {len(linear)} fits did not reach a gradient of norm {gradient_norm:.2g}; allow a larger one"
    )


def _largest_curvature(objective: Objective) -> float:
    """An upper bound on the eigenvalues of the Hessian of J, for a regulariser with a constant Hessian."""
    hessian = objective.regulariser.hessian(np.zeros((1, objective.signed.shape[1])))
    return objective.loss.curvature_bound + objective.lam * float(np.linalg.eigvalsh(hessian).max())


def _solve_few_rows(problem: Objective, linear: Array, tolerance: float) -> tuple[Array, Array]:
    """Solutions and largest gradient components, by Newton's method from 0, where the logistic loss is most curved."""
    solutions, residual = _newton_in_stretches(problem, linear, np.zeros_like(linear), tolerance)
    return _finish_hard_columns(problem, linear, solutions, residual, tolerance)


def _solve_many_rows(problem: Objective, parts: list[Array], tolerance: float) -> list[tuple[Array, Array]]:
    """Solutions and largest gradient components for each block of restarts."""
    d = len(parts[0])
    anchor, anchor_inverse, residual = _newton(problem, np.zeros((d, 1)), np.zeros((d, 1)), tolerance, np.float64)
    found = []
    for linear in parts:
        if linear.any():
            found.append(_solve_from_anchor(problem, linear, anchor, anchor_inverse, tolerance))
        else:
            solutions, residuals = np.repeat(anchor, linear.shape[1], axis=1), np.repeat(residual, linear.shape[1])
            found.append(_finish_hard_columns(problem, linear, solutions, residuals, tolerance))
    return found


def _solve_from_anchor(
    problem: Objective, linear: Array, anchor: Array, anchor_inverse: Array, tolerance: float
) -> tuple[Array, Array]:
    start = anchor - anchor_inverse[0] @ linear
    solutions, inverse = _solve_subsample(problem, linear, anchor, start)
    single_precision_floor = 3e-7 * (1 + np.abs(linear).max())
    solutions, _ = _quasi_newton(problem, linear, solutions, inverse, single_precision_floor, np.float32)
    solutions, residual = _quasi_newton(problem, linear, solutions, inverse, tolerance, np.float64)
    hard = residual > tolerance
    if hard.any():
        solutions[:, hard], residual[hard] = _newton_in_stretches(
            problem, linear[:, hard], np.zeros((len(linear), hard.sum())), tolerance
        )
    return _finish_hard_columns(problem, linear, solutions, residual, tolerance)


def _finish_hard_columns(
    problem: Objective, linear: Array, solutions: Array, residual: Array, tolerance: float
) -> tuple[Array, Array]:
    """The solutions and residuals, after Newton steps with an exact line search for columns that have not converged."""
    hard = ~(residual <= tolerance)
    if hard.any():
        solutions[:, hard], residual[hard] = _newton_along_lines(problem, linear[:, hard], solutions[:, hard], tolerance)
    return solutions, residual


def _require_converged(residual: Array, tolerance: float) -> None:
    if not (residual <= tolerance).all():
        raise NotConvergedError(
            f"{np.sum(~(residual <= tolerance))} of {residual.size} fits did not converge: the largest gradient component "
            f"is {np.nanmax(residual):.2g}, the tolerance is {tolerance:.2g}; rescale the data or regularise more"
        )


def _solve_subsample(problem: Objective, linear: Array, anchor: Array, start: Array) -> tuple[Array, Array]:
    """Solutions and inverse Hessians for a subsample of the rows, corrected to have the exact gradient at the anchor."""
    every = slice(None, None, max(1, len(problem.signed) // COARSE_ROWS))
    weights = None if problem.weights is None else problem.weights[every]
    sample = replace(problem, signed=problem.signed[every], weights=weights)
    pull, _ = _Rows.of(sample, np.float64).pull_and_curvature(anchor)
    correction = pull - _regulariser_gradient(problem, anchor)
    tolerance = 1e-3 * np.sqrt(problem.strong_convexity)
    solutions, inverse, _ = _newton(sample, linear + correction, start, tolerance, np.float32, max_steps=12)
    return solutions, inverse


def _newton_in_stretches(problem: Objective, linear: Array, start: Array, tolerance: float) -> tuple[Array, Array]:
    """Solutions and largest gradient components by damped Newton; converged columns are not iterated further."""
    solutions = start.copy()
    residual = np.full(linear.shape[1], np.inf)
    for max_steps in NEWTON_STEPS:
        left = np.flatnonzero(~(residual <= tolerance))
        if not len(left):
            break
        solutions[:, left], _, residual[left] = _newton(
            problem, linear[:, left], solutions[:, left], tolerance, np.float64, max_steps
        )
    return solutions, residual


def _newton(
    problem: Objective, linear: Array, start: Array, tolerance: float, dtype: type, max_steps: int = 100
) -> tuple[Array, Array, Array]:
    """Newton's method; each column's step is halved until its gradient norm decreases. Globally convergent for J_r.

    Returns the solutions, the inverse Hessians there, and the largest gradient component of each.
    """
    rows = _Rows.of(problem, dtype, with_products=True)
    here = start
    gradient, inverse = _gradient_and_inverse(rows, linear, start)
    fraction = np.ones(linear.shape[1])
    for _ in range(max_steps):
        if (np.abs(gradient).max(axis=0) <= tolerance).all() or (fraction < 1e-10).all():
            break
        trial = here - fraction * np.einsum("rij,jr->ir", inverse, gradient)
        trial_gradient, trial_inverse = _gradient_and_inverse(rows, linear, trial)
        norm, trial_norm = np.linalg.norm(gradient, axis=0), np.linalg.norm(trial_gradient, axis=0)
        better = trial_norm <= (1 - 1e-4 * fraction) * norm
        here = np.where(better, trial, here)
        gradient = np.where(better, trial_gradient, gradient)
        inverse = np.where(better[:, None, None], trial_inverse, inverse)
        fraction = np.where(better, 1.0, fraction / 2)
    return here, inverse, np.abs(gradient).max(axis=0)


def _newton_along_lines(problem: Objective, linear: Array, start: Array, tolerance: float) -> tuple[Array, Array]:
    """Newton's method with an exact line search; converged columns are not iterated further."""
    rows = _Rows.of(problem, np.float64, with_products=True)
    solutions, residual = start.copy(), np.full(linear.shape[1], np.inf)
    active = np.arange(linear.shape[1])
    for _ in range(LINE_SEARCHES):
        here = solutions[:, active]
        gradient, inverse = _gradient_and_inverse(rows, linear[:, active], here)
        residual[active] = np.abs(gradient).max(axis=0)
        going_on = residual[active] > tolerance
        if not going_on.any():
            break
        active, here = active[going_on], here[:, going_on]
        step = -np.einsum("rij,jr->ir", inverse[going_on], gradient[:, going_on])
        solutions[:, active] = here + _best_fraction(problem, linear[:, active], here, step) * step
    return solutions, residual


def _best_fraction(problem: Objective, linear: Array, here: Array, step: Array) -> Array:
    """The fraction, at most 1, of each column's step that minimises J_r along it, by bisection of the slope."""

    def slope(fraction: Array) -> Array:
        there = here + fraction * step
        gradient = problem.gradient(there.T).T + linear
        return np.einsum("ir,ir->r", gradient, step)

    low, high = np.zeros(here.shape[1]), np.ones(here.shape[1])
    low[slope(high) <= 0] = 1.0
    while (high - low > 1e-9 * high).any():
        middle = (low + high) / 2
        falling = slope(middle) <= 0
        low, high = np.where(falling, middle, low), np.where(falling, high, middle)
    return high


def _gradient_and_inverse(rows: _Rows, linear: Array, w: Array) -> tuple[Array, Array]:
    """The gradients of J_r at the columns of w, and the inverses of its Hessians."""
    problem = rows.problem
    pull, curvature = rows.pull_and_curvature(w.astype(rows.plain.dtype))
    hessian = _unpack(curvature, len(w)) + problem.lam * problem.regulariser.hessian(w.T)
    return _regulariser_gradient(problem, w) + linear - pull, _invert(hessian)


def _quasi_newton(
    problem: Objective, linear: Array, start: Array, inverse: Array, tolerance: float, dtype: type
) -> tuple[Array, Array]:
    """Full BFGS steps from a good inverse Hessian, which is updated in place; converged columns are not iterated further.

    A column stops, at its best iterate, when its gradient no longer decreases. In single precision the last step is taken
    without evaluating its gradient; the next stage evaluates it in double precision.
    """
    rows = _Rows.of(problem, dtype)
    best = start.copy()
    residual = np.full(linear.shape[1], np.inf)
    active = np.arange(linear.shape[1])
    here, step, gradient = start, None, None
    for _ in range(12):
        pull, _ = rows.pull_and_curvature(here.astype(dtype))
        new_gradient = _regulariser_gradient(problem, here) + linear[:, active] - pull
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
    """The BFGS update of each column's inverse Hessian, for a step s and the resulting change y of the gradient."""
    s, y = step.T, change.T
    hy = np.einsum("rij,rj->ri", inverse, y)
    sy = np.einsum("ri,ri->r", s, y)
    sy = np.where(sy > 0, sy, np.inf)  # no update where rounding hides the curvature
    scale = (1 + np.einsum("ri,ri->r", y, hy) / sy) / sy
    cross = s[:, :, None] * hy[:, None, :] / sy[:, None, None]
    return inverse + scale[:, None, None] * s[:, :, None] * s[:, None, :] - cross - cross.transpose(0, 2, 1)


def _regulariser_gradient(problem: Objective, w: Array) -> Array:
    """The gradient of lam N at each column."""
    return problem.lam * np.ascontiguousarray(problem.regulariser.gradient(w.T).T)


@dataclass(frozen=True)
class _Rows:
    """The rows a_i in single or double precision, the multiples k_i a_i and, on request, the packed k_i a_i a_i^T."""

    problem: Objective
    plain: Array
    counted: Array
    products: Array | None

    @classmethod
    def of(cls, problem: Objective, dtype: type, with_products: bool = False) -> _Rows:
        plain: Array = problem.signed.astype(dtype)
        counted = plain if problem.weights is None else plain * problem.weights[:, None].astype(dtype)
        first, second = np.triu_indices(plain.shape[1])
        return cls(problem, plain, counted, counted[:, first] * plain[:, second] if with_products else None)

    def pull_and_curvature(self, w: Array) -> tuple[Array, Array]:
        """The means of s_i a_i, s_i = -phi'(a_i.w), and, if the products exist, of the packed phi''(a_i.w) a_i a_i^T."""
        loss = self.problem.loss
        pull = np.zeros(w.shape)
        curvature = np.zeros((0 if self.products is None else self.products.shape[1], w.shape[1]))
        buffer = np.empty((min(ROWS_AT_ONCE, len(self.plain)), w.shape[1]), dtype=w.dtype)
        for first in range(0, len(self.plain), ROWS_AT_ONCE):
            chunk = slice(first, first + ROWS_AT_ONCE)
            plain = self.plain[chunk]
            margins = buffer[: len(plain)]
            np.dot(plain, w, out=margins)
            loss.turn_into_pulls(margins)
            pull += (plain if self.counted is self.plain else self.counted[chunk]).T @ margins
            if self.products is not None:
                loss.turn_into_curvatures(margins)
                curvature += self.products[chunk].T @ margins
        return pull / self.problem.n, curvature / self.problem.n


def _unpack(curvature: Array, d: int) -> Array:
    """Full matrices (restarts, d, d) from packed upper triangles (d(d+1)/2, restarts)."""
    first, second = np.triu_indices(d)
    full = np.empty((curvature.shape[1], d, d))
    full[:, first, second] = full[:, second, first] = curvature.T
    return full


def _invert(matrices: Array) -> Array:
    """The inverses of positive definite matrices; 1 x 1 matrices, common in audits, without LAPACK."""
    if matrices.shape[-1] == 1:
        return 1 / matrices
    inverses: Array = np.linalg.inv(matrices)  # type: ignore[assignment]
    return inverses
