"""Test error of logistic regression, from scipy's optimiser and the definition."""

from __future__ import annotations

import numpy as np
from scipy import optimize
from scipy.special import expit

from epsilometer.core import Array, LabelledData


def standard_error(train: LabelledData, test: LabelledData, lam: float) -> float:
    """The share of wrong signs on the test records; the tests' data leave no doubt about a sign."""
    signed = train.labels[:, None] * train.features

    def objective(w: Array) -> float:
        return float(lam / 2 * w @ w + np.mean(np.logaddexp(0, -(signed @ w))))

    def gradient(w: Array) -> Array:
        return lam * w - expit(-(signed @ w)) @ signed / len(signed)

    fit = optimize.minimize(objective, np.zeros(signed.shape[1]), jac=gradient, method="BFGS", tol=1e-7)
    wrong = [np.sign(x @ fit.x) != y for x, y in zip(test.features, test.labels, strict=True)]
    return sum(wrong) / len(test)
