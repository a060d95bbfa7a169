"""Objective perturbation for approximate minimisers: output noise covers the distance from the exact minimiser."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError, Guarantee, LabelledData, output_rows, require_positive
from epsilometer.erm import LOGISTIC, Huber, Loss, Objective, minimise_roughly, require_smooth
from epsilometer.erm.losses import SmoothLoss
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.neighbours import opposite_labels

REACH = 12
"""The density integrates over this many standard deviations of the objective's noise, on either side of 0."""

MOST_NODES = 1_000_000


@dataclass(frozen=True)
class Calibration:
    """The regularisation, the standard deviations of both noises and the gradient norm, for data of a given size."""

    strength: float
    objective_sigma: float
    output_sigma: float
    gradient_norm: float


@dataclass(frozen=True)
class ApproximateMinimumPerturbation:
    """Approximate minima perturbation: a point near the minimum of a perturbed objective, plus Gaussian noise.

    The budget is epsilon = e1 + e2 and delta = d1 + d2, with e2 = `output_share` epsilon and d2 = `output_share` delta for
    the noise on the output. Of e1, e3 pays for the noise in the objective and e1 - e3 for the Hessian; e3/e1 is
    `noise_share`, by default the authors' recommendation. The point has a gradient of norm at most gamma = `gradient_norm`,
    by default 1/n^2.

    The noise on the output is as printed. The proof with that noise gives e1 + 2 e2, which is 1% above the claimed epsilon
    at the default shares. Algorithm and constants: docs/proofs/objective_perturbation.md.
    """

    epsilon: float
    delta: float
    loss: Loss = LOGISTIC
    gradient_norm: float | None = None
    output_share: float = 0.01
    noise_share: float | None = None
    source = "cs860, objective perturbation (Iyengar, Near, Song, Thakkar, Thakurta and Wang 2019, Algorithm 1)"

    def __post_init__(self) -> None:
        _ = self.guarantee
        require_smooth(self.loss)
        require_positive(delta=self.delta)
        if self.gradient_norm is not None:
            require_positive(gradient_norm=self.gradient_norm)
        for name, share in (("output_share", self.output_share), ("noise_share", self.noise_share)):
            if share is not None and not 0 < share < 1:
                raise EpsilometerError(f"{name} is {share:g}; it must be between 0 and 1")
        if not self._hessian_epsilon < 1:
            raise EpsilometerError(
                f"noise_share is {self._noise_share:g}, which leaves {self._hessian_epsilon:g} of epsilon = "
                f"{self.epsilon:g} for the Hessian; leave less than 1"
            )

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one", self.delta)

    def calibration(self, n: float, d: int) -> Calibration:
        """The parameters for n records in R^d."""
        gamma = 1 / n**2 if self.gradient_norm is None else self.gradient_norm
        strength = min(d, 2) * self._smooth.curvature_bound / self._hessian_epsilon
        for_noise = self._noise_share * self._objective_epsilon
        for_output = self.output_share * self.epsilon
        return Calibration(
            strength,
            2 * self._smooth.lipschitz / n * _gaussian_factor((1 - self.output_share) * self.delta) / for_noise,
            n * gamma / strength * _gaussian_factor(self.output_share * self.delta) / for_output,
            gamma,
        )

    def sample(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:
        objective, calibration = self._objective_and_calibration(dataset)
        shape = (size, objective.signed.shape[1])
        linear = rng.normal(0.0, calibration.objective_sigma, shape)
        rough = minimise_roughly(objective, linear, calibration.gradient_norm)
        return rough + rng.normal(0.0, calibration.output_sigma, shape)

    def log_density(self, dataset: LabelledData, outputs: Array) -> Array:
        """The log-density for one coordinate only: the mean, over the objective's noise b1, of a normal density.

        The normal density is centred at the approximate minimiser for b1, computed by the same solver as in `sample`, so the
        integral is the only approximation. It uses the trapezoidal rule, on nodes much closer to each other than the
        standard deviation of the output's noise.
        """
        objective, calibration = self._objective_and_calibration(dataset)
        d = objective.signed.shape[1]
        if d != 1:
            raise EpsilometerError(
                f"the data have {d} coordinates; the density is a convolution that is computed for 1 only"
            )
        spread = calibration.objective_sigma * objective.n / calibration.strength
        nodes = 2 * math.ceil(max(2000, 3 * REACH * spread / calibration.output_sigma)) + 1
        if nodes > MOST_NODES:
            raise EpsilometerError(f"the density would need {nodes} nodes; take a larger gradient_norm or output_share")
        z = np.linspace(-REACH, REACH, nodes)
        points = minimise_roughly(objective, (calibration.objective_sigma * z)[:, None], calibration.gradient_norm)[:, 0]
        log_mass = -(z**2) / 2 + math.log((z[1] - z[0]) / math.sqrt(2 * math.pi))
        return _log_mixture(output_rows(outputs, 1)[:, 0], points, log_mass, calibration.output_sigma)

    @property
    def _smooth(self) -> SmoothLoss:
        return require_smooth(self.loss)

    @property
    def _objective_epsilon(self) -> float:
        return (1 - self.output_share) * self.epsilon

    @property
    def _noise_share(self) -> float:
        """e3/e1; by default the authors' fit for the least noise, raised where needed to keep e1 - e3 below 1."""
        if self.noise_share is not None:
            return self.noise_share
        fitted = min(0.887 + 0.019 / self.epsilon**0.373, 0.99)
        return max(fitted, 1 - 0.99 / self._objective_epsilon)

    @property
    def _hessian_epsilon(self) -> float:
        return (1 - self._noise_share) * self._objective_epsilon

    def _objective_and_calibration(self, dataset: LabelledData) -> tuple[Objective, Calibration]:
        objective = Objective.of(self._smooth, dataset, 1.0)
        calibration = self.calibration(objective.n, objective.signed.shape[1])
        return Objective.of(self._smooth, dataset, calibration.strength / objective.n), calibration


def _gaussian_factor(delta: float) -> float:
    """The standard deviation of the Gaussian noise in units of sensitivity/epsilon."""
    return 1 + math.sqrt(2 * math.log(1 / delta))


def _log_mixture(outputs: Array, centres: Array, log_mass: Array, sigma: float) -> Array:
    """The log-density of a mixture of normals on the line; components 9 sigma or more beyond the nearest are left out."""
    order = np.argsort(centres)
    centres, log_mass = centres[order], log_mass[order]
    within = np.searchsorted(centres, centres + 9 * sigma) - np.arange(len(centres))
    width = min(len(centres), 2 * int(within.max()) + 1)
    first = np.clip(np.searchsorted(centres, outputs) - width // 2, 0, len(centres) - width)
    step = max(1, (1 << 22) // width)
    parts = [
        _log_sum(outputs[i : i + step], first[i : i + step, None] + np.arange(width), centres, log_mass, sigma)
        for i in range(0, len(outputs), step)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def _log_sum(outputs: Array, chosen: NDArray[Any], centres: Array, log_mass: Array, sigma: float) -> Array:
    terms = log_mass[chosen] - ((outputs[:, None] - centres[chosen]) / sigma) ** 2 / 2
    largest = terms.max(axis=1)
    return largest + np.log(np.exp(terms - largest[:, None]).sum(axis=1)) - math.log(sigma * math.sqrt(2 * math.pi))


ENTRIES = (
    Entry(
        name="approximate_minimum_perturbation",
        title="approximate minima perturbation of a smoothed support vector machine",
        build=lambda epsilon: ApproximateMinimumPerturbation(epsilon, 1e-5, Huber(0.5), gradient_norm=1e-4),
        pairs=lambda: (opposite_labels(8),),
    ),
)
