"""Linear regression by one sample from the posterior (OPS), and its adaptive version (AdaOPS).

A data set is an array with columns x_1 ... x_d, y and a row for each record, |x| <= 1 and |y| <= 1. Neighbours have one
record more or less. The algorithms are those of Wang 2017 and 2018. The constants are our own, proved in
docs/proofs/posterior_sampling.md, because those of the author's published code, `OnePosteriorSample(published=True)`,
violate the claimed guarantee for small delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from epsilometer.core import Array, EpsilometerError, Guarantee, NeighbouringPair, output_rows
from epsilometer.core.nouns import NORM_SLACK
from epsilometer.mechanisms.catalogue import Entry

UTILITY_FAILURE = 0.05
"""The published code chooses the regularisation for a utility bound with this failure probability."""


@dataclass(frozen=True)
class OnePosteriorSample:
    """OPS: theta from the density ~ exp(-gamma/2 (|y - X theta|^2 + lam |theta|^2)), a Gaussian.

    For data sets of at most `most_records` records, a public bound N: with n = N - 1 records in the smaller data set,
    |t^| <= min(sqrt(n/lam)/2, n/lam), as the singular values of A^-1 X' are at most 1/(2 sqrt(lam)), so L = 1 + that.
    With lam = (1 + z^2)/epsilon, the terms without gamma cost at most half of epsilon; gamma is chosen to cost the rest.
    `published` uses the lam, the gamma and the additional unit of regularisation of the author's code, with N for its n.
    """

    epsilon: float
    delta: float
    most_records: int
    published: bool = False
    source = (
        "review, section III-A2 [11]; Wang 2017, Per-instance differential privacy, one posterior sample; "
        "constants proved in this module"
    )

    def __post_init__(self) -> None:
        _require_delta(self.guarantee)
        if self.most_records < 1:
            raise EpsilometerError(f"most_records is {self.most_records}; it must be at least 1")

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "add-remove", self.delta)

    def calibration(self, d: int) -> tuple[float, float]:
        """The regularisation lam and the precision gamma for d features."""
        if self.published:
            return _published_calibration(self.epsilon, self.delta, self.most_records, d)
        z = -float(ndtri(self.delta / 2))
        lam = (1 + z**2) / self.epsilon
        others = self.most_records - 1
        longest = min(math.sqrt(others / lam) / 2, others / lam)
        return lam, math.exp(float(_log_precision(self.epsilon, lam, z))) / (1 + longest) ** 2

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        values, vectors, projected, lam, gamma = self._posterior(dataset)
        noise = rng.standard_normal((size, len(values))) / np.sqrt(gamma * (values + lam))
        return (projected / (values + lam) + noise) @ vectors.T

    def log_density(self, dataset: NDArray[Any], outputs: Array) -> Array:
        values, vectors, projected, lam, gamma = self._posterior(dataset)
        outputs = output_rows(outputs, len(values))
        return _log_gaussian(outputs @ vectors - projected / (values + lam), np.log(gamma) + np.log(values + lam))

    def _posterior(self, dataset: NDArray[Any]) -> tuple[Array, Array, Array, float, float]:
        values, vectors, projected = _decompose(dataset)
        if len(dataset) > self.most_records:
            raise EpsilometerError(f"there are {len(dataset)} records; the public bound is {self.most_records}")
        return values, vectors, projected, *self.calibration(len(values))


@dataclass(frozen=True)
class AdaptivePosteriorSample:
    """AdaOPS: private bounds on the smallest eigenvalue of X'X and on |t^|, then a posterior sample calibrated to them.

    An output is the whole transcript, in the columns (e~, D~, theta_1 ... theta_d). With q = (4/epsilon) log(3/(2 delta)), z
    = Phi^-1(1 - delta/6), and Laplace noise given by its scale:

    1. e~ = lambda_min(X'X) + Lap(4/epsilon); e = max(0, e~ - q - 1), lam = max(1, 2(1 + z^2)/epsilon - e), h = e + lam.
    2. D~ = log(1 + |t^|) + Lap(4 s/epsilon), s = log(1 + 1/h); L = max(1, exp(D~ + s (q + 1))).
    3. theta ~ N(t^, (gamma A)^-1), gamma from h, L, z and epsilon/2.

    Proof: docs/proofs/posterior_sampling.md.
    """

    epsilon: float
    delta: float
    source = "review, section III-A2 [11]; Wang 2017 and Wang 2018, AdaOPS; constants proved in this module"

    def __post_init__(self) -> None:
        _require_delta(self.guarantee)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "add-remove", self.delta)

    @property
    def tail(self) -> float:
        """z with P(|Z| > z) = delta/3 for a standard normal Z."""
        return -float(ndtri(self.delta / 6))

    @property
    def margin(self) -> float:
        """q + 1, the margin of the private bounds in units of their sensitivity."""
        return 1 + 4 / self.epsilon * math.log(1.5 / self.delta)

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        values, vectors, projected = _decompose(dataset)
        eigenvalue = values[0] + rng.laplace(scale=4 / self.epsilon, size=size)
        lam, floor = self.regularisation(eigenvalue)
        centre = projected / (values + lam[:, None])
        spread = np.log1p(1 / floor)
        log_size = np.log1p(np.linalg.norm(centre, axis=1)) + spread * rng.laplace(scale=4 / self.epsilon, size=size)
        log_precision = self.log_precision(floor, log_size)[:, None] + np.log(values + lam[:, None])
        theta = (centre + rng.standard_normal(centre.shape) * np.exp(-log_precision / 2)) @ vectors.T
        return np.column_stack([eigenvalue, log_size, theta])

    def log_density(self, dataset: NDArray[Any], outputs: Array) -> Array:
        values, vectors, projected = _decompose(dataset)
        outputs = output_rows(outputs, 2 + len(values))
        eigenvalue, log_size, theta = outputs[:, 0], outputs[:, 1], outputs[:, 2:]
        lam, floor = self.regularisation(eigenvalue)
        centre = projected / (values + lam[:, None])
        log_precision = self.log_precision(floor, log_size)[:, None] + np.log(values + lam[:, None])
        return (
            _log_laplace(eigenvalue - values[0], 4 / self.epsilon)
            + _log_laplace(log_size - np.log1p(np.linalg.norm(centre, axis=1)), 4 / self.epsilon * np.log1p(1 / floor))
            + _log_gaussian(theta @ vectors - centre, log_precision)
        )

    def regularisation(self, eigenvalue: Array) -> tuple[Array, Array]:
        """lam and h for each noisy eigenvalue e~."""
        below = np.maximum(0, eigenvalue - self.margin)
        lam = np.maximum(1, 2 * (1 + self.tail**2) / self.epsilon - below)
        return lam, below + lam

    def log_precision(self, floor: Array, log_size: Array) -> Array:
        """log gamma for each h and each noisy D~."""
        log_bound = np.maximum(0, log_size + np.log1p(1 / floor) * self.margin)
        return _log_precision(self.epsilon / 2, floor, self.tail) - 2 * log_bound


def _log_precision(epsilon: float, floor: Any, z: float) -> Any:
    """log gamma such that log(1 + 1/h)/2 + z^2/(2h) + s^2/2 + s z = epsilon for h = floor, s^2 = gamma/h, and L = 1."""
    left = epsilon - np.log1p(1 / floor) / 2 - z**2 / (2 * floor)
    return np.log(floor) + 2 * np.log(2 * left / (z + np.sqrt(z**2 + 2 * left)))


def _published_calibration(epsilon: float, delta: float, n: int, d: int) -> tuple[float, float]:
    """lam (with the unit that the code adds to X'X) and gamma of OPS_epsdelta_balanced.m, for norms of at most 1."""
    tail = math.log(2 / delta)
    chance = math.log(1 / UTILITY_FAILURE)
    cost = (d / 2 + math.sqrt(d * chance) + chance) * tail / min(epsilon / 2, math.sqrt(epsilon / 2)) ** 2
    lam = max((cost * n / 2) ** (1 / 3), (1 + tail) / epsilon)
    bound = 1 + min(math.sqrt(n / (2 * lam)), n / lam)
    a, b, c = bound**2 / (lam + 1), bound * math.sqrt(tail / lam), (1 + tail) / (2 * lam) - epsilon
    root = (-b + math.sqrt(b**2 - 4 * a * c)) / (2 * a)
    return lam + 1, root**2


def _decompose(dataset: NDArray[Any]) -> tuple[Array, Array, Array]:
    """The eigenvalues (ascending) and eigenvectors of X'X, and X'y in the eigenbasis; the data are checked first."""
    table = np.asarray(dataset, dtype=float)
    if table.ndim != 2 or len(table) == 0 or table.shape[1] < 2:
        raise EpsilometerError(f"the data have shape {table.shape}; they must have a row x_1 ... x_d, y for each record")
    if not np.isfinite(table).all():
        raise EpsilometerError("the data have a missing or infinite value; fill it or leave the record out")
    x, y = table[:, :-1], table[:, -1]
    for name, largest in (("|x|", np.linalg.norm(x, axis=1).max()), ("|y|", np.abs(y).max())):
        if largest > 1 + NORM_SLACK:
            raise EpsilometerError(f"a record has {name} = {largest:.6g}; scale the records by a public bound to at most 1")
    values, vectors = np.linalg.eigh(x.T @ x)
    return np.maximum(values, 0.0), vectors, vectors.T @ (x.T @ y)


def _log_gaussian(deviation: Array, log_precision: Array) -> Array:
    """The log-density of independent Gaussian columns, from their deviations from the mean and log-precisions."""
    return (0.5 * (log_precision - math.log(2 * math.pi)) - 0.5 * np.exp(log_precision) * deviation**2).sum(axis=1)


def _log_laplace(deviation: Array, scale: Any) -> Array:
    return -np.abs(deviation) / scale - np.log(2 * scale)


def _require_delta(guarantee: Guarantee) -> None:
    if guarantee.delta <= 0:
        raise EpsilometerError(f"delta is {guarantee.delta:g}; a Gaussian posterior sample needs a delta above 0")


def _add_remove_pair(dataset: list[list[float]], record: list[float], reason: str) -> NeighbouringPair:
    return NeighbouringPair(np.array(dataset), np.array([*dataset, record]), "add-remove", reason)


def _pairs() -> tuple[NeighbouringPair, ...]:
    return (
        _add_remove_pair([[0.0, 0.0, 0.0]], [1.0, 0.0, 1.0], "the only record in its direction has the largest leverage"),
        _add_remove_pair(
            [[1.0, 0.0, 1.0]] * 12 + [[0.0, 1.0, -1.0]] * 2, [0.6, -0.8, -1.0], "an outlier to all others and to the fit"
        ),
    )


def _adaptive_pairs() -> tuple[NeighbouringPair, ...]:
    return (
        _add_remove_pair([[0.0, 0.0]], [1.0, 1.0], "the only record that says anything moves every released quantity"),
        _add_remove_pair([[1.0, 1.0]] * 200, [1.0, -1.0], "an outlier among so many that regularisation adapts to them"),
    )


ENTRIES = (
    Entry(
        "posterior_sampling",
        "Linear regression by one posterior sample",
        lambda epsilon: OnePosteriorSample(epsilon, 1e-5, 16),
        _pairs,
    ),
    Entry(
        "posterior_sampling_adaptive",
        "Linear regression by one posterior sample, adaptively regularised",
        lambda epsilon: AdaptivePosteriorSample(epsilon, 1e-5),
        _adaptive_pairs,
    ),
)
