"""Linear regression by drawing from the posterior: one sample (OPS), and its adaptive version (AdaOPS).

A data set is an array with columns x_1 ... x_d, y and a row for each record, |x| <= 1 and |y| <= 1. Neighbours have one
record more or less.

Why a sample is private. Let A = X'X + lam I and t^ = A^-1 X'y for the smaller data set, P = N(t^, (gamma A)^-1) its
posterior, and P' the one with a further record (x, y). P' is P times exp(-gamma r^2/2), renormalised, with the residual
r = y - x.theta, so the likelihood ratio depends on r alone. With the leverage m = x'A^-1 x, the residual R = y - x.t^, and
a = |R| sqrt(gamma m), r is Gaussian of mean R and variance m/gamma under P, of mean R/(1+m) and variance m/((1+m) gamma)
under P'. For a standard normal Z the log-ratios are therefore, exactly,

    log P/P' under P :   (a^2/(1+m) - log(1+m))/2   + a Z + m Z^2/2
    log P'/P under P':   (a^2/(1+m)^2 + log(1+m))/2 + a Z/(1+m)^(3/2) - m Z^2/(2(1+m)),

both at most log(1+m)/2 + a^2/2 + a |Z| + m Z^2/2. Where m <= 1/h, |R| <= L, and |Z| <= z, which fails with probability
delta for z = Phi^-1(1 - delta/2), this is at most

    log(1 + 1/h)/2 + z^2/(2h) + s^2/2 + s z,      s = L sqrt(gamma/h),

so a gamma that makes it epsilon gives (epsilon, delta)-differential privacy.

The plan is that of Wang 2017 and 2018; the constants are proved here, because those of the author's published
code (yuxiangw/optimal_dp_linear_regression: OPS_epsdelta_balanced.m and adaops.m) cannot be: with w = log(2/delta) it
charges w/(2h) + s sqrt(w) for the two terms in z, half and 1/sqrt(2) of what the Gaussian tail z^2 <= 2w costs.
`OnePosteriorSample(published=True)` is that code. At epsilon = 1 and for at most two records it really spends, where it
promises delta = 1e-10, 39 times as much; promises of 1e-5 and above hold on the same data.
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
"""The published code picks its regularisation for a utility bound that fails with this probability."""


@dataclass(frozen=True)
class OnePosteriorSample:
    """OPS: theta from the density ~ exp(-gamma/2 (|y - X theta|^2 + lam |theta|^2)), a Gaussian.

    For data sets of at most `most_records` records, a public bound N: with n = N - 1 records in the smaller data set,
    |t^| <= min(sqrt(n/lam)/2, n/lam), as the singular values of A^-1 X' are at most 1/(2 sqrt(lam)), so L = 1 + that.
    lam = (1 + z^2)/epsilon spends at most half of epsilon on the terms without gamma; gamma spends the rest. `published`
    takes lam, gamma and an additional unit of regularisation as the author's code does, with N for its n.
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
        values, vectors, projected = _decomposed(dataset)
        if len(dataset) > self.most_records:
            raise EpsilometerError(f"there are {len(dataset)} records; the public bound is {self.most_records}")
        return values, vectors, projected, *self.calibration(len(values))


@dataclass(frozen=True)
class AdaptivePosteriorSample:
    """AdaOPS: private bounds on the smallest eigenvalue of X'X and on |t^| first, then a posterior sample to match.

    An output is the whole transcript, in the columns (e~, D~, theta_1 ... theta_d). With q = (4/epsilon) log(3/(2 delta)),
    z = Phi^-1(1 - delta/6), and Laplace noise given by its scale:

    1. e~ = lambda_min(X'X) + Lap(4/epsilon); e = max(0, e~ - q - 1), lam = max(1, 2(1 + z^2)/epsilon - e), h = e + lam.
    2. D~ = log(1 + |t^|) + Lap(4 s/epsilon), s = log(1 + 1/h); L = max(1, exp(D~ + s (q + 1))).
    3. theta ~ N(t^, (gamma A)^-1), gamma from h, L, z and epsilon/2 as the module says.

    Proof. A record moves lambda_min by at most 1 (Weyl), so step 1 costs epsilon/4; e exceeds the smaller data set's
    lambda_min with probability at most exp(-q epsilon/4)/2 = delta/3, whichever of the two is the input: the 1 beside q is
    for the larger one. Otherwise h <= lambda_min(A), |A^-1 x| <= 1/h, and t^' - t^ = A^-1 x R/(1+m) = A^-1 x (y - x.t^')
    show that 1 + |t^| and 1 + |t^'| are within a factor 1 + 1/h: step 2 costs epsilon/4, and L < 1 + |t^| of the smaller
    data set again with probability at most delta/3. Otherwise |R| <= L, m <= 1/h, and step 3 costs epsilon/2 but for
    probability delta/3. Together: (epsilon, delta).

    The published algorithm has Gaussian noise in steps 1 and 2 and minimises a utility bound over lam; Laplace noise makes
    both steps pure, and the simplest lam does. That lam is at least 1 keeps the posterior proper whatever the noise is.
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
        """z, which a standard normal variable passes, in absolute value, with probability delta/3."""
        return -float(ndtri(self.delta / 6))

    @property
    def margin(self) -> float:
        """q + 1, the margin of the private bounds in units of what a record can change."""
        return 1 + 4 / self.epsilon * math.log(1.5 / self.delta)

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        values, vectors, projected = _decomposed(dataset)
        eigenvalue = values[0] + rng.laplace(scale=4 / self.epsilon, size=size)
        lam, floor = self.regularisation(eigenvalue)
        centre = projected / (values + lam[:, None])
        spread = np.log1p(1 / floor)
        log_size = np.log1p(np.linalg.norm(centre, axis=1)) + spread * rng.laplace(scale=4 / self.epsilon, size=size)
        log_precision = self.log_precision(floor, log_size)[:, None] + np.log(values + lam[:, None])
        theta = (centre + rng.standard_normal(centre.shape) * np.exp(-log_precision / 2)) @ vectors.T
        return np.column_stack([eigenvalue, log_size, theta])

    def log_density(self, dataset: NDArray[Any], outputs: Array) -> Array:
        values, vectors, projected = _decomposed(dataset)
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


def _decomposed(dataset: NDArray[Any]) -> tuple[Array, Array, Array]:
    """The checked data's X'X as eigenvalues (ascending) and eigenvectors, and X'y in the basis of these."""
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
    """The log-density of independent Gaussian columns, for their deviations from the mean and their log-precisions."""
    return (0.5 * (log_precision - math.log(2 * math.pi)) - 0.5 * np.exp(log_precision) * deviation**2).sum(axis=1)


def _log_laplace(deviation: Array, scale: Any) -> Array:
    return -np.abs(deviation) / scale - np.log(2 * scale)


def _require_delta(guarantee: Guarantee) -> None:
    if guarantee.delta <= 0:
        raise EpsilometerError(f"delta is {guarantee.delta:g}; a Gaussian posterior sample needs a delta above 0")


def _add_remove(dataset: list[list[float]], record: list[float], reason: str) -> NeighbouringPair:
    return NeighbouringPair(np.array(dataset), np.array([*dataset, record]), "add-remove", reason)


def _pairs() -> tuple[NeighbouringPair, ...]:
    return (
        _add_remove([[0.0, 0.0, 0.0]], [1.0, 0.0, 1.0], "the only record in its direction has the largest leverage"),
        _add_remove(
            [[1.0, 0.0, 1.0]] * 12 + [[0.0, 1.0, -1.0]] * 2, [0.6, -0.8, -1.0], "an outlier to all others and to the fit"
        ),
    )


def _adaptive_pairs() -> tuple[NeighbouringPair, ...]:
    return (
        _add_remove([[0.0, 0.0]], [1.0, 1.0], "the only record that says anything moves every released quantity"),
        _add_remove([[1.0, 1.0]] * 200, [1.0, -1.0], "an outlier among so many that regularisation adapts to them"),
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
