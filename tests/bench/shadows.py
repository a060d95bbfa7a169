"""Seconds for ten thousand shadow fits, each on half of one pool, against a loop of scikit-learn's LogisticRegression."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from epsilometer.core import Array, LabelledData, stream
from epsilometer.data import SYNTHETIC
from epsilometer.erm import LOGISTIC
from epsilometer.erm.shadows import minimise_shadows

FITS, POOL, LAM, ROUNDS = 10_000, 2_000, 0.01, 5
LOOPED = 100
"""Fits of the loop in each round; its seconds are extrapolated to all."""
SECONDS, GRADIENT = 10.0, 1e-8
"""What to reach: seconds for all fits, and the largest absolute gradient component."""
TOLERANCES = (1e-4, 1e-8)
"""Of scikit-learn's lbfgs; the first is its default."""


def run() -> None:
    """Alternate the solver and the loops, so that a noisy machine disturbs all, and print medians and ratios."""
    data, masks = SYNTHETIC["unseparable"](POOL, stream(0, "bench", "shadows")), _halves()
    ours: list[float] = []
    loops: dict[float, list[float]] = {tolerance: [] for tolerance in TOLERANCES}
    for _ in range(ROUNDS):
        start = time.perf_counter()
        solutions = minimise_shadows(LOGISTIC, data.signed, masks, LAM)
        ours.append(time.perf_counter() - start)
        rivals = {tolerance: _loop(data, masks[:LOOPED], tolerance) for tolerance in TOLERANCES}
        for tolerance in TOLERANCES:
            loops[tolerance].append(rivals[tolerance][1] * FITS / LOOPED)
    taken, gradient = float(np.median(ours)), _largest_gradient(data, masks, solutions)
    reached = taken <= SECONDS and gradient <= GRADIENT
    print(f"{FITS} fits on half of {POOL} records, d = {data.features.shape[1]}, lambda = {LAM}, one core, {ROUNDS} rounds")
    print("solver                   seconds   ratio   largest gradient")
    print(f"batched                {taken:>9.2f} {1:>7} {gradient:>18.1e}  {'' if reached else 'NOT REACHED'}")
    for tolerance in TOLERANCES:
        median = float(np.median(loops[tolerance]))
        gradient = _largest_gradient(data, masks[:LOOPED], rivals[tolerance][0])
        print(f"scikit-learn, tol {tolerance:<5g}{median:>9.2f} {median / taken:>7.1f} {gradient:>18.1e}")


def _halves() -> NDArray[np.bool_]:
    """For each fit, half of the pool at random."""
    return np.asarray(stream(0, "bench", "halves").random((FITS, POOL)).argsort(axis=1) < POOL // 2)


def _loop(data: LabelledData, masks: NDArray[np.bool_], tolerance: float) -> tuple[Array, float]:
    """Solutions of the loop, and its seconds."""
    rival = LogisticRegression(C=2 / (POOL * LAM), fit_intercept=False, tol=tolerance, solver="lbfgs", max_iter=1000)
    start = time.perf_counter()
    solutions = np.array([rival.fit(data.features[mask], data.labels[mask]).coef_[0] for mask in masks])
    return solutions, time.perf_counter() - start


def _largest_gradient(data: LabelledData, masks: NDArray[np.bool_], solutions: Array) -> float:
    """Over all fits, from the formula."""
    signed = data.signed
    return max(
        float(np.abs(LAM * w - expit(-(signed[mask] @ w)) @ signed[mask] / mask.sum()).max())
        for mask, w in zip(masks, solutions, strict=True)
    )
