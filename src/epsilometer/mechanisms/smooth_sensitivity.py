"""The median with noise calibrated to its smooth sensitivity.

Nissim, Raskhodnikova and Smith 2007 (NRS07 below) scale the noise to an upper bound on the local sensitivity. The bound is
beta-smooth: on neighbouring data sets it differs by a factor of at most e^beta, so the scale itself leaks little.
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
"""The smallest gamma allowed: noise of density ~ 1/(1 + |z|^gamma) exceeds 10^r with probability ~ 10^(-r (gamma - 1))."""


@dataclass(frozen=True)
class _NoisyMedian:
    """The median of values in [0, upper], plus (smooth sensitivity) x (a factor) x (standard noise).

    The median of n values is the one of rank m = (n + 1)/2, or m = n/2 (the lower middle value) for even n, so that it is
    always one of the values.
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
        """beta: the smooth sensitivities of neighbouring data sets differ by a factor of at most e^beta."""
        raise NotImplementedError

    @property
    def factor(self) -> float:
        """The ratio of the scale of the noise to the smooth sensitivity."""
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

    S is the smooth sensitivity with smoothing beta, and alpha = beta = epsilon/(2 (gamma + 1)). The privacy loss is at most
    `loss_bound`, about half of epsilon at gamma = 4. Proof: docs/proofs/smooth_sensitivity.md.
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
        """(gamma - 1)^((gamma - 1)/gamma) alpha + max(1, gamma - 1) beta, an upper bound on the privacy loss."""
        slope = (self.gamma - 1) ** ((self.gamma - 1) / self.gamma)
        return slope / self.factor + max(1.0, self.gamma - 1) * self.smoothing

    def _noise(self, size: int, rng: np.random.Generator) -> Array:
        """Noise Z, from |Z|^gamma as the ratio of a Gamma(1/gamma) to a Gamma(1 - 1/gamma) variate.

        To avoid underflow, a Gamma(a) variate is drawn as a Gamma(1 + a) variate times U^(1/a), with U uniform.
        """
        uniforms = 1 - rng.random((2, size))  # in (0, 1]
        above = rng.standard_gamma(1 + 1 / self.gamma, size)
        below = rng.standard_gamma(2 - 1 / self.gamma, size)
        magnitude = uniforms[0] * uniforms[1] ** (-1 / (self.gamma - 1)) * (above / below) ** (1 / self.gamma)
        return np.where(rng.random(size) < 0.5, -magnitude, magnitude)

    def _log_noise_density(self, noise: Array) -> Array:
        """The log-density, normalised by the integral of 1/(1 + |z|^gamma), which is 2 pi/(gamma sin(pi/gamma))."""
        with np.errstate(divide="ignore"):  # log 0 = -inf is correct here
            log_power = self.gamma * np.log(np.abs(noise))
        return -np.logaddexp(0, log_power) - math.log(2 * math.pi / (self.gamma * math.sin(math.pi / self.gamma)))


@dataclass(frozen=True)
class SmoothMedianLaplace(_NoisyMedian):
    """Median + (2 S/epsilon) Laplace noise of scale 1, beta = epsilon/(2 log(2/delta)): (epsilon, delta).

    For large epsilon (from 11 on at delta = 1e-5) or delta near 1, the proof does not hold with NRS07's beta; then the
    largest beta for which it holds is used. Proof: docs/proofs/smooth_sensitivity.md.
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
    """Median + Laplace noise of standard deviation S/epsilon, as nips08 prints it, with pure epsilon claimed.

    The scale S/(sqrt(2) epsilon) depends on the data. Where S(D) < S(D'), log p(o|D') - log p(o|D) grows without bound,
    like |o| (1/scale - 1/scale'), for every smoothing. Where S(D) = S(D'), the shift of the median still costs up to
    sqrt(2) epsilon. nips08 does not state the smoothing; `beta` is our choice.
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
    """The smooth sensitivity: the largest e^(-beta k) LS(D') over all D' that differ from D in k values, for all k.

    LS(D') is the local sensitivity of the median at D'. With the sorted values x_1..x_n, x_i = 0 for i < 1 and x_i = upper
    for i > n, the largest LS(D') at distance k is the largest x_(m+t) - x_(m+t-k-1) for t = 0..k+1 (NRS07, section 3). So
    the result is the largest (x_j - x_i) e^(-beta (j - i - 1)) for 0 <= i <= m <= j <= n + 1. The best j is non-decreasing
    in i, so divide and conquer over i finds it in O(n log n).
    """
    values = _sorted_values(dataset, upper)
    padded = np.concatenate([[0.0], values, [upper]])
    m = (len(values) + 1) // 2
    best_column = np.full(m + 3, len(values) + 1)  # for rows -1 to m + 1; the first and the last are only bounds
    best_column[0] = m
    best = -np.inf
    step = 1 << (m + 1).bit_length()
    while step > 1:
        step //= 2
        places = np.arange(step, m + 2, 2 * step)
        first, last = best_column[places - step], best_column[np.minimum(places + step, m + 2)]
        columns, starts = _concatenate_ranges(first, last)
        rows = np.repeat(places - 1, last - first + 1)
        with np.errstate(divide="ignore"):  # equal values give log 0 = -inf
            log_values = np.log(padded[columns] - padded[rows]) - beta * (columns - rows - 1)
        largest = np.maximum.reduceat(log_values, starts)
        attained = log_values == np.repeat(largest, last - first + 1)
        best_column[places] = np.maximum.reduceat(
            np.where(attained, columns, 0), starts
        )  # in a tie the last one, which is non-decreasing too
        best = max(best, float(largest.max()))
    return math.exp(best)


def _concatenate_ranges(first: NDArray[np.int64], last: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The concatenation of the ranges first[0]..last[0], first[1]..last[1], ..., and the position where each starts."""
    lengths = last - first + 1
    starts = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) - np.repeat(starts - first, lengths), starts


def _sorted_values(dataset: NDArray[Any], upper: float) -> Array:
    """The values sorted; an error if there are none or one is outside [0, upper]."""
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
    """The largest absolute privacy loss of the mechanism with gamma = 4 on these pairs, over all outputs.

    The stationary points of the log-ratio are roots of a polynomial; in the tails it tends to (gamma - 1) log(S(D)/S(D')).
    """
    losses = []
    for pair in pairs:
        first, second = np.asarray(pair.first), np.asarray(pair.second)
        p, q = _quartic(mechanism, first), _quartic(mechanism, second)
        outputs = (p.deriv() * q - q.deriv() * p).roots().real  # real parts of complex roots are harmless candidates
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


def _build_as_printed(epsilon: float) -> SmoothMedianAsPrinted:
    """The mechanism with the smoothing of `SmoothMedian`, so that the two differ in their noise only."""
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
        _build_as_printed,
        _pairs,
        flaw="The scale of the Laplace noise depends on the data, so far out the ratio of densities has no bound; and the "
        "smooth sensitivity over epsilon is taken for the noise's standard deviation, not its scale.",
        true_epsilon=lambda epsilon: math.inf,  # noqa: ARG005
    ),
)
