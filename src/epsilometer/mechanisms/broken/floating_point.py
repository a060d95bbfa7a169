"""The Laplace mechanism in floating point: the textbook sampler, which leaks the answer, and the snapping mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError, Guarantee, NeighbouringPair
from epsilometer.mechanisms.broken.scalar import count_bits
from epsilometer.mechanisms.catalogue import Entry

CANDIDATES_AT_ONCE = 1 << 22
MACHINE_EPSILON = 2.0**-52


@dataclass(frozen=True)
class FloatingPointLaplace:
    """Broken: the count of ones plus s b log(u) in double precision, s a random sign, b = 1/epsilon, u = k 2^-bits.

    k is uniform on 1, ..., 2^bits. In real arithmetic s b log(u) is Laplace noise. In double precision the support depends
    on the count: many outputs that are possible for one count are impossible for another. The distribution is discrete: an
    output has probability ways/2^(bits + 1), and no density.
    """

    epsilon: float
    bits: int = 53
    source = "Mironov 2012, the textbook sampling procedure that it attacks"

    def __post_init__(self) -> None:
        _ = self.guarantee
        if not 1 <= self.bits <= 53:
            raise EpsilometerError(f"bits is {self.bits}; it must be from 1 to 53, the precision of a double")

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    @property
    def scale(self) -> float:
        """b, the scale of the noise."""
        return 1 / self.epsilon

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        k = rng.integers(1, 2**self.bits, size=size, endpoint=True)
        return self._output(count_bits(dataset), rng.choice([-1.0, 1.0], size), k.astype(np.float64))

    def attainable(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each output is in the support for this data set."""
        return self.ways(dataset, outputs) > 0

    def log_probability(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        """The log-probability of each output, a single double; -inf where it is impossible."""
        with np.errstate(divide="ignore"):
            return np.log(self.ways(dataset, outputs)) - (self.bits + 1) * math.log(2)

    def ways(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> NDArray[np.int64]:
        """The number of the 2^(bits + 1) pairs (s, k) that yield each output o.

        Without rounding, k = exp(-|o - count|/b) 2^bits. Rounding changes it by at most half a unit in the last place of
        |o| + count, for the sum, and by a few relative errors of 2^-53. All k within twice that distance are tried.
        """
        count = count_bits(dataset)
        finite = np.isfinite(outputs)
        outputs = np.where(finite, outputs, count)
        exponent = np.abs(outputs - count) / self.scale
        middle = np.exp(-exponent) * 2.0**self.bits
        rounding = np.spacing(np.abs(outputs) + np.abs(count)) / self.scale + 4 * MACHINE_EPSILON * (1 + exponent)
        reach = int(np.ceil(np.max(middle * np.minimum(rounding, 1.0), initial=0.0))) + 2
        tried = np.arange(-reach, reach + 1, dtype=np.float64)
        step = max(1, CANDIDATES_AT_ONCE // len(tried))
        result = np.zeros(len(outputs), dtype=np.int64)
        for first in range(0, len(outputs), step):
            part = slice(first, first + step)
            k = np.round(middle[part, None]) + tried
            possible = (k >= 1) & (k <= 2.0**self.bits)
            for sign in (-1.0, 1.0):
                leads = self._output(count, sign, np.where(possible, k, 1.0)) == outputs[part, None]
                result[part] += np.sum(leads & possible, axis=1)
        return np.where(finite, result, 0)

    def _output(self, count: float, sign: Array | float, k: Array) -> Array:
        """count + s b log(k 2^-bits), every step rounded to a double."""
        return count + sign * (self.scale * np.log(k * 2.0**-self.bits))


@dataclass(frozen=True)
class Snapping:
    """The snapping mechanism: the count plus Laplace noise, rounded to a multiple of L and clipped to [-B, B].

    The noise s b log(u) has scale b = (1 + 2^-49 B)/epsilon, and u has 53 significant bits at every magnitude; L is the
    smallest power of two that is at least b. The support is the multiples of L, -B and B, for every count. The probabilities
    here are those of real arithmetic. The theorem covers the rounding errors by the term 2^-49 B; it requires b < B < 2^46 b
    and a correctly rounded logarithm.
    """

    epsilon: float
    bound: float = 256.0
    source = "Mironov 2012, Theorem 1 (snapping mechanism)"

    def __post_init__(self) -> None:
        _ = self.guarantee
        if not self.scale < self.bound < 2.0**46 * self.scale:
            raise EpsilometerError(
                f"the bound is {self.bound:g}; it must be above the noise's scale {self.scale:g}, and below 2^46 times it"
            )

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    @property
    def scale(self) -> float:
        """b, the scale of the noise."""
        return (1 + self.bound * 2.0**-49) / self.epsilon

    @property
    def unit(self) -> float:
        """L, the distance between outputs."""
        return 2.0 ** math.ceil(math.log2(self.scale))

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        mantissa = 1 + rng.integers(2**52, size=size) * 2.0**-52
        u = np.ldexp(mantissa, -rng.geometric(0.5, size).astype(np.int32))
        noise = rng.choice([-1.0, 1.0], size) * (self.scale * np.log(u))
        noisy = np.clip(count_bits(dataset), -self.bound, self.bound) + noise
        return np.clip(self.unit * np.round(noisy / self.unit), -self.bound, self.bound) + 0.0  # no -0.0

    def support(self, dataset: NDArray[Any]) -> Array:  # noqa: ARG002
        steps = math.ceil(self.bound / self.unit)
        return np.clip(self.unit * np.arange(-steps, steps + 1), -self.bound, self.bound)

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        outputs, support = np.asarray(outputs, dtype=np.float64), self.support(dataset)
        count = float(np.clip(count_bits(dataset), -self.bound, self.bound))
        place = np.searchsorted(support, outputs).clip(0, len(support) - 1)
        steps = np.arange(len(support)) - len(support) // 2
        low = np.append(-np.inf, self.unit * (steps[1:] - 0.5)) - count
        high = np.append(self.unit * (steps[:-1] + 0.5), np.inf) - count
        log_probability = _log_laplace_between(low / self.scale, high / self.scale)
        return np.where(support[place] == outputs, log_probability[place], -np.inf)


def _log_laplace_between(low: Array, high: Array) -> Array:
    """log P(low < Z < high) for standard Laplace noise, accurate in the tails."""
    near, far = np.maximum(low, -high), np.maximum(high, -low)
    one_side = -near - math.log(2) + np.log1p(-np.exp(near - far))
    around_zero = np.log1p(-(np.exp(-np.abs(low)) + np.exp(-np.abs(high))) / 2)
    return np.where(near > 0, one_side, around_zero)


def _pairs() -> list[NeighbouringPair]:
    return [
        NeighbouringPair(np.array([0, 0]), np.array([0, 1]), "replace-one", "a count of 0 keeps every bit of the noise"),
        NeighbouringPair(np.array([1, 0, 1, 1, 0]), np.array([1, 0, 1, 1, 1]), "replace-one", "a count moves from 3 to 4"),
    ]


ENTRIES = (
    Entry(
        "laplace_floating_point",
        "Laplace mechanism in floating point, as in textbooks",
        FloatingPointLaplace,
        _pairs,
        flaw="The noise is a rounded logarithm of a rounded uniform number; the doubles that it can reach differ from one "
        "count to the next, so that the last bits show the count.",
        true_epsilon=lambda epsilon: math.inf,  # noqa: ARG005
    ),
    Entry(
        "snapping",
        "snapping mechanism",
        Snapping,
        _pairs,
        true_epsilon=lambda epsilon: 1 / Snapping(epsilon).scale,
    ),
)
