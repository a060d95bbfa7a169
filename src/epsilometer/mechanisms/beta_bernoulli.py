"""Private Beta-Bernoulli inference: randomised bits, noisy posterior parameters, or the exponential mechanism.

A data set is a vector of n bits with k ones; with the prior Beta(a, b) the posterior is Beta(a + k, b + n - k). Neighbours
have one bit exchanged, so n is public. Every output is a pair of posterior parameters, the columns (alpha, beta).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, logsumexp

from epsilometer.core import Array, Guarantee, NeighbouringPair, output_rows, require_positive
from epsilometer.mechanisms.catalogue import Entry, by_enumeration
from epsilometer.mechanisms.randomized_response import require_bits

REVIEW = "review, section III-A1 [9]; Barthe et al. 2016, PrivInfer"


@dataclass(frozen=True)
class _PrivatePosterior:
    """A private posterior of the share of ones among bits, from the prior Beta(a, b)."""

    epsilon: float
    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        _ = self.guarantee
        require_positive(a=self.a, b=self.b)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")


@dataclass(frozen=True)
class NoisyBitsPosterior(_PrivatePosterior):
    """Noise on the input: the posterior of bits that are kept with probability e^epsilon/(1 + e^epsilon), else flipped.

    With K released ones the output is (a + K, b + n - K). The released bits are epsilon-private by randomised response. The
    sum K attains epsilon: the probability of K = n for n ones is exactly e^epsilon times that for n - 1 ones.
    """

    source = REVIEW + ", noise on the input"

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        n, ones = _count(dataset)
        keep = 1 / (1 + math.exp(-self.epsilon))
        released = rng.binomial(ones, keep, size) + rng.binomial(n - ones, 1 - keep, size)
        return _posteriors(released, n, self.a, self.b)

    def log_density(self, dataset: NDArray[Any], outputs: Array) -> Array:
        n, ones = _count(dataset)
        log_keep, log_flip = -np.logaddexp(0, -self.epsilon), -np.logaddexp(0, self.epsilon)
        kept, raised = np.arange(ones + 1), np.arange(n - ones + 1)
        from_ones = _log_choose(ones, kept) + kept * log_keep + (ones - kept) * log_flip
        from_zeros = _log_choose(n - ones, raised) + raised * log_flip + (n - ones - raised) * log_keep
        joint = np.full((ones + 1, n + 1), -np.inf)
        for number in kept:
            joint[number, number : number + n - ones + 1] = from_ones[number] + from_zeros
        return _look_up(logsumexp(joint, axis=0), outputs, n, self.a, self.b)

    def support(self, dataset: NDArray[Any]) -> Array:
        n, _ = _count(dataset)
        return _posteriors(np.arange(n + 1), n, self.a, self.b)


@dataclass(frozen=True)
class NoisyParametersPosterior(_PrivatePosterior):
    """Noise on the output: both posterior parameters with Laplace noise of scale 2/epsilon.

    Exchanging a bit moves one parameter up by 1 and the other down by 1, so the L1 sensitivity is 2 on every pair.
    """

    source = REVIEW + ", noise on the output by the L1 norm"

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        n, ones = _count(dataset)
        return _posteriors(np.array([ones]), n, self.a, self.b) + rng.laplace(scale=2 / self.epsilon, size=(size, 2))

    def log_density(self, dataset: NDArray[Any], outputs: Array) -> Array:
        n, ones = _count(dataset)
        distance = np.abs(output_rows(outputs, 2) - _posteriors(np.array([ones]), n, self.a, self.b)).sum(axis=1)
        return -distance * self.epsilon / 2 - 2 * math.log(4 / self.epsilon)


@dataclass(frozen=True)
class HellingerPosterior(_PrivatePosterior):
    """Exponential mechanism over the posteriors of 0 ... n ones, by minus the Hellinger distance H to the true posterior.

    H(Beta(a1, b1), Beta(a2, b2))^2 = 1 - B((a1 + a2)/2, (b1 + b2)/2) / sqrt(B(a1, b1) B(a2, b2)). The candidate of j ones
    has probability ~ exp(-epsilon H_jk/(2 S)), where S = max_k H_(k, k+1) is the sensitivity of the utility: by the triangle
    inequality no utility changes by more between neighbours, and that of the true posterior attains it.
    """

    source = REVIEW + ", noise on the output by f-divergences"

    def distances(self, n: int, ones: int) -> Array:
        """The Hellinger distances of the candidates 0 ... n from the posterior of `ones` ones."""
        return hellinger(self.a + np.arange(n + 1), self.b + n - np.arange(n + 1), self.a + ones, self.b + n - ones)

    def sensitivity(self, n: int) -> float:
        """S, the largest Hellinger distance between posteriors of neighbours."""
        k = np.arange(n)
        return float(hellinger(self.a + k, self.b + n - k, self.a + k + 1, self.b + n - k - 1).max())

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        n, _ = _count(dataset)
        return _posteriors(rng.choice(n + 1, size, p=np.exp(self._log_probabilities(dataset))), n, self.a, self.b)

    def log_density(self, dataset: NDArray[Any], outputs: Array) -> Array:
        n, _ = _count(dataset)
        return _look_up(self._log_probabilities(dataset), outputs, n, self.a, self.b)

    def support(self, dataset: NDArray[Any]) -> Array:
        n, _ = _count(dataset)
        return _posteriors(np.arange(n + 1), n, self.a, self.b)

    def _log_probabilities(self, dataset: NDArray[Any]) -> Array:
        n, ones = _count(dataset)
        weights = -self.epsilon * self.distances(n, ones) / (2 * self.sensitivity(n))
        return np.asarray(weights - logsumexp(weights))


def hellinger(alpha: Any, beta: Any, other_alpha: Any, other_beta: Any) -> Array:
    """The Hellinger distance of two Beta distributions, at most 1."""
    middle = betaln((alpha + other_alpha) / 2, (beta + other_beta) / 2)
    affinity = middle - (betaln(alpha, beta) + betaln(other_alpha, other_beta)) / 2
    return np.sqrt(-np.expm1(np.minimum(affinity, 0.0)))


def _count(dataset: NDArray[Any]) -> tuple[int, int]:
    """How many bits there are, and how many ones."""
    bits = require_bits(dataset)
    return len(bits), int(bits.sum())


def _posteriors(ones: NDArray[Any], n: int, a: float, b: float) -> Array:
    return np.column_stack([a + ones, b + n - ones])


def _look_up(log_probabilities: Array, outputs: Array, n: int, a: float, b: float) -> Array:
    """The log-probability of each output (a + k, b + n - k), k = 0 ... n; -inf for any other."""
    outputs = output_rows(outputs, 2)
    ones = np.clip(np.nan_to_num(np.rint(outputs[:, 0] - a)), 0, n).astype(int)
    possible = np.isclose(outputs, _posteriors(ones, n, a, b), rtol=0, atol=1e-9).all(axis=1)
    return np.where(possible, log_probabilities[ones], -np.inf)


def _log_choose(n: int, k: NDArray[Any]) -> Array:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _pairs() -> tuple[NeighbouringPair, ...]:
    return (
        NeighbouringPair(
            np.ones(6, dtype=int),
            np.array([1, 1, 1, 1, 1, 0]),
            "replace-one",
            "the only zero among ones, an extreme posterior",
        ),
        NeighbouringPair(
            np.array([1, 1, 1, 0, 0, 0]), np.array([1, 1, 0, 0, 0, 0]), "replace-one", "balanced bits, a narrow posterior"
        ),
    )


ENTRIES = (
    Entry(
        "beta_bernoulli_input",
        "Beta-Bernoulli posterior from randomised bits",
        NoisyBitsPosterior,
        _pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
    Entry(
        "beta_bernoulli_output",
        "Beta-Bernoulli posterior with noisy parameters",
        NoisyParametersPosterior,
        _pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
    Entry(
        "beta_bernoulli_hellinger",
        "Beta-Bernoulli posterior chosen by Hellinger distance",
        HellingerPosterior,
        _pairs,
        true_epsilon=by_enumeration(HellingerPosterior, _pairs),
    ),
)
