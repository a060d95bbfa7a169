"""Fits per second of the batched solver against a loop of scikit-learn's LogisticRegression."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from epsilometer.core import LabelledData, stream
from epsilometer.data import SYNTHETIC
from epsilometer.erm import minimise_logistic, spherical_noise

N, LAM, RESTARTS, ROUNDS = 14_000, 0.01, 200, 5
EPSILONS = (0.001, 0.0185, 0.1, 1.0)


def run() -> None:
    """Alternate the two, so that a noisy machine disturbs both, and print medians and their ratio."""
    data = SYNTHETIC["unseparable"](N, stream(0, "bench"))
    signed = data.labels[:, None] * data.features
    rival = LogisticRegression(C=1 / (N * LAM), fit_intercept=False, tol=1e-6, solver="lbfgs", max_iter=1000)
    print(f"{RESTARTS} fits, n = {N}, d = {data.features.shape[1]}, lambda = {LAM}, one core, median of {ROUNDS} rounds")
    print("epsilon   batched fits/s   scikit-learn fits/s   ratio   largest gradient")
    for epsilon in EPSILONS:
        linear = spherical_noise(RESTARTS, data.features.shape[1], epsilon / 2, stream(0, "bench", epsilon)) / N
        batched, loop = [], []
        for _ in range(ROUNDS):
            batched.append(_seconds(partial(minimise_logistic, signed, LAM, linear)))
            loop.append(_seconds(partial(_loop, rival, data, RESTARTS // 4)) * 4)
        ours, theirs = float(np.median(batched)), float(np.median(loop))
        solutions = minimise_logistic(signed, LAM, linear)
        gradient = LAM * solutions + linear - expit(-(solutions @ signed.T)) @ signed / N
        print(
            f"{epsilon:<9g} {RESTARTS / ours:>14.0f} {RESTARTS / theirs:>21.0f} {theirs / ours:>7.1f}"
            f" {np.abs(gradient).max():>18.1e}"
        )


def _loop(rival: LogisticRegression, data: LabelledData, fits: int) -> None:
    for _ in range(fits):
        rival.fit(data.features, data.labels)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
