"""Objective perturbation: noise inside the objective, before it is minimised."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilometer.core import Array, EpsilometerError, Guarantee, LabelledData
from epsilometer.erm import minimise_logistic, spherical_noise

LOGISTIC_CURVATURE = 0.25
"""c, the largest second derivative of z -> log(1 + exp(-z)), reached at 0."""


@dataclass(frozen=True)
class ObjectivePerturbation2008:
    """Algorithm 2 as printed in 2008: noise of density ~ exp(-(epsilon/2) |b|), whatever lambda and n are."""

    epsilon: float
    lam: float
    source = "nips08, Algorithm 2 and Theorem 2"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    def sample(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:
        return _minimise_perturbed(dataset, self.lam, self.epsilon / 2, size, rng)


@dataclass(frozen=True)
class ObjectivePerturbationCMS11:
    """Objective perturbation with the calibration of CMS11, which pays for the change of the Hessian.

    The noise has density ~ exp(-beta |b|), beta = (epsilon - log(1 + 2c/(n lam) + c^2/(n lam)^2)) / 2. Where that is not
    positive, CMS11's Algorithm 2 regularises more, by Delta = c/(n (e^(epsilon/4) - 1)) - lam, and takes beta = epsilon/4;
    `extra_regularisation` asks for that.
    """

    epsilon: float
    lam: float
    extra_regularisation: bool = False
    source = "postech, Algorithm 2 (objective perturbation); Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 2"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    def calibration(self, n: int) -> tuple[float, float]:
        """The noise's rate beta and the regularisation for n records."""
        cost = 2 * math.log1p(LOGISTIC_CURVATURE / (n * self.lam))  # = log(1 + 2c/(n lam) + c^2/(n lam)^2)
        if cost < self.epsilon:
            return (self.epsilon - cost) / 2, self.lam
        if self.extra_regularisation:
            return self.epsilon / 4, LOGISTIC_CURVATURE / (n * math.expm1(self.epsilon / 4))
        enough = LOGISTIC_CURVATURE / (n * math.expm1(self.epsilon / 2))
        raise EpsilometerError(
            f"epsilon = {self.epsilon:g} is too small for objective perturbation with lambda = {self.lam:g} and n = {n}: "
            f"the Hessian alone costs {cost:.4g}; take epsilon above {cost:.4g}, or lambda above {enough:.4g}, "
            "or ask for extra regularisation"
        )

    def sample(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:
        rate, lam = self.calibration(len(dataset))
        return _minimise_perturbed(dataset, lam, rate, size, rng)


def _minimise_perturbed(dataset: LabelledData, lam: float, rate: float, size: int, rng: np.random.Generator) -> Array:
    """Minimisers of lam/2 |w|^2 + (1/n) sum_i log(1 + exp(-y_i w.x_i)) + b.w/n for `size` noise vectors b."""
    n, d = dataset.features.shape
    noise = spherical_noise(size, d, rate, rng)
    return minimise_logistic(dataset.labels[:, None] * dataset.features, lam, noise / n)
