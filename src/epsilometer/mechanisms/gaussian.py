"""The Gaussian mechanism: normal noise on the answer to a query, calibrated to the query's L2 sensitivity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr, ndtr

from epsilometer.core import Adjacency, Array, EpsilometerError, Guarantee, NeighbouringPair, require_positive
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.laplace import Query, count_five, exact_answer, medical_pair, noise_behind

SMALL_SHIFT = 0.1
"""Below this S/(2 sigma), the difference in `gaussian_log_delta` is integrated, because subtraction would cancel."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


@dataclass(frozen=True)
class Gaussian:
    """The answer f(D), a number or a vector of k numbers, plus independent noise N(0, sigma^2) on each of them.

    S is the largest L2 distance between the answers on two neighbouring data sets; the caller must ensure it. The guarantee
    is the one claimed by the calibration; `delta_at(epsilon)` is the exact delta of the noise. Outputs have shape (size,)
    for a number, (size, k) for a vector.
    """

    query: Query
    sensitivity: float
    sigma: float
    guarantee: Guarantee
    source: str

    def __post_init__(self) -> None:
        require_positive(sensitivity=self.sensitivity, sigma=self.sigma)

    @classmethod
    def classic(
        cls, query: Query, sensitivity: float, epsilon: float, delta: float, adjacency: Adjacency = "replace-one"
    ) -> Gaussian:
        """sigma = sqrt(2 log(1.25/delta)) S/epsilon.

        Proved for epsilon < 1 only, but often used beyond, so larger values are accepted here. At delta = 1e-5 the guarantee
        holds up to about epsilon = 8; beyond, the exact delta exceeds the claimed one (see `delta_at`).
        """
        guarantee = _approximate_guarantee(epsilon, delta, adjacency)
        sigma = classic_sigma(epsilon, delta, sensitivity)
        return cls(query, sensitivity, sigma, guarantee, "postech, Gaussian mechanism; Dwork and Roth 2014, Theorem A.1")

    @classmethod
    def analytic(
        cls, query: Query, sensitivity: float, epsilon: float, delta: float, adjacency: Adjacency = "replace-one"
    ) -> Gaussian:
        """The smallest sigma whose exact delta at epsilon is at most the claimed one; valid for every epsilon."""
        guarantee = _approximate_guarantee(epsilon, delta, adjacency)
        sigma = analytic_sigma(epsilon, delta, sensitivity)
        return cls(query, sensitivity, sigma, guarantee, "Balle and Wang 2018, Theorem 8 and Algorithm 1")

    def delta_at(self, epsilon: float) -> float:
        """The smallest delta for which (epsilon, delta)-differential privacy holds, if neighbours can differ by S."""
        return gaussian_delta(epsilon, self.sigma, self.sensitivity)

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> Array:
        answer = exact_answer(self.query, dataset)
        return answer + rng.normal(scale=self.sigma, size=(size, *answer.shape))

    def log_density(self, dataset: Any, outputs: NDArray[Any]) -> Array:
        noise = noise_behind(self.query, dataset, outputs) / self.sigma
        return np.sum(-(noise**2) / 2 - math.log(self.sigma) - math.log(2 * math.pi) / 2, axis=1)


def classic_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """sqrt(2 log(1.25/delta)) S/epsilon (Dwork and Roth 2014, Theorem A.1, for epsilon < 1)."""
    return math.sqrt(2 * math.log(1.25 / delta)) * sensitivity / epsilon


def gaussian_delta(epsilon: float, sigma: float, sensitivity: float = 1.0) -> float:
    """The exact delta of normal noise at epsilon >= 0 (Balle and Wang 2018, Theorem 8).

    delta = Phi(S/(2 sigma) - epsilon sigma/S) - e^epsilon Phi(-S/(2 sigma) - epsilon sigma/S).
    """
    return math.exp(gaussian_log_delta(epsilon, sigma, sensitivity))


def gaussian_log_delta(epsilon: float, sigma: float, sensitivity: float = 1.0) -> float:
    """The logarithm of `gaussian_delta`, which does not underflow and does not lose its digits to subtraction.

    With h = S/(2 sigma) and u = epsilon sigma/S, e^epsilon phi(u + h) = phi(u - h), so delta = phi(u - h) (M(u - h) -
    M(u + h)) with Mills' ratio M(x) = Phi(-x)/phi(x). Where h is small, the difference is the integral of -M'(x) =
    1 - x M(x) over (u - h, u + h).
    """
    h, u = sensitivity / (2 * sigma), epsilon * (sigma / sensitivity)
    if h < SMALL_SHIFT:
        log_difference = math.log(h) + math.log(np.dot(WEIGHTS, _minus_mills_slope(u + h * NODES)))
    elif u < h:  # here Mills' ratio of a negative number may overflow
        return math.log(float(ndtr(h - u)) - math.exp(epsilon + float(log_ndtr(-u - h))))
    else:
        log_difference = math.log(float(_mills(u - h)) - float(_mills(u + h)))
    return -((u - h) ** 2) / 2 - math.log(2 * math.pi) / 2 + log_difference


def analytic_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """The smallest (epsilon, delta)-differentially private sigma, to the last digits and never below it.

    The exact delta decreases with sigma, so bisection on the logarithm of sigma finds it.
    """
    target = math.log(delta)

    def suffices(log_sigma: float) -> bool:
        return gaussian_log_delta(epsilon, math.exp(log_sigma)) <= target

    low, high = -1.0, 1.0
    while suffices(low):
        low *= 2
    while not suffices(high):
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return math.exp(high) * sensitivity


def _mills(x: Array | float) -> Array:
    """Mills' ratio Phi(-x)/phi(x)."""
    return math.sqrt(math.pi / 2) * erfcx(np.asarray(x) / math.sqrt(2))


def _minus_mills_slope(x: Array) -> Array:
    """1 - x M(x) > 0; for large x by the series 1/x^2 - 3/x^4 + 15/x^6 - ..., since the subtraction would lose digits."""
    far = x > 50
    inverse = 1 / np.where(far, x, 1.0) ** 2
    series = inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse * (1 - 9 * inverse))))
    return np.where(far, series, 1 - x * _mills(np.where(far, 0.0, x)))


def _approximate_guarantee(epsilon: float, delta: float, adjacency: Adjacency) -> Guarantee:
    """The guarantee, with delta above 0: no Gaussian noise is (epsilon, 0)-differentially private."""
    guarantee = Guarantee(epsilon, adjacency, delta)
    require_positive(epsilon=epsilon)
    if delta == 0:
        raise EpsilometerError("delta is 0; Gaussian noise needs a delta above 0")
    return guarantee


def _pairs() -> list[NeighbouringPair]:
    return [medical_pair(4, "Alice's diagnosis moves the count by its whole sensitivity")]


ENTRIES = (
    Entry(
        "gaussian_classic",
        "Gaussian mechanism, the textbook's calibration, the count of positive diagnoses",
        lambda epsilon: Gaussian.classic(count_five, 1, epsilon, 1e-5),
        _pairs,
    ),
    Entry(
        "gaussian_analytic",
        "Gaussian mechanism, the analytic calibration, the count of positive diagnoses",
        lambda epsilon: Gaussian.analytic(count_five, 1, epsilon, 1e-5),
        _pairs,
    ),
)
