"""The median with noise in proportion to its smooth sensitivity.

Nissim, Raskhodnikova and Smith 2007 (NRS07 below) scale the noise to how far the median of the data at hand could move,
smoothed so that the scale itself gives little away: neighbours have smooth sensitivities within a factor e^beta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError, Guarantee, NeighbouringPair, require_positive
from epsilometer.mechanisms.catalogue import Entry

SMALLEST_GAMMA = 1.1
"""Noise of density ~ 1/(1 + |z|^gamma) exceeds 10^r with a probability of about 10^(-r (gamma - 1))."""


@dataclass(frozen=True)
class _NoisyMedian:
    """The median of values in [0, upper], plus (smooth sensitivity) x (a factor) x (standard noise).

    The median of n values is the one of rank m = (n + 1)/2, and for an even n the lower of the two in the middle, of rank
    m = n/2, so that it is always one of the values.
    """

    epsilon: float
    upper: float

    def __post_init__(self) -> None:
        require_positive(epsilon=self.guarantee.epsilon, upper=self.upper)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    @property
    def smoothing(self) -> float:
        """beta, by which factor e^beta the smooth sensitivities of neighbours may differ."""
        raise NotImplementedError

    @property
    def factor(self) -> float:
        """What the smooth sensitivity is multiplied with to give the scale of the noise."""
        raise NotImplementedError

    def scale(self, dataset: NDArray[Any]) -> float:
        """The scale of the noise on this data set."""
        sensitivity = median_smooth_sensitivity(dataset, self.upper, self.smoothing)
        if sensitivity == 0:
            raise EpsilometerError(
                f"the smooth sensitivity of {len(dataset)} values with beta = {self.smoothing:g} is below the smallest "
                "number that a computer can tell from 0; take a smaller epsilon"
            )
        return sensitivity * self.factor

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        return median(dataset, self.upper) + self.scale(dataset) * self._noise(size, rng)

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        scale = self.scale(dataset)
        return self._log_noise_density((outputs - median(dataset, self.upper)) / scale) - math.log(scale)

    def _noise(self, size: int, rng: np.random.Generator) -> Array:
        return rng.laplace(size=size)

    def _log_noise_density(self, noise: Array) -> Array:
        return -np.abs(noise) - math.log(2)


@dataclass(frozen=True)
class SmoothMedian(_NoisyMedian):
    """Median + (S/alpha) Z with Z of density h(z) ~ 1/(1 + |z|^gamma), gamma > 1: pure epsilon.

    S is the smooth sensitivity with smoothing beta, and alpha = beta = epsilon/(2 (gamma + 1)). Why that is enough: for
    neighbours D and D', the noises z = alpha (o - f(D))/S(D) and z' behind one output o are linked by z' = e^lambda z +
    shift with e^lambda = S(D)/S(D'), |lambda| <= beta and |shift| <= alpha, and log p(o|D) - log p(o|D') = log h(z) -
    log h(z') - lambda. The slope of log h is at most (gamma - 1)^((gamma - 1)/gamma), which bounds what the shift costs; the
    derivative of -lambda - log h(e^lambda z) by lambda lies in [-1, gamma - 1], which bounds what the stretch costs.
    Together they cost at most `loss_bound`, about half of epsilon at gamma = 4: NRS07's constants are generous.
    """

    gamma: float = 4.0
    source = "nips08, section 2, and review, Definition 5, cite it; Nissim, Raskhodnikova and Smith 2007, Corollary 2.4(1)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not SMALLEST_GAMMA <= self.gamma < math.inf:
            raise EpsilometerError(
                f"gamma is {self.gamma:g}; it must be a number from {SMALLEST_GAMMA:g} on (nearer to 1 the noise overflows)"
            )

    @property
    def smoothing(self) -> float:
        return self.epsilon / (2 * (self.gamma + 1))

    @property
    def factor(self) -> float:
        return 2 * (self.gamma + 1) / self.epsilon

    @property
    def loss_bound(self) -> float:
        """(gamma - 1)^((gamma - 1)/gamma) alpha + max(1, gamma - 1) beta: no log-ratio is larger, on any neighbours."""
        slope = (self.gamma - 1) ** ((self.gamma - 1) / self.gamma)
        return slope / self.factor + max(1.0, self.gamma - 1) * self.smoothing

    def _noise(self, size: int, rng: np.random.Generator) -> Array:
        """|Z|^gamma is a ratio of Gamma(1/gamma) to Gamma(1 - 1/gamma) variates, drawn here so that nothing underflows.

        A Gamma(a) variate is a Gamma(1 + a) variate times U^(1/a), with U uniform.
        """
        uniforms = 1 - rng.random((2, size))  # in (0, 1]
        above = rng.standard_gamma(1 + 1 / self.gamma, size)
        below = rng.standard_gamma(2 - 1 / self.gamma, size)
        magnitude = uniforms[0] * uniforms[1] ** (-1 / (self.gamma - 1)) * (above / below) ** (1 / self.gamma)
        return np.where(rng.random(size) < 0.5, -magnitude, magnitude)

    def _log_noise_density(self, noise: Array) -> Array:
        """The integral of 1/(1 + |z|^gamma) is 2 pi/(gamma sin(pi/gamma))."""
        with np.errstate(divide="ignore"):  # log 0 is -inf, and so it should be
            log_power = self.gamma * np.log(np.abs(noise))
        return -np.logaddexp(0, log_power) - math.log(2 * math.pi / (self.gamma * math.sin(math.pi / self.gamma)))


@dataclass(frozen=True)
class SmoothMedianLaplace(_NoisyMedian):
    """Median + (2 S/epsilon) Laplace noise of scale 1, beta = epsilon/(2 log(2/delta)): (epsilon, delta).

    Why, with lambda and shift as for the pure version: the shift costs at most alpha = epsilon/2. The stretch costs
    -lambda + |z| (e^lambda - 1), which is at most beta for lambda < 0, and for lambda > 0 exceeds epsilon/2 only where
    |z| > t = (epsilon/2 + lambda)/(e^lambda - 1); by how much in probability is e^-t (1 - e^-lambda), which grows in lambda.
    For a large epsilon (from 11 on at delta = 1e-5) or a delta near 1, NRS07's beta is too large for this argument; then the
    largest beta is taken that is at most epsilon/2 and keeps that probability at most delta.
    """

    delta: float
    source = "nips08, section 2, cites it; Nissim, Raskhodnikova and Smith 2007, Corollary 2.4(2)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta == 0:
            raise EpsilometerError("delta is 0; Laplace noise needs a delta above 0 here, whatever the smoothing")

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one", self.delta)

    @property
    def smoothing(self) -> float:
        beta = min(self.epsilon / (2 * math.log(2 / self.delta)), self.epsilon / 2)
        if log_stretch_excess(self.epsilon, beta) <= math.log(self.delta):
            return beta
        low, high = 0.0, beta
        for _ in range(100):
            middle = (low + high) / 2
            enough = log_stretch_excess(self.epsilon, middle) <= math.log(self.delta)
            low, high = (middle, high) if enough else (low, middle)
        return low

    @property
    def factor(self) -> float:
        return 2 / self.epsilon


@dataclass(frozen=True)
class SmoothMedianAsPrinted(_NoisyMedian):
    """Median + Laplace noise of standard deviation S/epsilon, as nips08 prints it, with the promise of pure epsilon.

    The scale is S/(sqrt(2) epsilon), and it depends on the data: where S(D) < S(D'), log p(o|D') - log p(o|D) grows like
    |o| (1/scale - 1/scale') without a bound, whatever the smoothing. Where S is the same on both, the median's move still
    costs up to sqrt(2) epsilon. The smoothing is not printed; it is `beta`.
    """

    beta: float
    source = "nips08, section 2, on Nissim, Raskhodnikova and Smith 2007"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(beta=self.beta)

    @property
    def smoothing(self) -> float:
        return self.beta

    @property
    def factor(self) -> float:
        return 1 / (math.sqrt(2) * self.epsilon)


def median(dataset: NDArray[Any], upper: float) -> float:
    """The value of rank (n + 1)/2, or n/2 for an even n."""
    values = _sorted_values(dataset, upper)
    return float(values[(len(values) + 1) // 2 - 1])


def median_smooth_sensitivity(dataset: NDArray[Any], upper: float, beta: float) -> float:
    """The largest e^(-beta k) LS(D') over all data sets D', which differ from D in some number k of replaced values.

    LS(D') is the furthest that one more replacement can move the median. With the sorted values x_1..x_n, x_i = 0 for i < 1
    and x_i = upper for i > n, the largest at distance k is the largest x_(m+t) - x_(m+t-k-1) for t = 0..k+1 (NRS07,
    section 3), so this is the largest (x_j - x_i) e^(-beta (j - i - 1)) for 0 <= i <= m <= j <= n + 1. The best j grows
    with i, as (x_j - x_i) e^(-beta j) shows, so halving the rows finds it in O(n log n).
    """
    values = _sorted_values(dataset, upper)
    padded = np.concatenate([[0.0], values, [upper]])
    m = (len(values) + 1) // 2
    best_column = np.full(m + 3, len(values) + 1)  # of rows -1 to m + 1, the first and last of which only bound the others
    best_column[0] = m
    best = -np.inf
    step = 1 << (m + 1).bit_length()
    while step > 1:
        step //= 2
        places = np.arange(step, m + 2, 2 * step)
        first, last = best_column[places - step], best_column[np.minimum(places + step, m + 2)]
        columns, starts = _ranges(first, last)
        rows = np.repeat(places - 1, last - first + 1)
        with np.errstate(divide="ignore"):  # equal values give log 0 = -inf
            log_values = np.log(padded[columns] - padded[rows]) - beta * (columns - rows - 1)
        largest = np.maximum.reduceat(log_values, starts)
        attained = log_values == np.repeat(largest, last - first + 1)
        best_column[places] = np.maximum.reduceat(
            np.where(attained, columns, 0), starts
        )  # the last one, which is monotone too
        best = max(best, float(largest.max()))
    return math.exp(best)


def _ranges(first: NDArray[np.int64], last: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers first[0]..last[0], first[1]..last[1], ... in a row, and where each range starts."""
    lengths = last - first + 1
    starts = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) - np.repeat(starts - first, lengths), starts


def _sorted_values(dataset: NDArray[Any], upper: float) -> Array:
    """The values in order, if there are any and all of them are in [0, upper]."""
    values = np.asarray(dataset, dtype=float)
    if values.ndim != 1 or len(values) == 0:
        raise EpsilometerError(f"the data set has shape {values.shape}; it must be a non-empty sequence of numbers")
    wrong = np.flatnonzero(~((values >= 0) & (values <= upper)))
    if len(wrong):
        raise EpsilometerError(f"record {wrong[0] + 1} is {values[wrong[0]]:g}; a value must be in [0, {upper:g}]")
    return np.sort(values)


def log_stretch_excess(epsilon: float, beta: float) -> float:
    """The log of the largest P[Z in A] - e^(epsilon/2) P[e^beta Z in A] over sets A, for Laplace noise Z of scale 1."""
    shrunk = -math.expm1(-beta)  # 1 - e^-beta
    return -(epsilon / 2 + beta) * math.exp(-beta) / shrunk + math.log(shrunk)


def largest_loss(mechanism: SmoothMedian, pairs: Sequence[NeighbouringPair]) -> float:
    """What the pure mechanism with gamma = 4 spends on these pairs: the supremum of the |log-ratio| over all outputs.

    The ratio's stationary points are roots of a polynomial; far out it tends to (gamma - 1) log(S(D)/S(D')).
    """
    losses = []
    for pair in pairs:
        first, second = np.asarray(pair.first), np.asarray(pair.second)
        p, q = _quartic(mechanism, first), _quartic(mechanism, second)
        outputs = (p.deriv() * q - q.deriv() * p).roots().real  # where a root is complex, its real part does no harm
        ratios = mechanism.log_density(first, outputs) - mechanism.log_density(second, outputs)
        far_out = 3 * math.log(mechanism.scale(first) / mechanism.scale(second))
        losses.append(float(np.max(np.abs(np.append(ratios, far_out)))))
    return max(losses)


def _quartic(mechanism: SmoothMedian, dataset: NDArray[Any]) -> Any:
    """1 + z^4 as a polynomial of the output."""
    scale = mechanism.scale(dataset)
    return 1 + np.polynomial.Polynomial([-median(dataset, mechanism.upper) / scale, 1 / scale]) ** 4


def _pairs() -> list[NeighbouringPair]:
    return [
        NeighbouringPair(
            np.array([0.0, 0.0, 0.0, 1.0, 1.0]),
            np.array([0.0, 0.0, 1.0, 1.0, 1.0]),
            "replace-one",
            "one value decides on which side of the widest gap the median is; the noise is the same",
        ),
        NeighbouringPair(
            np.array([0.0, 0.0, 0.0, 0.5, 0.5]),
            np.array([0.0, 0.0, 0.5, 0.5, 0.5]),
            "replace-one",
            "the median jumps across a gap of half the range, and the noise changes with it",
        ),
        NeighbouringPair(
            np.array([0.0, 0.0, 0.0, 0.0, 1.0]),
            np.array([0.0, 0.0, 0.0, 1.0, 1.0]),
            "replace-one",
            "the median stays, but comes to the edge of the gap: the smooth sensitivity grows by the whole e^beta",
        ),
    ]


def _printed(epsilon: float) -> SmoothMedianAsPrinted:
    """With the smoothing of the pure mechanism, so that the two differ in their noise alone."""
    return SmoothMedianAsPrinted(epsilon, 1.0, beta=SmoothMedian(epsilon, 1.0).smoothing)


ENTRIES = (
    Entry(
        "smooth_median",
        "Median with smooth sensitivity and noise of density ~ 1/(1 + z^4)",
        lambda epsilon: SmoothMedian(epsilon, 1.0),
        _pairs,
        true_epsilon=lambda epsilon: largest_loss(SmoothMedian(epsilon, 1.0), _pairs()),
    ),
    Entry(
        "smooth_median_laplace",
        "Median with smooth sensitivity and Laplace noise",
        lambda epsilon: SmoothMedianLaplace(epsilon, 1.0, delta=1e-5),
        _pairs,
    ),
    Entry(
        "smooth_median_as_printed",
        "Median with smooth sensitivity, Laplace noise given by its standard deviation, and a pure promise",
        _printed,
        _pairs,
        flaw="The scale of the Laplace noise depends on the data, so far out the ratio of densities has no bound; and the "
        "smooth sensitivity over epsilon is taken for the noise's standard deviation, not its scale.",
        true_epsilon=lambda epsilon: math.inf,  # noqa: ARG005
    ),
)
