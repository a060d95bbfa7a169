"""Objective perturbation: noise inside the objective, before it is minimised."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from epsilometer.core import (
    Array,
    EpsilometerError,
    Guarantee,
    LabelledData,
    NeighbouringPair,
    require_positive,
)
from epsilometer.erm import (
    LOGISTIC,
    QUADRATIC,
    GaussianNoise,
    Huber,
    Loss,
    Noise,
    Objective,
    Regulariser,
    SphericalNoise,
    minimise,
    require_smooth,
)
from epsilometer.erm.losses import SmoothLoss
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.neighbours import (
    Record,
    labelled_records,
    only_record_that_counts,
    opposite_labels,
    saturated_opponents,
)


@dataclass(frozen=True)
class ObjectivePerturbation:
    """The family: the minimiser of J(w) + b.w/n, J(w) = lam N(w) + (1/n) sum_i phi(y_i w.x_i), for random b.

    For every w exactly one b makes it the minimiser, b(w) = -n grad J(w), so the output has the density
    h(b(w)) |det n Hess J(w)|, where h is the density of b; for a loss whose second derivative jumps, almost everywhere.
    Exchanging a record changes b(w) by at most 2L, and the determinant by a factor of at most 1 + c/(n lam mu): a record's
    Hessian has rank one and an eigenvalue of at most c, the largest phi'', and N is mu-strongly convex.

    Members of the family differ in the law of b and in how they regularise.
    """

    epsilon: float
    lam: float
    loss: Loss = field(default=LOGISTIC, kw_only=True)
    regulariser: Regulariser = field(default=QUADRATIC, kw_only=True)

    def __post_init__(self) -> None:
        _ = self.guarantee
        require_positive(lam=self.lam)
        require_smooth(self.loss)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    def plan(self, n: float) -> tuple[Noise, float]:
        """The law of b, and lam in J, for n records."""
        raise NotImplementedError

    def sample(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:
        objective, noise = self._objective_and_noise(dataset)
        d = objective.signed.shape[1]
        return minimise(objective, noise.sample(size, d, rng) / objective.n)

    def log_density(self, dataset: LabelledData, outputs: Array) -> Array:
        """log h(b(w)) + log |det n Hess J(w)| at each output w, a row."""
        objective, noise = self._objective_and_noise(dataset)
        return noise.log_density(-objective.n * objective.gradient(outputs)) + objective.log_det_hessian(outputs)

    @property
    def _smooth(self) -> SmoothLoss:
        return require_smooth(self.loss)

    def _objective_and_noise(self, dataset: LabelledData) -> tuple[Objective, Noise]:
        objective = Objective.of(self._smooth, dataset, self.lam, self.regulariser)
        noise, lam = self.plan(objective.n)
        return Objective.of(self._smooth, dataset, lam, self.regulariser), noise


@dataclass(frozen=True)
class ObjectivePerturbation2008(ObjectivePerturbation):
    """Algorithm 2 as printed in 2008: noise of density ~ exp(-(epsilon/2) |b|), whatever lambda and n are.

    The proof of its Theorem 2 takes h(b(w)) for the density of the output, without the determinant. What it really spends
    can reach epsilon + log(1 + c/(n lam)), which is far more where n lam is small.
    """

    source = "nips08, Algorithm 2 and Theorem 2"

    def plan(self, n: float) -> tuple[Noise, float]:  # noqa: ARG002
        return SphericalNoise(self.epsilon / (2 * self._smooth.lipschitz)), self.lam


@dataclass(frozen=True)
class ObjectivePerturbationGeneral(ObjectivePerturbation):
    """Theorem 3 of 2008: the minimiser of G(w) + sum_i l(w, x_i) + b.w, where |b| ~ Gamma(d, 2 kappa/epsilon).

    G = lam N is strongly convex with any constant, and kappa is a bound on |grad l|, the loss's Lipschitz constant. The same
    determinant is missing: what it really spends can reach epsilon + log(1 + c/(lam mu)).
    """

    source = "nips08, Theorem 3"

    def plan(self, n: float) -> tuple[Noise, float]:
        return SphericalNoise(self.epsilon / (2 * self._smooth.lipschitz)), self.lam / n


@dataclass(frozen=True)
class ObjectivePerturbationCMS11(ObjectivePerturbation):
    """Objective perturbation with the calibration of CMS11, which pays for the change of the Hessian.

    The noise has density ~ exp(-beta |b|), beta = (epsilon - log(1 + 2c/(n lam) + c^2/(n lam)^2)) / 2. Where that is not
    positive, CMS11's Algorithm 2 regularises more, by Delta = c/(n (e^(epsilon/4) - 1)) - lam, and takes beta = epsilon/4;
    `extra_regularisation` asks for that. (For a bound L on the slope other than 1, beta is divided by L; for a
    mu-strongly convex N, lam is multiplied by mu.)

    The determinant changes by a factor of at most 1 + c/(n lam), and beta pays for its square, so what it really spends is
    at most epsilon - log(1 + c/(n lam)).
    """

    extra_regularisation: bool = False
    source = "postech, Algorithm 2 (objective perturbation); Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 2"

    def calibration(self, n: float) -> tuple[float, float]:
        """The noise's rate beta and the regularisation for n records."""
        c, mu, slope = self._smooth.curvature_bound, self.regulariser.strong_convexity, self._smooth.lipschitz
        cost = 2 * math.log1p(c / (n * self.lam * mu))  # = log(1 + 2c/(n lam) + c^2/(n lam)^2)
        if cost < self.epsilon:
            return (self.epsilon - cost) / (2 * slope), self.lam
        if self.extra_regularisation:
            return self.epsilon / (4 * slope), c / (n * mu * math.expm1(self.epsilon / 4))
        enough = c / (n * mu * math.expm1(self.epsilon / 2))
        raise EpsilometerError(
            f"epsilon = {self.epsilon:g} is too small for objective perturbation with lambda = {self.lam:g} and "
            f"n = {n:.10g}: the Hessian alone costs {cost:.4g}; take epsilon above {_rounded_up(cost)}, or lambda above "
            f"{_rounded_up(enough)}, or ask for extra regularisation"
        )

    def plan(self, n: float) -> tuple[Noise, float]:
        rate, lam = self.calibration(n)
        return SphericalNoise(rate), lam


def _rounded_up(value: float) -> str:
    """The value with five digits, no less than it is."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 4)
    steps = math.ceil(value / unit)
    while float(f"{steps * unit:.5g}") < value:
        steps += 1
    return f"{steps * unit:.5g}"


@dataclass(frozen=True)
class ObjectivePerturbationKST12(ObjectivePerturbation):
    """The minimiser of sum_i l(w, x_i) + Delta/2 |w|^2 + b.w, whose Delta = max(lam, 2c/epsilon) pays for the Hessian.

    Adding or removing a record changes b(w) by at most zeta, the bound on |grad l|, and the determinant by a factor of at
    most 1 + c/Delta <= e^(epsilon/2), a rank-one Hessian being assumed; epsilon/2 remains for the noise.

    - delta = 0: density ~ exp(-(epsilon/(2 zeta)) |b|).
    - delta > 0: each coordinate is Gaussian with variance zeta^2 (8 ln(2/delta) + 4 epsilon)/epsilon^2.

    The guarantee is for adding or removing a record, under which n does not enter; exchanging one costs twice that.
    """

    delta: float = 0.0
    source = "cs860, objective perturbation (Kifer, Smith and Thakurta 2012, Algorithm 1 and Theorem 2)"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "add-remove", self.delta)

    def plan(self, n: float) -> tuple[Noise, float]:
        zeta = self._smooth.lipschitz
        strength = max(self.lam, 2 * self._smooth.curvature_bound / (self.epsilon * self.regulariser.strong_convexity))
        if self.delta > 0:
            variance = zeta**2 * (8 * math.log(2 / self.delta) + 4 * self.epsilon) / self.epsilon**2
            return GaussianNoise(math.sqrt(variance)), strength / n
        return SphericalNoise(self.epsilon / (2 * zeta)), strength / n


MISSING = "The proof leaves the determinant of the map from noise to output out of the density"
HUBER = Huber(0.5)
OPPOSED: tuple[Record, ...] = (((1.0,), -1.0), ((1.0,), -1.0))
"""Two records that pull w below zero, so that b(w) is negative where the record (1, +1) begins to saturate."""


def _one_more() -> NeighbouringPair:
    reason = "one more record, which decides both the pull on w and the curvature just above the kink of its loss"
    return NeighbouringPair(labelled_records([*OPPOSED, ((1.0,), 1.0)]), labelled_records(OPPOSED), "add-remove", reason)


def _spent_by_cms11(epsilon: float, n_lam: float) -> float:
    """The largest log-ratio of the densities, for a Huber loss on the line: 2 beta and the logarithm of 1 + c/(n lam)."""
    price = math.log1p(HUBER.curvature_bound / n_lam)
    return epsilon - price if 2 * price < epsilon else 0.75 * epsilon


ENTRIES = (
    Entry(
        name="objective_perturbation_2008",
        title="objective perturbation of logistic regression, as printed in 2008",
        build=lambda epsilon: ObjectivePerturbation2008(epsilon, lam=1e-4),
        pairs=lambda: (only_record_that_counts(100), saturated_opponents()),
        flaw=f"{MISSING}, which counts where n lambda is small.",
    ),
    Entry(
        name="objective_perturbation_general",
        title="objective perturbation in the general form of 2008, for a sum of Huber losses",
        build=lambda epsilon: ObjectivePerturbationGeneral(epsilon, lam=0.1, loss=HUBER),
        pairs=lambda: (opposite_labels(3, OPPOSED),),
        flaw=f"{MISSING}, which counts where the regulariser is weak.",
        true_epsilon=lambda epsilon: epsilon + math.log1p(HUBER.curvature_bound / 0.1),
    ),
    Entry(
        name="objective_perturbation_cms11",
        title="objective perturbation of logistic regression, as corrected in 2011",
        build=lambda epsilon: ObjectivePerturbationCMS11(epsilon, lam=1e-4, extra_regularisation=True),
        pairs=lambda: (saturated_opponents(), only_record_that_counts(100)),
    ),
    Entry(
        name="objective_perturbation_huber",
        title="objective perturbation of a smoothed support vector machine, as corrected in 2011",
        build=lambda epsilon: ObjectivePerturbationCMS11(epsilon, lam=5.0, loss=HUBER, extra_regularisation=True),
        pairs=lambda: (opposite_labels(8),),
        true_epsilon=lambda epsilon: _spent_by_cms11(epsilon, n_lam=40.0),
    ),
    Entry(
        name="objective_perturbation_kst12",
        title="objective perturbation when a record is added or removed, for a sum of Huber losses",
        build=lambda epsilon: ObjectivePerturbationKST12(epsilon, lam=0.1, loss=HUBER),
        pairs=lambda: (_one_more(),),
        true_epsilon=lambda epsilon: epsilon / 2 + math.log1p(min(epsilon / 2, HUBER.curvature_bound / 0.1)),
    ),
    Entry(
        name="objective_perturbation_gaussian",
        title="objective perturbation with Gaussian noise, for a sum of Huber losses",
        build=lambda epsilon: ObjectivePerturbationKST12(epsilon, lam=0.1, loss=HUBER, delta=1e-5),
        pairs=lambda: (_one_more(),),
    ),
)
