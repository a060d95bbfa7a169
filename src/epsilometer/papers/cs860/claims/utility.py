"""The excess of gradient perturbation at its final parameters, and the bound of Theorem 2 for it."""

from __future__ import annotations

import math

import numpy as np

from epsilometer.core import LabelledData
from epsilometer.erm.losses import MarginLoss
from epsilometer.mechanisms.gradient_perturbation import GradientPerturbation
from epsilometer.papers.cs860.claims.descent import convergence_bound
from epsilometer.papers.cs860.claims.records import mean_loss


def mean_excess(mechanism: GradientPerturbation, data: LabelledData, size: int, rng: np.random.Generator) -> float:
    """The mean excess of the sum of losses at the final parameters, over so many runs."""
    final = mechanism.sample_final(data, size, rng)
    reached = float(np.mean(mean_loss(data, final, mechanism.loss)))
    return data.n * (reached - _least_mean_loss(data, mechanism.loss, mechanism.radius))


def excess_bound(mechanism: GradientPerturbation, n: int, d: int) -> float:
    """The bound of Theorem 2 with G^2 = n^2 L^2 + d sigma^2, |C| being 2 radius."""
    g = math.sqrt((n * mechanism.loss.lipschitz) ** 2 + d * mechanism.sigma(n) ** 2)
    return 2 * mechanism.radius * g * convergence_bound(mechanism.number_of_steps(n))


def _least_mean_loss(data: LabelledData, loss: MarginLoss, radius: float) -> float:
    """The least mean loss within the radius: by a grid on the line, by projected descent for a smooth loss."""
    if data.features.shape[1] == 1:
        return float(np.min(mean_loss(data, np.linspace(-radius, radius, 40_001)[:, None], loss)))
    theta = np.zeros((1, data.features.shape[1]))
    for _ in range(3000):
        theta = theta - 4 * loss.slope(theta @ data.signed.T) @ data.signed / len(data)
        theta *= radius / max(radius, float(np.linalg.norm(theta)))
    return float(mean_loss(data, theta, loss)[0])
