"""Broken counts and histograms, each with one flaw, and the correct counterparts that no other module has."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp, xlog1py, xlogy

from epsilometer.core import Array, EpsilometerError, Guarantee, NeighbouringPair, output_rows
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.laplace import Laplace, exact_answer, log_laplace, noise_behind
from epsilometer.mechanisms.noisy_max import query_answers
from epsilometer.mechanisms.randomized_response import require_bits

BINS = 5
SEEDS = 256
FRACTION = 0.2
"""The sampling probability q of `SubsampledCount`, and the one that `AmplifiedFullBatch` claims."""


def count_bits(dataset: NDArray[Any]) -> float:
    """The number of ones; its sensitivity is 1 under either adjacency."""
    return float(require_bits(dataset).sum())


def histogram(dataset: NDArray[Any]) -> Array:
    """The number of records in each bin 0 to 4; the L1 sensitivity is 2 under replace-one, 1 under add-remove."""
    bins = np.asarray(dataset)
    wrong = ~np.isin(bins, np.arange(BINS))
    if bins.ndim != 1 or wrong.any():
        what = f"shape {bins.shape}" if bins.ndim != 1 else f"a record {bins[wrong][0]:g}"
        raise EpsilometerError(f"the data set has {what}; it must be a list of bins from 0 to {BINS - 1}")
    return np.bincount(bins.astype(np.int64), minlength=BINS).astype(float)


class HalfScaleLaplace(Laplace):
    """Broken: Laplace noise of scale S/(2 epsilon), half of S/epsilon; the privacy loss reaches 2 epsilon."""

    source = "postech, Laplace mechanism, with half of its noise"

    @property
    def scale(self) -> float:
        return self.sensitivity / (2 * self.epsilon)


class InverseScaleLaplace(Laplace):
    """Broken: Laplace noise of scale S epsilon instead of S/epsilon; the loss 1/epsilon exceeds epsilon below 1."""

    source = "Ding et al. 2018, Algorithm 10"

    @property
    def scale(self) -> float:
        return self.sensitivity * self.epsilon


class AddRemoveNoise(Laplace):
    """Broken: the Laplace mechanism with the sensitivity for add-remove and a guarantee claimed for replace-one.

    An exchanged record leaves one bin of a histogram and enters another: two counts change by 1, and the privacy loss is
    2 epsilon.
    """

    source = "review, Definition 6, with the sensitivity of the other adjacency"


class OneByteSeed(Laplace):
    """Broken: Laplace noise from a generator that is seeded with one byte, drawn uniformly from 0 to 255.

    So the noise has only 256 values, S/epsilon times the first draw for each seed. The support of the output is the answer
    (a number) plus these values, and the supports for different answers differ.
    """

    source = "postech, Laplace mechanism, with too small a seed"

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> Array:
        return self._outputs_by_seed(dataset)[rng.integers(SEEDS, size=size)]

    def support(self, dataset: Any) -> Array:
        return np.unique(self._outputs_by_seed(dataset))

    def log_density(self, dataset: Any, outputs: NDArray[Any]) -> Array:
        possible = np.sort(self._outputs_by_seed(dataset))
        ways = np.searchsorted(possible, outputs, side="right") - np.searchsorted(possible, outputs, side="left")
        with np.errstate(divide="ignore"):
            return np.log(ways / SEEDS)

    def _outputs_by_seed(self, dataset: Any) -> Array:
        return float(exact_answer(self.query, dataset)) + self.scale * _first_draws()


@cache
def _first_draws() -> Array:
    """The first standard Laplace draw of a generator with each seed of one byte."""
    return np.array([np.random.default_rng(seed).laplace() for seed in range(SEEDS)])


@dataclass(frozen=True)
class GeometricCounts:
    """k counts, each plus independent two-sided geometric noise, clipped to 0 ... n.

    The data set is a table of zeros and ones with n rows and k columns; count j is the number of ones in column j.
    Exchanging a record changes each count by at most 1. P(Z = z) = (1 - a)/(1 + a) a^|z| with a = exp(-epsilon/k), so each
    count costs epsilon/k. Outputs have k columns of whole numbers.
    """

    epsilon: float
    source = "Ghosh, Roughgarden and Sundararajan 2009, truncated geometric mechanism"

    def __post_init__(self) -> None:
        _ = self.guarantee

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        counts = query_answers(dataset).astype(np.int64)
        noise = self._noise((size, len(counts)), len(counts), rng)
        return np.clip(counts + noise, 0, len(dataset))

    def support(self, dataset: NDArray[Any]) -> NDArray[np.int64]:
        queries = len(query_answers(dataset))
        return np.stack(np.meshgrid(*[np.arange(len(dataset) + 1)] * queries, indexing="ij"), axis=-1).reshape(-1, queries)

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        low, high = self._noise_between(dataset, outputs)
        return self._log_probability(low, high, low.shape[1]).sum(axis=1)

    def _noise(self, shape: tuple[int, int], queries: int, rng: np.random.Generator) -> NDArray[np.int64]:
        success = -math.expm1(-self.epsilon / queries)
        return rng.geometric(success, shape) - rng.geometric(success, shape)

    def _noise_between(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> tuple[Array, Array]:
        """The smallest and the largest noise that yield each count of each output; smallest > largest where none does."""
        counts, n = query_answers(dataset), len(dataset)
        outputs = output_rows(outputs, len(counts))
        possible = np.isin(outputs, np.arange(n + 1))
        low = np.where(outputs == 0, -np.inf, outputs - counts)
        high = np.where(outputs == n, np.inf, outputs - counts)
        return np.where(possible, low, np.inf), np.where(possible, high, -np.inf)

    def _log_probability(self, low: Array, high: Array, queries: int) -> Array:
        """log P(low <= Z <= high), from tails P(Z >= z) = a^z/(1 + a), z >= 1, which do not cancel."""
        a = math.exp(-self.epsilon / queries)

        def tail(z: Array) -> Array:
            return a ** np.maximum(z, 0.0) / (1 + a)

        around_zero = 1 - tail(1 - low) - tail(high + 1)
        one_side = tail(np.where(low > 0, low, -high)) - tail(np.where(low > 0, high, -low) + 1)
        with np.errstate(divide="ignore"):
            return np.log(np.where(low > high, 0.0, np.where((low <= 0) & (high >= 0), around_zero, one_side)))


class ReusedNoise(GeometricCounts):
    """Broken: one draw of noise for all counts, so the differences of the counts are released exactly."""

    source = "Ghosh, Roughgarden and Sundararajan 2009, truncated geometric mechanism, with one draw for all counts"

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        counts = query_answers(dataset).astype(np.int64)
        return np.clip(counts + self._noise((size, 1), len(counts), rng), 0, len(dataset))

    def support(self, dataset: NDArray[Any]) -> NDArray[np.int64]:
        counts, n = query_answers(dataset).astype(np.int64), len(dataset)
        return np.unique(np.clip(counts + np.arange(-n, n + 1)[:, None], 0, n), axis=0)

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        low, high = self._noise_between(dataset, outputs)
        return self._log_probability(low.max(axis=1), high.min(axis=1), low.shape[1])


def epsilon_before_sampling(epsilon: float, fraction: float) -> float:
    """The epsilon_0 on a Poisson sample of rate q that amplification turns into epsilon: log(1 + (e^epsilon - 1)/q)."""
    return math.log1p(math.expm1(epsilon) / fraction)


@dataclass(frozen=True)
class SubsampledCount:
    """The count of ones in a Poisson sample of rate q, plus Laplace noise of scale 1/epsilon_0.

    epsilon_0 = log(1 + (e^epsilon - 1)/q), since sampling amplifies epsilon_0 to log(1 + q (e^epsilon_0 - 1)) = epsilon.
    With m ones the density is sum_k Binomial(m, q)(k) Laplace(o - k).
    """

    epsilon: float
    fraction: float = FRACTION
    source = "Balle, Barthe and Gaboardi 2018, Theorem 8 (Poisson sampling)"

    def __post_init__(self) -> None:
        _ = self.guarantee
        _require_fraction(self.fraction)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "add-remove")

    @property
    def scale(self) -> float:
        """The scale of the noise."""
        return 1 / epsilon_before_sampling(self.epsilon, self.fraction)

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        return rng.binomial(int(count_bits(dataset)), self.fraction, size) + rng.laplace(scale=self.scale, size=size)

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        ones = count_bits(dataset)
        k = np.arange(ones + 1)
        log_choose = gammaln(ones + 1) - gammaln(k + 1) - gammaln(ones - k + 1)
        log_binomial = log_choose + xlogy(k, self.fraction) + xlog1py(ones - k, -self.fraction)
        noise = np.asarray(outputs, dtype=float)[:, None] - k
        return logsumexp(log_binomial - np.abs(noise) / self.scale - math.log(2 * self.scale), axis=1)


@dataclass(frozen=True)
class AmplifiedFullBatch(SubsampledCount):
    """Broken: the noise of `SubsampledCount` on the count of all records: epsilon is claimed, but the loss is epsilon_0."""

    source = "Balle, Barthe and Gaboardi 2018, Theorem 8, without the sampling"

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        return count_bits(dataset) + rng.laplace(scale=self.scale, size=size)

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        return log_laplace(noise_behind(count_bits, dataset, outputs), self.scale)


def _require_fraction(fraction: float) -> None:
    if not 0 < fraction <= 1:
        raise EpsilometerError(f"the sampled fraction is {fraction:g}; it must be above 0 and at most 1")


def _flipped_bit_pairs() -> list[NeighbouringPair]:
    return [
        NeighbouringPair(
            np.array([1, 0, 1, 1, 0]), np.array([1, 0, 1, 1, 1]), "replace-one", "the count moves by its whole sensitivity"
        )
    ]


def _added_bit_pairs() -> list[NeighbouringPair]:
    return [
        NeighbouringPair(
            np.array([1, 0, 1, 1]), np.array([1, 0, 1, 1, 1]), "add-remove", "the count moves by its whole sensitivity"
        )
    ]


def _moved_record_pairs() -> list[NeighbouringPair]:
    return [
        NeighbouringPair(
            np.array([0, 1, 2, 3, 4]), np.array([1, 1, 2, 3, 4]), "replace-one", "a record leaves one bin and enters another"
        )
    ]


def _added_record_pairs() -> list[NeighbouringPair]:
    return [NeighbouringPair(np.array([1, 2, 3, 4]), np.array([0, 1, 2, 3, 4]), "add-remove", "one bin has one record more")]


def _two_count_pairs() -> list[NeighbouringPair]:
    bits = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 1], [0, 0]])
    one_count, both_counts = bits.copy(), bits.copy()
    one_count[5] = [1, 0]
    both_counts[5] = [1, 1]
    return [
        NeighbouringPair(bits, one_count, "replace-one", "one of the two counts moves, and so their difference"),
        NeighbouringPair(bits, both_counts, "replace-one", "both counts move together, and their difference stays"),
    ]


ENTRIES = (
    Entry(
        "laplace_half_scale",
        "Laplace mechanism with half of the noise",
        lambda epsilon: HalfScaleLaplace(count_bits, 1, epsilon),
        _flipped_bit_pairs,
        flaw="The scale of the noise is half the sensitivity over epsilon.",
        true_epsilon=lambda epsilon: 2 * epsilon,
    ),
    Entry(
        "histogram_wrong_adjacency",
        "histogram with the sensitivity of the other adjacency",
        lambda epsilon: AddRemoveNoise(histogram, 1, epsilon, "replace-one"),
        _moved_record_pairs,
        flaw="The sensitivity 1 is that for adding or removing a record; the promise is for exchanging one, which changes "
        "two bins.",
        true_epsilon=lambda epsilon: 2 * epsilon,
    ),
    Entry(
        "histogram_inverse_scale",
        "histogram with noise of scale epsilon",
        lambda epsilon: InverseScaleLaplace(histogram, 1, epsilon, "add-remove"),
        _added_record_pairs,
        flaw="The scale of the noise is epsilon instead of 1/epsilon, too small whenever epsilon is below 1.",
        true_epsilon=lambda epsilon: 1 / epsilon,
    ),
    Entry(
        "laplace_one_byte_seed",
        "Laplace mechanism with a seed of one byte",
        lambda epsilon: OneByteSeed(count_bits, 1, epsilon),
        _flipped_bit_pairs,
        flaw="The generator's seed is one byte, so that the noise has 256 values, and an output shows which answer it came "
        "from.",
        true_epsilon=lambda epsilon: math.inf,  # noqa: ARG005
    ),
    Entry(
        "geometric_counts",
        "truncated geometric mechanism, two counts",
        GeometricCounts,
        _two_count_pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
    Entry(
        "geometric_reused_noise",
        "two counts with the same noise",
        ReusedNoise,
        _two_count_pairs,
        flaw="Both counts get the same draw of noise, so that their difference is exact.",
        true_epsilon=lambda epsilon: math.inf,  # noqa: ARG005
    ),
    Entry(
        "subsampled_count",
        "Laplace mechanism on a random sample of the records",
        SubsampledCount,
        _added_bit_pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
    Entry(
        "full_batch_amplified",
        "Laplace mechanism with a budget amplified by sampling that never happens",
        AmplifiedFullBatch,
        _added_bit_pairs,
        flaw="The noise is calibrated as if a fifth of the records were sampled at random, but every record is used.",
        true_epsilon=lambda epsilon: epsilon_before_sampling(epsilon, FRACTION),
    ),
)
