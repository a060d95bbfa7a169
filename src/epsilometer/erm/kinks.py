"""Minimisers for losses with kinks, one fit at a time; the optimality of each solution is verified.

At a kink J has a set of subgradients, and w is the minimiser if and only if this set contains 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError
from epsilometer.erm.losses import Huber
from epsilometer.erm.objective import Objective
from epsilometer.erm.regularisers import QUADRATIC, Regulariser
from epsilometer.erm.solver import TOLERANCE, NotConvergedError, minimise

ON_THE_KINK = 1e-9
"""A margin within this distance of 1 is treated as 1."""

WIDTHS = tuple(10.0**-power for power in range(2, 9))


def minimise_hinge(signed: Array, lam: float, regulariser: Regulariser = QUADRATIC, weights: Array | None = None) -> Array:
    """The minimiser (d,) of lam N(w) + (1/n) sum_i k_i max(0, 1 - a_i.w).

    The minimiser for a Huber loss of small width shows which records have margin 1. With these margins as equality
    constraints the remaining problem is smooth. The widths decrease until the result is optimal.
    """
    counts = np.ones(len(signed)) if weights is None else weights
    shares = counts / counts.sum()
    distance = np.inf
    for width in WIDTHS:
        rough = minimise(Objective(Huber(width), signed, lam, regulariser, weights), np.zeros((1, signed.shape[1])))[0]
        margins = signed @ rough
        w = _minimise_with_unit_margins(
            signed, lam, regulariser, rough, shares * (margins < 1), np.abs(1 - margins) <= width
        )
        distance = min(distance, _optimality_residual(signed, lam, regulariser, w, shares))
        if distance <= TOLERANCE:
            return w
    raise NotConvergedError(
        f"the hinge loss's fit did not converge: the largest gradient component is {distance:.2g}, the tolerance is "
        f"{TOLERANCE:.2g}; rescale the data or regularise more"
    )


def _minimise_with_unit_margins(
    signed: Array, lam: float, regulariser: Regulariser, start: Array, pulling: Array, on_kink: NDArray[np.bool_]
) -> Array:
    """The minimiser of lam N(w) - sum_i pulling_i a_i.w, over records off the kink, with margin 1 imposed on the others."""
    kinked = signed[on_kink]
    pull = (pulling * ~on_kink) @ signed
    w, d, m = start, len(start), len(kinked)
    for _ in range(50):
        hessian = lam * np.broadcast_to(regulariser.hessian(w[None]), (1, d, d))[0]
        system = np.block([[hessian, kinked.T], [kinked, np.zeros((m, m))]])
        off = np.concatenate([pull - lam * regulariser.gradient(w[None])[0], 1 - kinked @ w])
        step = np.linalg.lstsq(system, off, rcond=None)[0][:d]
        w = w + step
        if np.abs(step).max() <= 1e-13 * (1 + np.abs(w).max()):
            break
    return w


def _optimality_residual(signed: Array, lam: float, regulariser: Regulariser, w: Array, shares: Array) -> float:
    """The largest component of the smallest subgradient of J at w; 0 at the minimiser."""
    from scipy.optimize import lsq_linear

    margins = signed @ w
    on_kink = np.abs(1 - margins) <= ON_THE_KINK
    gradient = lam * regulariser.gradient(w[None])[0] - (shares * ((margins < 1) & ~on_kink)) @ signed
    if not on_kink.any():
        return float(np.abs(gradient).max())
    pulls = lsq_linear(signed[on_kink].T, gradient, (0, shares[on_kink]), method="bvls", tol=1e-14).x
    return float(np.abs(gradient - pulls @ signed[on_kink]).max())


def minimise_distance(points: Array, lam: float, regulariser: Regulariser = QUADRATIC) -> Array:
    """The minimiser (d,) of lam N(w) + (1/n) sum_i |w - x_i|, a regularised geometric median.

    A point is the minimiser if the gradient of all other terms there has a norm of at most the point's own share.
    Otherwise J is smooth at the minimiser, and damped Newton steps find it from the best point. J decreases in every step,
    so they do not return to a point.
    """
    places, counts = np.unique(points, axis=0, return_counts=True)
    risk = _DistanceRisk(places, counts / counts.sum(), lam, regulariser)
    best = int(np.argmin([risk.value(place) for place in places]))
    pull = risk.gradient(places[best])
    if np.linalg.norm(pull) <= risk.shares[best]:
        return places[best]
    return _newton_off_the_points(risk, places[best], -pull)


class _DistanceRisk:
    """J and its derivatives; at one of the points, the derivatives leave that point's own term out."""

    def __init__(self, places: Array, shares: Array, lam: float, regulariser: Regulariser) -> None:
        self.places, self.shares, self.lam, self.regulariser = places, shares, lam, regulariser

    def value(self, w: Array) -> float:
        distances = np.linalg.norm(w - self.places, axis=1)
        return float(self.lam * self.regulariser.value(w[None])[0] + self.shares @ distances)

    def gradient(self, w: Array) -> Array:
        return self.lam * self.regulariser.gradient(w[None])[0] + self.shares @ self._directions(w)[0]

    def hessian(self, w: Array) -> Array:
        directions, distances = self._directions(w)
        rates = self.shares / distances
        flat = rates.sum() * np.eye(len(w)) - (directions.T * rates) @ directions
        return flat + self.lam * np.broadcast_to(self.regulariser.hessian(w[None]), (1, len(w), len(w)))[0]

    def _directions(self, w: Array) -> tuple[Array, Array]:
        differences = w - self.places
        distances = np.linalg.norm(differences, axis=1)
        distances = np.where(distances == 0, np.inf, distances)
        return differences / distances[:, None], distances


def _newton_off_the_points(risk: _DistanceRisk, start: Array, direction: Array) -> Array:
    """Newton steps, halved until J decreases or, where rounding hides the decrease, until the gradient does."""
    w: Array = start
    step: Array = direction
    value, slope = risk.value(w), np.inf
    for _ in range(1000):
        trial = w + step
        trial_value, trial_gradient = risk.value(trial), risk.gradient(trial)
        trial_slope = float(np.abs(trial_gradient).max())
        if trial_value < value or (trial_value <= value + 1e-15 and trial_slope < slope):
            w, value, slope = trial, trial_value, trial_slope
            if slope <= TOLERANCE:
                return w
            step = -np.linalg.solve(risk.hessian(w), trial_gradient).astype(np.float64)
        else:
            step = step / 2
    raise NotConvergedError(
        f"the geometric median did not converge: the largest gradient component is {slope:.2g}, the tolerance is "
        f"{TOLERANCE:.2g}; move points that nearly coincide together, or regularise more"
    )


def points_of(dataset: NDArray[Any]) -> Array:
    """The points as an array (n, d); an error for anything else."""
    points = np.asarray(dataset)
    if points.dtype.kind not in "fiu" or points.ndim != 2 or not points.size:
        raise EpsilometerError(f"the points have shape {points.shape}; they must be a table of numbers, a row for each")
    if not np.isfinite(points).all():
        raise EpsilometerError(f"a point has the value {points[~np.isfinite(points)][0]:g}; every value must be finite")
    return points.astype(float)
