"""Output perturbation: noise is added to the minimiser."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilometer.core import Array, Dataset, EpsilometerError, Guarantee, NeighbouringPair, output_rows, require_positive
from epsilometer.erm import (
    LOGISTIC,
    QUADRATIC,
    Distance,
    GaussianNoise,
    Hinge,
    Huber,
    Loss,
    Noise,
    Regulariser,
    SphericalNoise,
    Squared,
    count,
    minimiser,
)
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.gaussian import classic_sigma, gaussian_delta
from epsilometer.mechanisms.neighbours import opposite_labels, saturated_opponents


@dataclass(frozen=True)
class OutputPerturbation:
    """The minimiser of J(w) = lam N(w) + (1/n) sum_i l(w, x_i), plus noise.

    With l convex and L-Lipschitz and N mu-strongly convex, exchanging a record moves the minimiser by at most S = 2L/(n lam
    mu) (nips08, Lemma 1 and Corollary 2). For delta = 0 the noise has density ~ exp(-(epsilon/S) |b|), as in Algorithm 1.
    For delta > 0 it is Gaussian with standard deviation S sqrt(2 ln(1.25/delta))/epsilon, refused where that is too small.
    With `summed`, the objective is sum_i l(w, x_i) + lam N(w), as in cs860, and S = 2L/(lam mu). Proof:
    docs/proofs/output_perturbation.md.
    """

    epsilon: float
    lam: float
    loss: Loss = LOGISTIC
    regulariser: Regulariser = QUADRATIC
    delta: float = 0.0
    summed: bool = False
    source = (
        "nips08, Algorithm 1 and Theorem 1; postech, Algorithm 1; cs860, Lemma 1 and what follows "
        "(Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 1 and Corollary 8)"
    )

    def __post_init__(self) -> None:
        _ = self.guarantee
        require_positive(lam=self.lam)
        if self.delta > 0:
            _require_enough_for_gaussian(self.epsilon, self.delta)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one", self.delta)

    def noise(self, n: float) -> Noise:
        """The noise for n records."""
        strong_convexity = self._lam(n) * self.regulariser.strong_convexity
        if isinstance(self.loss, Squared):
            _require_radius(self.loss, strong_convexity)
        if self.delta > 0:
            sensitivity = 2 * self.loss.lipschitz / (n * strong_convexity)
            return GaussianNoise(classic_sigma(self.epsilon, self.delta, sensitivity))
        return SphericalNoise(n * strong_convexity * self.epsilon / (2 * self.loss.lipschitz))

    def sample(self, dataset: Dataset, size: int, rng: np.random.Generator) -> Array:
        centre, noise = self._centre_and_noise(dataset)
        return centre + noise.sample(size, len(centre), rng)

    def log_density(self, dataset: Dataset, outputs: Array) -> Array:
        """The log-density of the noise at the difference between each output (a row) and the minimiser."""
        centre, noise = self._centre_and_noise(dataset)
        return noise.log_density(output_rows(outputs, len(centre)) - centre)

    def _centre_and_noise(self, dataset: Dataset) -> tuple[Array, Noise]:
        n = count(dataset)
        return minimiser(self.loss, dataset, self._lam(n), self.regulariser), self.noise(n)

    def _lam(self, n: float) -> float:
        return self.lam / n if self.summed else self.lam


def _require_radius(loss: Squared, strong_convexity: float) -> None:
    reach = math.sqrt(2 / strong_convexity)
    if loss.radius < reach * (1 - 1e-12):
        raise EpsilometerError(
            f"the squared loss's slope is bounded for |w| <= {loss.radius:g}, but the minimiser can have norm {reach:.6g}; "
            f"take a radius of at least that"
        )


def _require_enough_for_gaussian(epsilon: float, delta: float) -> None:
    """Raise an error if the exact delta at epsilon exceeds the claimed one; the theorem covers epsilon < 1 only."""
    if epsilon > 1 and gaussian_delta(epsilon, classic_sigma(epsilon, delta)) > delta:
        raise EpsilometerError(
            f"epsilon is {epsilon:g}; with delta = {delta:g} the classical Gaussian noise is too small for it; "
            "take an epsilon of at most 1"
        )


HUBER = Huber(0.5)
SQUARED_LAM = 0.5


def _moving_point_pairs() -> tuple[NeighbouringPair, ...]:
    """Three points at -1, three at 1, and one that moves from 1 to -1.

    The gradients of the six others cancel between -1 and 1, so the median moves by the whole sensitivity.
    """
    shared = [[-1.0]] * 3 + [[1.0]] * 3
    reason = "one point jumps across a balanced rest, whose pull is the same wherever the median falls in between"
    return (NeighbouringPair(np.array([*shared, [1.0]]), np.array([*shared, [-1.0]]), "replace-one", reason),)


ENTRIES = (
    Entry(
        name="output_perturbation",
        title="output perturbation of logistic regression",
        build=lambda epsilon: OutputPerturbation(epsilon, lam=1e-4),
        pairs=lambda: (saturated_opponents(), opposite_labels(200_000)),
    ),
    Entry(
        name="output_perturbation_huber",
        title="output perturbation of a smoothed support vector machine",
        build=lambda epsilon: OutputPerturbation(epsilon, lam=0.5, loss=HUBER),
        pairs=lambda: (opposite_labels(8),),
        true_epsilon=lambda epsilon: epsilon,
    ),
    Entry(
        name="output_perturbation_hinge",
        title="output perturbation of a support vector machine",
        build=lambda epsilon: OutputPerturbation(epsilon, lam=0.5, loss=Hinge()),
        pairs=lambda: (opposite_labels(8),),
        true_epsilon=lambda epsilon: epsilon,
    ),
    Entry(
        name="output_perturbation_squared",
        title="output perturbation of ridge regression on labels",
        build=lambda epsilon: OutputPerturbation(epsilon, lam=SQUARED_LAM, loss=Squared(radius=math.sqrt(2 / SQUARED_LAM))),
        pairs=lambda: (opposite_labels(8),),
    ),
    Entry(
        name="output_perturbation_geometric_median",
        title="output perturbation of a geometric median",
        build=lambda epsilon: OutputPerturbation(epsilon, lam=0.5, loss=Distance()),
        pairs=_moving_point_pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
    Entry(
        name="output_perturbation_gaussian",
        title="output perturbation with Gaussian noise, for a sum of Huber losses",
        build=lambda epsilon: OutputPerturbation(epsilon, lam=4.0, loss=HUBER, delta=1e-5, summed=True),
        pairs=lambda: (opposite_labels(8),),
    ),
)
