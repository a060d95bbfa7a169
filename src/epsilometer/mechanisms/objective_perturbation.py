"""Objective perturbation: a random linear term is added to the objective before it is minimised."""

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
    """The common part: the minimiser of J(w) + b.w/n, J(w) = lam N(w) + (1/n) sum_i phi(y_i w.x_i), for random b.

    The density of the output is h(b(w)) |det n Hess J(w)|, with b(w) = -n grad J(w) and h the density of b; almost
    everywhere if the loss's second derivative has jumps. Exchanging a record changes b(w) by at most 2L, and the determinant
    by a factor of at most 1 + c/(n lam mu). The variants differ in the distribution of b and in the regularisation. Proof:
    docs/proofs/objective_perturbation.md.
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
        """The distribution of b and the lam in J, for n records."""
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
    """Algorithm 2 as printed in 2008: noise of density ~ exp(-(epsilon/2) |b|), independent of lambda and n.

    The proof of Theorem 2 takes h(b(w)) for the density of the output and omits the determinant. The privacy loss is bounded
    by epsilon + log(1 + c/(n lam)) only, which is far above epsilon where n lam is small.
    """

    source = "nips08, Algorithm 2 and Theorem 2"

    def plan(self, n: float) -> tuple[Noise, float]:  # noqa: ARG002
        return SphericalNoise(self.epsilon / (2 * self._smooth.lipschitz)), self.lam


@dataclass(frozen=True)
class ObjectivePerturbationGeneral(ObjectivePerturbation):
    """Theorem 3 of 2008: the minimiser of G(w) + sum_i l(w, x_i) + b.w, where |b| ~ Gamma(d, 2 kappa/epsilon).

    G = lam N is strongly convex with any constant, and kappa is the loss's Lipschitz constant. The proof omits the same
    determinant, and the privacy loss can reach epsilon + log(1 + c/(lam mu)).
    """

    source = "nips08, Theorem 3"

    def plan(self, n: float) -> tuple[Noise, float]:
        return SphericalNoise(self.epsilon / (2 * self._smooth.lipschitz)), self.lam / n


@dataclass(frozen=True)
class ObjectivePerturbationCMS11(ObjectivePerturbation):
    """Objective perturbation with the calibration of CMS11, which accounts for the change of the Hessian.

    The noise has density ~ exp(-beta |b|), beta = (epsilon - log(1 + 2c/(n lam) + c^2/(n lam)^2)) / 2. Where that is not
    positive, `extra_regularisation` adds Delta = c/(n (e^(epsilon/4) - 1)) - lam and takes beta = epsilon/4 (CMS11,
    Algorithm 2). For a bound L on the slope, beta is divided by L; for a mu-strongly convex N, lam is multiplied by mu. The
    privacy loss is at most epsilon - log(1 + c/(n lam)). Proof: docs/proofs/objective_perturbation.md.
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
            f"n = {n:.10g}: the Hessian alone costs {cost:.4g}; take epsilon above {_round_up(cost)}, or lambda above "
            f"{_round_up(enough)}, or ask for extra regularisation"
        )

    def plan(self, n: float) -> tuple[Noise, float]:
        rate, lam = self.calibration(n)
        return SphericalNoise(rate), lam


def _round_up(value: float) -> str:
    """The value with five digits, rounded up."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 4)
    steps = math.ceil(value / unit)
    while float(f"{steps * unit:.5g}") < value:
        steps += 1
    return f"{steps * unit:.5g}"


@dataclass(frozen=True)
class ObjectivePerturbationKST12(ObjectivePerturbation):
    """The minimiser of sum_i l(w, x_i) + Delta/2 |w|^2 + b.w, with Delta = max(lam, 2c/epsilon) for the Hessian.

    For delta = 0, b has density ~ exp(-(epsilon/(2 zeta)) |b|), with zeta the bound on |grad l|; for delta > 0, each
    coordinate is Gaussian with variance zeta^2 (8 ln(2/delta) + 4 epsilon)/epsilon^2. The guarantee is for
    add-remove and independent of n; exchanging a record costs up to twice as much. Proof:
    docs/proofs/objective_perturbation.md.
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


MISSING_DETERMINANT = "The proof leaves the determinant of the map from noise to output out of the density"
HUBER = Huber(0.5)
OPPOSED: tuple[Record, ...] = (((1.0,), -1.0), ((1.0,), -1.0))
"""Two records with a negative minimiser: so b(w) < 0 at the w where the Huber loss of the record (1, +1) has its kink."""


def _added_record_pair() -> NeighbouringPair:
    reason = "one more record, which decides both the pull on w and the curvature just above the kink of its loss"
    return NeighbouringPair(labelled_records([*OPPOSED, ((1.0,), 1.0)]), labelled_records(OPPOSED), "add-remove", reason)


def _true_epsilon_of_cms11(epsilon: float, n_lam: float) -> float:
    """The supremum of the privacy loss for a Huber loss in one dimension: 2 beta + log(1 + c/(n lam))."""
    price = math.log1p(HUBER.curvature_bound / n_lam)
    return epsilon - price if 2 * price < epsilon else 0.75 * epsilon


ENTRIES = (
    Entry(
        name="objective_perturbation_2008",
        title="objective perturbation of logistic regression, as printed in 2008",
        build=lambda epsilon: ObjectivePerturbation2008(epsilon, lam=1e-4),
        pairs=lambda: (only_record_that_counts(100), saturated_opponents()),
        flaw=f"{MISSING_DETERMINANT}, which counts where n lambda is small.",
    ),
    Entry(
        name="objective_perturbation_general",
        title="objective perturbation in the general form of 2008, for a sum of Huber losses",
        build=lambda epsilon: ObjectivePerturbationGeneral(epsilon, lam=0.1, loss=HUBER),
        pairs=lambda: (opposite_labels(3, OPPOSED),),
        flaw=f"{MISSING_DETERMINANT}, which counts where the regulariser is weak.",
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
        true_epsilon=lambda epsilon: _true_epsilon_of_cms11(epsilon, n_lam=40.0),
    ),
    Entry(
        name="objective_perturbation_kst12",
        title="objective perturbation when a record is added or removed, for a sum of Huber losses",
        build=lambda epsilon: ObjectivePerturbationKST12(epsilon, lam=0.1, loss=HUBER),
        pairs=lambda: (_added_record_pair(),),
        true_epsilon=lambda epsilon: epsilon / 2 + math.log1p(min(epsilon / 2, HUBER.curvature_bound / 0.1)),
    ),
    Entry(
        name="objective_perturbation_gaussian",
        title="objective perturbation with Gaussian noise, for a sum of Huber losses",
        build=lambda epsilon: ObjectivePerturbationKST12(epsilon, lam=0.1, loss=HUBER, delta=1e-5),
        pairs=lambda: (_added_record_pair(),),
    ),
)
